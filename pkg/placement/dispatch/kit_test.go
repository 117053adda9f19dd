// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package dispatch_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"pgregory.net/rapid"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/placement/admit"
	"berth.dev/berth/pkg/placement/apportion"
	"berth.dev/berth/pkg/placement/dispatch"
)

// now is the time of all rounds.
var now = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// schedulers are a and b, with four nodes each.
func schedulers() []dispatch.Home {
	return []dispatch.Home{scheduler("b", 4), scheduler("a", 4)}
}

func scheduler(name string, nodes int) dispatch.Home {
	return dispatch.Home{Name: name, Union: &berthv1alpha1.ClusterUnion{}, Nodes: nodes}
}

func pod(name, home string) *dispatch.Pod {
	return &dispatch.Pod{UID: types.UID(name), Label: home, Seat: admit.NoSeat}
}

// failing is a pod that its home found no node for.
func failing(name, home string) *dispatch.Pod {
	p := pod(name, home)
	p.Unschedulable = true
	return p
}

// withHome is what is remembered of a pod that has had a home for so long.
func withHome(home string, since time.Duration, tries int) dispatch.Wait {
	return dispatch.Wait{Home: home, Since: now.Add(-since), Tries: tries}
}

// twoToThree is the seat order b a b a b, and again, of cluster a with weight 2 and cluster b with
// weight 3.
func twoToThree(t rapid.TB) *apportion.Order {
	t.Helper()
	order, err := apportion.NewOrder([]apportion.Cluster{{Name: "a", Weight: 2}, {Name: "b", Weight: 3}})
	if err != nil {
		t.Fatal(err)
	}
	return order
}

// place decides on a pod as the dispatcher does.
func place(r *dispatch.Round, p *dispatch.Pod, reached, only, roomy sets.Set[string], wish dispatch.Preference) {
	if r.Join(p) {
		return
	}
	eligible := r.Eligible(reached, only)
	if !r.Stay(p, eligible, roomy) {
		r.Move(p, eligible, roomy, wish)
	}
}

// expectHomes checks which homes pods were given.
func expectHomes(t *testing.T, r *dispatch.Round, pods []*dispatch.Pod, want map[string]string) {
	t.Helper()
	got := map[string]string{}
	for _, p := range pods {
		if r.Decided(p) {
			got[string(p.UID)], _ = r.Moved(p)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("homes by pod (-want +got):\n%s", diff)
	}
}
