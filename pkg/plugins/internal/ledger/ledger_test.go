// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/charges"
	"berth.dev/berth/pkg/model/charges/chargetest"
	"berth.dev/berth/pkg/model/stamp"
	"berth.dev/berth/pkg/placement/pool"
	"berth.dev/berth/pkg/plugins/internal/ledger"
)

// world is what a ledger is told, and what must come of it.
type world struct {
	ledger    *ledger.Ledger
	pending   *ledger.Pending
	resources resources
	nodes     map[string]*corev1.Node
	// pods are on nodes, reserved are charges that were given and have not been seen in a stamp.
	pods     map[types.UID]*corev1.Pod
	reserved map[types.UID][]pool.Charge
	// unseen are pods that were reserved and are on no node yet, and gone those of them that were
	// deleted.
	unseen map[types.UID]*corev1.Pod
	gone   map[string]bool
	drawn  int
}

type resources []*pool.Resource

func (r *resources) Usable(yield func(*pool.Resource) bool) {
	for _, one := range *r {
		if !yield(one) {
			return
		}
	}
}

func (w *world) Pod(namespace, name string) *corev1.Pod {
	if w.gone[name] {
		return nil
	}
	for _, pods := range []map[types.UID]*corev1.Pod{w.pods, w.unseen} {
		for _, pod := range pods {
			if pod.Namespace == namespace && pod.Name == name {
				return pod
			}
		}
	}
	return nil
}

func newWorld(t *rapid.T) *world {
	w := &world{
		pending: ledger.NewPending(), nodes: map[string]*corev1.Node{}, pods: map[types.UID]*corev1.Pod{},
		reserved: map[types.UID][]pool.Charge{}, unseen: map[types.UID]*corev1.Pod{}, gone: map[string]bool{},
	}
	w.ledger = ledger.New(w.pending, w)
	w.ledger.Self = "self"
	w.redeclare(t)
	return w
}

// redeclare replaces the ClusterResources, of which one may be gone.
func (w *world) redeclare(t *rapid.T) {
	w.resources = nil
	for _, name := range chargetest.Names() {
		mode := rapid.SampledFrom([]berthv1alpha1.PoolMode{berthv1alpha1.AnyOf, berthv1alpha1.AllOf}).Draw(t, "mode")
		if r, err := pool.NewResource(chargetest.Resource(name, mode)); err == nil && rapid.IntRange(0, 4).Draw(t, "declared") > 0 {
			w.resources = append(w.resources, r)
		}
	}
}

func (w *world) actions() map[string]func(*rapid.T) {
	return map[string]func(*rapid.T){
		"a node comes or changes": func(t *rapid.T) {
			node := chargetest.Node(t, rapid.SampledFrom(chargetest.NodeNames()).Draw(t, "node"))
			w.nodes[node.Name] = node
			w.ledger.SetNode(node)
		},
		"a node goes": func(t *rapid.T) {
			name := rapid.SampledFrom(chargetest.NodeNames()).Draw(t, "node")
			delete(w.nodes, name)
			w.ledger.DropNode(name)
		},
		"a pod comes": func(t *rapid.T) { w.hold(w.drawPod(t)) },
		"a pod goes": func(t *rapid.T) {
			if len(w.pods) == 0 {
				t.Skip("no pod")
			}
			uid := rapid.SampledFrom(slices.Sorted(maps.Keys(w.pods))).Draw(t, "pod")
			w.ledger.Release(w.pods[uid])
			delete(w.pods, uid)
			// The informer sees it, too.
			w.pending.Drop(uid)
			delete(w.reserved, uid)
		},
		"a pod is reserved for and assumed or not": func(t *rapid.T) {
			pod := w.drawPod(t)
			charges, stamped := stamp.ChargesOf(pod)
			if !stamped {
				t.Skip("nothing is reserved for a stray")
			}
			delete(pod.Annotations, berthv1alpha1.PlacedByAnnotation)
			w.pending.Put(ledger.Ref(pod), charges)
			w.reserved[pod.UID] = charges
			if w.unseen[pod.UID] = pod; rapid.Bool().Draw(t, "assumed") {
				delete(w.unseen, pod.UID)
				w.hold(pod)
			}
		},
		"a pod that is not seen is deleted": func(t *rapid.T) {
			if len(w.unseen) == 0 {
				t.Skip("no pod")
			}
			w.gone[w.unseen[rapid.SampledFrom(slices.Sorted(maps.Keys(w.unseen))).Draw(t, "pod")].Name] = true
		},
		"other resources are declared": w.redeclare,
		"":                             w.check,
	}
}

func (w *world) drawPod(t *rapid.T) *corev1.Pod {
	w.drawn++
	return chargetest.Pod(t, w.drawn)
}

func (w *world) hold(pod *corev1.Pod) {
	if !w.ledger.Concerns(pod) {
		return
	}
	w.pods[pod.UID] = pod
	w.ledger.Add(pod)
}

// check compares the ledger with a count of all pods. What was reserved counts as if it stood in a
// stamp.
func (w *world) check(t *rapid.T) {
	declared := slices.Clone(w.resources)
	w.ledger.Refresh(&declared)
	var all []corev1.Pod
	for _, pods := range []map[types.UID]*corev1.Pod{w.pods, w.unseen} {
		for uid, pod := range pods {
			if w.gone[pod.Name] {
				continue
			}
			counted := pod.DeepCopy()
			if reserved, found := w.reserved[uid]; found {
				maps.Copy(counted.Annotations, stamp.ChargeAnnotations(counted, counted.Spec.NodeName, reserved))
			}
			all = append(all, *counted)
		}
	}
	pools := charges.NewPools()
	for _, node := range w.nodes {
		pools.SetNode(node)
	}
	pools.Use(declared.Usable)
	pools.Rank()
	want, err := charges.Count(all, func() (*charges.Pools, error) { return pools, nil })
	if err != nil {
		t.Fatal(err)
	}
	w.compare(t, want, declared)
}

func (w *world) compare(t *rapid.T, want *charges.Tally, declared resources) {
	for _, r := range declared {
		if diff := cmp.Diff(want.Account.Free(r), w.ledger.Free(r)); diff != "" {
			t.Fatalf("free of %s (-counted +ledger):\n%s", r.Name(), diff)
		}
		own := make([]int64, len(r.Pools()))
		for i, p := range r.Pools() {
			own[i] = pool.UnitsUp(want.Account.HeldOf("self", r.Name(), p.Name), r.Unit())
		}
		if diff := cmp.Diff(own, w.ledger.Own(r)); diff != "" {
			t.Fatalf("own of %s (-counted +ledger):\n%s", r.Name(), diff)
		}
	}
	strays := map[types.UID]string{}
	for _, h := range want.Holdings {
		if _, stamped := stamp.ChargesOf(h.Pod); !stamped {
			strays[h.Pod.UID] = fmt.Sprint(h.Charges)
			if got := fmt.Sprint(w.ledger.Holder(h.Pod.UID).Charges); got != strays[h.Pod.UID] {
				t.Fatalf("stray %s holds %s, counted %s", h.Pod.UID, got, strays[h.Pod.UID])
			}
		}
	}
	got := map[types.UID]string{}
	for uid, held := range w.ledger.Strays() {
		got[uid] = fmt.Sprint(held)
	}
	if diff := cmp.Diff(strays, got); diff != "" {
		t.Fatalf("strays (-counted +ledger):\n%s", diff)
	}
}

func TestALedgerEqualsACountOfAllPods(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t)
		t.Repeat(w.actions())
	})
}
