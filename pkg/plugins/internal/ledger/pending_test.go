// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	kubefake "k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"berth.dev/berth/pkg/placement/pool"
	"berth.dev/berth/pkg/plugins/internal/ledger"
)

func ref(name string) ledger.PodRef {
	return ledger.PodRef{Namespace: "default", Name: name, UID: types.UID(name)}
}

// charged are so many units out of the grant of a Scheduler.
func charged(units int64, grantee string) []pool.Charge {
	return []pool.Charge{{Resource: "licence", Pool: "all", Quantity: *resource.NewQuantity(units, resource.DecimalSI), Grantee: grantee}}
}

// units returns what a pod is charged, -1 if nothing is known of it.
func units(p *ledger.Pending, name string) int64 {
	charges, found := p.Get(types.UID(name))
	if !found {
		return -1
	}
	sum := int64(0)
	for i := range charges {
		sum += charges[i].Quantity.Value()
	}
	return sum
}

func TestWhatIsPending(t *testing.T) {
	for name, tc := range map[string]struct {
		do         func(*testing.T, *ledger.Pending)
		want       int64
		wantUnseen bool
	}{
		"nothing":      {do: func(*testing.T, *ledger.Pending) {}, want: -1},
		"what was put": {do: func(_ *testing.T, p *ledger.Pending) { p.Put(ref("p"), charged(2, "")) }, want: 2},
		"what was charged": {do: func(t *testing.T, p *ledger.Pending) {
			t.Helper()
			wantCharged(t, p, 3, true)
		}, want: 3},
		"what was charged last": {do: func(t *testing.T, p *ledger.Pending) {
			t.Helper()
			wantCharged(t, p, 3, true)
			wantCharged(t, p, 4, true)
		}, want: 4},
		"what another process has charged, whatever is charged since": {do: func(t *testing.T, p *ledger.Pending) {
			t.Helper()
			p.PutUnseen(ref("p"), charged(5, ""))
			wantCharged(t, p, 3, false)
		}, want: 5, wantUnseen: true},
		"what another process has charged, once the informer knows": {do: func(t *testing.T, p *ledger.Pending) {
			t.Helper()
			p.PutUnseen(ref("p"), charged(5, ""))
			p.Seen("p")
			wantCharged(t, p, 3, true)
		}, want: 3},
		"nothing of which the informer knows and nobody was told": {do: func(_ *testing.T, p *ledger.Pending) { p.Seen("p") }, want: -1},
		"nothing after a release": {do: func(t *testing.T, p *ledger.Pending) {
			t.Helper()
			wantCharged(t, p, 3, true)
			wantReleased(t, p, 3)
		}, want: -1},
		"what another process has charged, after a release": {do: func(t *testing.T, p *ledger.Pending) {
			t.Helper()
			wantCharged(t, p, 3, true)
			p.PutUnseen(ref("p"), charged(5, ""))
			wantReleased(t, p, 0)
		}, want: 5, wantUnseen: true},
		"nothing after it was dropped": {do: func(_ *testing.T, p *ledger.Pending) {
			p.PutUnseen(ref("p"), charged(5, ""))
			p.Drop("p")
		}, want: -1},
	} {
		t.Run(name, func(t *testing.T) {
			p := ledger.NewPending()
			tc.do(t, p)
			if got := units(p, "p"); got != tc.want {
				t.Errorf("%d units are pending, want %d", got, tc.want)
			}
			if got := p.Unseen("p"); got != tc.wantUnseen {
				t.Errorf("unseen: %t, want %t", got, tc.wantUnseen)
			}
			if got := slices.Equal(p.AllUnseen(), []ledger.PodRef{ref("p")}); got != tc.wantUnseen {
				t.Errorf("among all unseen ones: %t, want %t", got, tc.wantUnseen)
			}
		})
	}
}

func wantCharged(t *testing.T, p *ledger.Pending, units int64, want bool) {
	t.Helper()
	if got := p.Charge(ref("p"), charged(units, "")); got != want {
		t.Errorf("charged: %t, want %t", got, want)
	}
}

func wantReleased(t *testing.T, p *ledger.Pending, want int64) {
	t.Helper()
	sum := int64(0)
	for _, charge := range p.Release("p") {
		sum += charge.Quantity.Value()
	}
	if sum != want {
		t.Errorf("%d units are given back, want %d", sum, want)
	}
}

func TestPendingOutOfAGrant(t *testing.T) {
	p := ledger.NewPending()
	p.Put(ref("own"), charged(1, "self"))
	p.Put(ref("other"), charged(2, "other"))
	p.Put(ref("nobody's"), charged(3, ""))
	p.Put(ref("nothing"), nil)
	for grantee, want := range map[string]map[types.UID][]pool.Charge{
		"self": {"own": charged(1, "self")}, "": {"nobody's": charged(3, "")}, "stranger": {},
	} {
		if diff := cmp.Diff(want, p.Of(grantee)); diff != "" {
			t.Errorf("out of the grant of %q (-want +got):\n%s", grantee, diff)
		}
	}
}

func TestWhetherAPodIsBound(t *testing.T) {
	pod := func(edits ...func(*corev1.Pod)) *corev1.Pod {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "p", UID: "p"}, Spec: corev1.PodSpec{NodeName: "n"}}
		for _, edit := range edits {
			edit(p)
		}
		return p
	}
	for name, tc := range map[string]struct {
		pod  *corev1.Pod
		want bool
	}{
		"on a node":            {pod(), true},
		"gone":                 {nil, false},
		"without a node":       {pod(func(p *corev1.Pod) { p.Spec.NodeName = "" }), false},
		"another of that name": {pod(func(p *corev1.Pod) { p.UID = "q" }), false},
		"finished":             {pod(func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded }), false},
	} {
		t.Run(name, func(t *testing.T) {
			client := kubefake.NewClientset()
			if tc.pod != nil {
				client = kubefake.NewClientset(tc.pod)
			}
			if got, err := ref("p").Bound(t.Context(), client); err != nil || got != tc.want {
				t.Errorf("bound: %t, %v; want %t", got, err, tc.want)
			}
		})
	}
}

func TestAPodThatCannotBeReadIsNotKnownToBeBound(t *testing.T) {
	client := kubefake.NewClientset()
	client.PrependReactor("get", "pods", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, context.DeadlineExceeded
	})
	bound, err := ref("p").Bound(t.Context(), client)
	if bound || !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "default/p") {
		t.Errorf("bound: %t, %v", bound, err)
	}
}
