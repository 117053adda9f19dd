// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package clusterresource_test

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/plugintest"
)

// sites is two schedulers with a cluster each, and a rack of one unit in each cluster. None of them
// was granted to the first scheduler.
func sites() []runtime.Object {
	racks := pools("rack", berthv1alpha1.AnyOf, "theirs", "1", "mine", "1")
	for _, pool := range []string{"theirs", "mine"} {
		racks.Status.Grants = append(racks.Status.Grants, berthv1alpha1.PoolGrant{Scheduler: "b", Pool: pool, Quantity: mustParse("1"), Revision: 2})
	}
	racks.Status.GrantsRevision = 2
	objects := []runtime.Object{scheduler("a"), scheduler("b"), racks}
	for cluster, home := range map[string]string{"mine": "a", "theirs": "b"} {
		site := plugintest.Site(cluster)
		site.Status.HomeScheduler, site.Status.HomeRevision = home, 1
		objects = append(objects, site, plugintest.MakeNode(cluster, 0).Label("rack", cluster).Obj())
	}
	return objects
}

// A Scheduler that asked for what is left in clusters of others would take it from them.
func TestASchedulerAsksForWhatItsPodsCanUse(t *testing.T) {
	s := plugintest.New(t, sites(), plugintest.Named("a"))
	pod := at(asking("pod", "rack", "1"), "a")
	s.WaitFor("the pod to be told that the unit is another scheduler's", func() bool {
		return strings.Contains(s.Try(pod).Why(), "whose pools of rack have enough left only for other schedulers")
	})
	s.WaitFor("the scheduler to ask for the unit of its own cluster", func() bool {
		object, err := s.Berth.BerthV1alpha1().Schedulers().Get(t.Context(), "a", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if object.Status.Spending == nil || len(object.Status.Spending.Pools) == 0 {
			return false
		}
		if got := object.Status.Spending.Pools; len(got) != 1 || got[0].Pool != "mine" {
			t.Fatalf("the scheduler asks for %+v, want a unit of pool mine alone", got)
		}
		return true
	})
}
