// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package charges_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/charges"
	"berth.dev/berth/pkg/model/charges/chargetest"
	"berth.dev/berth/pkg/model/stamp"
	"berth.dev/berth/pkg/placement/pool"
)

// asking returns a pod that asks for disk on a node, at an age in minutes.
func asking(name, quantity, node string, minute int) corev1.Pod {
	return corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "default", Name: name, UID: types.UID(name),
			CreationTimestamp: metav1.NewTime(time.Date(2026, 1, 1, 0, minute, 0, 0, time.UTC)),
			Annotations:       map[string]string{berthv1alpha1.ClusterResourceAnnotationPrefix + "disk": quantity},
		},
		Spec: corev1.PodSpec{NodeName: node},
	}
}

// stamped returns the pod as Berth bound it, charged so much of a pool of disk.
func stamped(pod corev1.Pod, poolName, quantity string) corev1.Pod {
	charged := []pool.Charge{{Resource: "disk", Pool: poolName, Quantity: resource.MustParse(quantity)}}
	pod.Annotations = stamp.ChargeAnnotations(&pod, pod.Spec.NodeName, charged)
	return pod
}

func finished(pod corev1.Pod) corev1.Pod {
	pod.Status.Phase = corev1.PodSucceeded
	return pod
}

// worldOf has the nodes n1, in rack a, and n2, in none, and disk: 4 in rack a and 9 everywhere.
func worldOf(tb testing.TB, mode berthv1alpha1.PoolMode) *charges.Pools {
	tb.Helper()
	usable, err := pool.NewResource(chargetest.Resource("disk", mode))
	if err != nil {
		tb.Fatal(err)
	}
	pools := charges.NewPools()
	pools.SetNode(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1", Labels: map[string]string{"rack": "a"}}})
	pools.SetNode(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n2"}})
	pools.Use(slices.Values([]*pool.Resource{usable}))
	pools.Rank()
	return pools
}

// texts returns each holding as "POD POOL=QUANTITY …".
func texts(holdings []charges.Holding) []string {
	lines := make([]string, len(holdings))
	for i, h := range holdings {
		parts := []string{h.Pod.Name}
		for _, c := range h.Charges {
			parts = append(parts, c.Pool+"="+c.Quantity.String())
		}
		lines[i] = strings.Join(parts, " ")
	}
	return lines
}

func TestCount(t *testing.T) {
	copied := stamped(asking("original", "3", "n2", 0), "all", "3")
	copied.Name, copied.UID = "copy", "copy"
	tests := map[string]struct {
		mode berthv1alpha1.PoolMode
		pods []corev1.Pod
		want []string
	}{
		"nobody": {},
		"a stamp counts whatever the pools select": {
			pods: []corev1.Pod{stamped(asking("p", "1", "n2", 0), "rack", "3")}, want: []string{"p rack=3"},
		},
		"a stray is charged by its node": {
			pods: []corev1.Pod{asking("p", "2", "n1", 0), asking("q", "2", "n2", 0)}, want: []string{"p rack=2", "q all=2"},
		},
		"strays come after those with a stamp": {
			pods: []corev1.Pod{asking("old", "2", "n1", 1), stamped(asking("young", "3", "n1", 2), "rack", "3")},
			want: []string{"young rack=3", "old all=2"},
		},
		"strays come the oldest first": {
			pods: []corev1.Pod{asking("young", "3", "n1", 2), asking("old", "2", "n1", 1)}, want: []string{"old rack=2", "young all=3"},
		},
		"of the same age by UID": {
			pods: []corev1.Pod{asking("b", "3", "n1", 1), asking("a", "2", "n1", 1)}, want: []string{"a rack=2", "b all=3"},
		},
		"with AllOf a stray is charged to every pool": {
			mode: berthv1alpha1.AllOf, pods: []corev1.Pod{asking("p", "2", "n1", 0)}, want: []string{"p rack=2 all=2"},
		},
		"on a node that is gone a stray draws on the pool of all nodes": {
			pods: []corev1.Pod{asking("p", "2", "gone", 0)}, want: []string{"p all=2"},
		},
		"a copied stamp is none": {pods: []corev1.Pod{copied}, want: []string{"copy"}},
		"a request that cannot be read is not charged": {
			pods: []corev1.Pod{asking("p", "many", "n1", 0)}, want: []string{"p"},
		},
		"pods without a node and finished ones hold nothing": {
			pods: []corev1.Pod{
				asking("waits", "1", "", 0), finished(asking("stray", "1", "n1", 0)), finished(stamped(asking("p", "1", "n1", 0), "rack", "1")),
			},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			tally, err := charges.Count(tc.pods, func() (*charges.Pools, error) { return worldOf(t, tc.mode), nil })
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(append([]string{}, tc.want...), texts(tally.Holdings)); diff != "" {
				t.Errorf("holdings (-want +got):\n%s", diff)
			}
			account := pool.NewAccount()
			for _, h := range tally.Holdings {
				account.Add(h.Charges)
			}
			for _, poolName := range []string{"rack", "all"} {
				want, wantHolders := account.Held("disk", poolName)
				if got, holders := tally.Account.Held("disk", poolName); got.Cmp(want) != 0 || holders != wantHolders {
					t.Errorf("%d pods hold %s of pool %s, want %d and %s", holders, got.String(), poolName, wantHolders, want.String())
				}
			}
		})
	}
}

func TestPoolsAreAskedForOnlyIfThereAreStrays(t *testing.T) {
	failure := errors.New("no nodes")
	pools := func() (*charges.Pools, error) { return nil, failure }
	if _, err := charges.Count([]corev1.Pod{stamped(asking("p", "1", "n1", 0), "rack", "1")}, pools); err != nil {
		t.Errorf("without a stray: %v", err)
	}
	if _, err := charges.Count([]corev1.Pod{asking("p", "1", "n1", 0)}, pools); !errors.Is(err, failure) {
		t.Errorf("with a stray: %v, want %v", err, failure)
	}
}

// Who counts may see the pods in another order.
func TestTheOrderOfPodsDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		var pods []corev1.Pod
		for i := range rapid.IntRange(0, 8).Draw(r, "pods") {
			pods = append(pods, *chargetest.Pod(r, i))
		}
		count := func(pods []corev1.Pod) []string {
			tally, err := charges.Count(pods, func() (*charges.Pools, error) { return worldOf(t, berthv1alpha1.AnyOf), nil })
			if err != nil {
				r.Fatal(err)
			}
			return slices.Sorted(slices.Values(texts(tally.Holdings)))
		}
		other := rapid.Permutation(pods).Draw(r, "order")
		if diff := cmp.Diff(count(pods), count(other)); diff != "" {
			r.Fatalf("holdings (-one order +another):\n%s", diff)
		}
	})
}

func TestConcerns(t *testing.T) {
	plain := asking("p", "1", "n1", 0)
	plain.Annotations = nil
	unread := plain.DeepCopy()
	unread.Annotations = map[string]string{berthv1alpha1.ChargedAnnotation: "?"}
	tests := map[string]struct {
		pod                      corev1.Pod
		wantConcerns, wantStamps bool
	}{
		"one that asks for nothing":          {pod: plain},
		"one that asks":                      {pod: asking("p", "1", "", 0), wantConcerns: true},
		"one that asks badly":                {pod: asking("p", "many", "n1", 0), wantConcerns: true},
		"one that was charged":               {pod: stamped(plain, "rack", "1"), wantConcerns: true, wantStamps: true},
		"one that was charged, and finished": {pod: finished(stamped(plain, "rack", "1")), wantConcerns: true},
		"one with charges nobody can read":   {pod: *unread, wantConcerns: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := charges.Concerns(&tc.pod); got != tc.wantConcerns {
				t.Errorf("concerned: %t, want %t", got, tc.wantConcerns)
			}
			if _, got := charges.Stamped(&tc.pod); got != tc.wantStamps {
				t.Errorf("stamped: %t, want %t", got, tc.wantStamps)
			}
			if allocs := testing.AllocsPerRun(10, func() { charges.Concerns(&tc.pod) }); allocs != 0 {
				t.Errorf("%v allocations", allocs)
			}
		})
	}
}

func TestOwed(t *testing.T) {
	pools := worldOf(t, berthv1alpha1.AnyOf)
	tests := map[string]struct {
		quantity, node string
		free           int64
		want           string
	}{
		"the most specific pool that has enough": {quantity: "2", node: "n1", free: 2, want: "[rack=2]"},
		"the most specific one if none has":      {quantity: "2", node: "n1", free: 1, want: "[rack=2]"},
		"the only one":                           {quantity: "2", node: "n2", free: 2, want: "[all=2]"},
		"nothing on a node that is not known":    {quantity: "2", node: "gone", free: 2, want: "[]"},
		"nothing if it cannot be read":           {quantity: "many", node: "n1", free: 2, want: "[]"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			pod := asking("p", tc.quantity, "", 0)
			owed := charges.Owed(&pod, tc.node, func(resource string) (*pool.Places, pool.Free) {
				return pools.Places(resource), func(int32) int64 { return tc.free }
			})
			got := []string{}
			for _, c := range owed {
				got = append(got, c.Pool+"="+c.Quantity.String())
			}
			if fmt.Sprint(got) != tc.want {
				t.Errorf("owed %v, want %s", got, tc.want)
			}
		})
	}
}

func TestWhatIsKnownOfAResourceIsKept(t *testing.T) {
	pools := worldOf(t, berthv1alpha1.AnyOf)
	before := pools.Places("disk")
	pools.Use(slices.Values([]*pool.Resource{before.Resource()}))
	if pools.Places("disk") != before {
		t.Error("the places of the same resource were made anew")
	}
	pools.DropNode("n1")
	pools.Rank()
	if n := pools.Places("disk").Selected(1); n != 1 {
		t.Errorf("pool all selects %d nodes once one of two has gone", n)
	}
	pools.Use(slices.Values([]*pool.Resource{}))
	if pools.Places("disk") != nil {
		t.Error("a resource that is gone is still known")
	}
}
