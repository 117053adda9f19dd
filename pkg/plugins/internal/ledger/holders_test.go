// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/stamp"
	"berth.dev/berth/pkg/placement/pool"
	"berth.dev/berth/pkg/plugins/internal/ledger"
)

// asking is a pod on node n that asks for so many licences.
func asking(name, units string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID(name), Annotations: map[string]string{}},
		Spec: corev1.PodSpec{NodeName: "n", Containers: []corev1.Container{{Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{berthv1alpha1.ClusterResourceDomain + "/licence": resource.MustParse(units)},
		}}}},
	}
}

// stamped is a pod that Berth has charged so many licences.
func stamped(name string, units int64) *corev1.Pod {
	p := asking(name, "1")
	p.Annotations = stamp.ChargeAnnotations(p, "n", charged(units, ""))
	return p
}

// holders is a ledger of ten licences on a node.
type holders struct {
	*ledger.Ledger

	pending  *ledger.Pending
	licences resources
	gone     map[string]bool
}

func (h *holders) Pod(_, name string) *corev1.Pod {
	if h.gone[name] {
		return nil
	}
	return asking(name, "1")
}

func newHolders(t *testing.T) *holders {
	t.Helper()
	object := &berthv1alpha1.ClusterResource{ObjectMeta: metav1.ObjectMeta{Name: "licence"}}
	object.Spec.Capacity = []berthv1alpha1.ClusterResourceQuantity{{Name: "all", Quantity: resource.MustParse("10")}}
	object.Status.Allocatable = object.Spec.Capacity
	r, err := pool.NewResource(object)
	if err != nil {
		t.Fatal(err)
	}
	h := &holders{pending: ledger.NewPending(), licences: resources{r}, gone: map[string]bool{}}
	h.Ledger = ledger.New(h.pending, h)
	h.SetNode(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}})
	return h
}

// want checks how many licences are left after what has happened.
func (h *holders) want(t *testing.T, when string, left int64) {
	t.Helper()
	h.Refresh(&h.licences)
	if got := h.Free(h.licences[0]); !slices.Equal(got, []int64{left}) {
		t.Errorf("%s %v licences are left, want %d", when, got, left)
	}
}

func TestAPodIsHeldUntilItIsReleasedAsOftenAsItWasAdded(t *testing.T) {
	h := newHolders(t)
	for range 3 {
		h.Add(stamped("p", 2))
		h.want(t, "while it is held", 8)
	}
	for range 2 {
		h.Release(stamped("p", 2))
		h.want(t, "while it is held elsewhere", 8)
	}
	h.Release(stamped("p", 2))
	h.want(t, "after the last release", 10)
	h.Release(stamped("p", 2))
	h.want(t, "after one more", 10)
}

func TestTheStampCountsOnceItIsThere(t *testing.T) {
	h := newHolders(t)
	h.pending.Put(ref("p"), charged(4, ""))
	h.Add(asking("p", "1"))
	h.want(t, "while it is reserved", 6)
	h.Add(stamped("p", 3))
	if _, found := h.pending.Get("p"); found {
		t.Error("what was reserved is remembered beside the stamp")
	}
	h.want(t, "with a stamp", 7)
}

func TestAStrayThatIsReservedForIsChargedOnce(t *testing.T) {
	h := newHolders(t)
	h.Add(asking("p", "2"))
	h.Add(asking("q", "1"))
	h.want(t, "as strays", 7)
	h.pending.Put(ref("p"), charged(5, ""))
	h.want(t, "after one was reserved for", 4)
	if charges := h.Holder("p").Charges; charges != nil {
		t.Errorf("what is reserved for it is held as %v, too", charges)
	}
	if diff := cmp.Diff(map[types.UID]int64{"q": 1}, unitsOf(h.Strays())); diff != "" {
		t.Errorf("strays (-want +got):\n%s", diff)
	}
	h.pending.Drop("p")
	h.want(t, "after that was taken back", 7)
}

func unitsOf(held map[types.UID][]pool.Charge) map[types.UID]int64 {
	units := map[types.UID]int64{}
	for uid, charges := range held {
		for i := range charges {
			units[uid] += charges[i].Quantity.Value()
		}
	}
	return units
}

func TestWhatIsReservedForAPodThatIsGone(t *testing.T) {
	h := newHolders(t)
	h.pending.Put(ref("p"), charged(4, ""))
	h.pending.PutUnseen(ref("q"), charged(1, ""))
	h.want(t, "while both are there", 5)
	h.gone["p"], h.gone["q"] = true, true
	h.want(t, "once the informer knows neither", 9)
	h.pending.Seen("q")
	h.want(t, "once the informer has known both", 10)
}

func TestAResetForgetsWhatWasSeen(t *testing.T) {
	h := newHolders(t)
	h.Add(asking("stray", "2"))
	h.Add(stamped("p", 3))
	h.want(t, "before", 5)
	h.Reset()
	h.SetNode(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}})
	h.want(t, "after it", 10)
	if held := h.Strays(); held != nil || h.Holder("p") != nil {
		t.Errorf("strays %v and %v are held", held, h.Holder("p"))
	}
}

func TestAllHoldersAreVisited(t *testing.T) {
	h := newHolders(t)
	h.Add(asking("stray", "2"))
	h.Add(stamped("p", 3))
	h.Refresh(&h.licences)
	got := map[types.UID][]pool.Charge{}
	h.Holders(func(holder *ledger.Holder) { got[holder.Pod.UID] = holder.Charges })
	if diff := cmp.Diff(map[types.UID]int64{"stray": 2, "p": 3}, unitsOf(got)); diff != "" {
		t.Errorf("holders (-want +got):\n%s", diff)
	}
}

func TestWhatAPodWouldBeCharged(t *testing.T) {
	h := newHolders(t)
	h.Refresh(&h.licences)
	for name, tc := range map[string]struct {
		pod  *corev1.Pod
		node string
		want int64
	}{
		"on a node":                   {asking("p", "4"), "n", 4},
		"on one that is not known":    {asking("p", "4"), "m", 0},
		"without asking for anything": {&corev1.Pod{}, "n", 0},
	} {
		t.Run(name, func(t *testing.T) {
			if got := unitsOf(map[types.UID][]pool.Charge{"": h.Owed(tc.pod, tc.node)})[""]; got != tc.want {
				t.Errorf("%d units, want %d", got, tc.want)
			}
		})
	}
	none := resources{}
	h.Refresh(&none)
	if got := h.Owed(asking("p", "4"), "n"); len(got) > 0 {
		t.Errorf("%v of what is not known", got)
	}
}
