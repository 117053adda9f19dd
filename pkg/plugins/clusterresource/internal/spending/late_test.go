// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package spending

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/placement/pool"
	"berth.dev/berth/pkg/plugins/internal/ledger"
)

// wants is a pod without a node that asks for so much of licence.
func wants(name, quantity string, edits ...func(*corev1.Pod)) *corev1.Pod {
	pod := waiting(name)
	pod.Annotations = map[string]string{berthv1alpha1.ClusterResourceAnnotationPrefix + "licence": quantity}
	for _, edit := range edits {
		edit(pod)
	}
	return pod
}

func known(*corev1.Pod) bool { return true }

// Licence has 10, in units of 500m.
func TestWhatIsWithheldAfterATakeOver(t *testing.T) {
	for name, tc := range map[string]struct {
		held string
		// safe is the pod to which no late Binding can happen.
		safe    string
		listed  []*corev1.Pod
		settled []types.UID
		beside  types.UID
		free    int64
		want    int64
		// wantOpen are the pods that must be changed for that.
		wantOpen []string
	}{
		"nothing if nobody waited":         {free: 20, want: 20},
		"what those ask for who waited":    {listed: []*corev1.Pod{wants("p", "1"), wants("q", "2")}, free: 20, want: 14, wantOpen: []string{"p", "q"}},
		"no more than was free":            {held: "9", listed: []*corev1.Pod{wants("p", "5")}, free: 4, want: 2, wantOpen: []string{"p"}},
		"nothing of a pool that was full":  {held: "10", listed: []*corev1.Pod{wants("p", "5")}, free: 4, want: 4},
		"nothing more once all have ended": {listed: []*corev1.Pod{wants("p", "1")}, settled: []types.UID{"p", "p", "else"}, free: 20, want: 20},
		"what is left once one has": {
			listed: []*corev1.Pod{wants("p", "1"), wants("q", "2")}, settled: []types.UID{"p"}, free: 20, want: 16, wantOpen: []string{"q"},
		},
		"nothing from the pod itself": {listed: []*corev1.Pod{wants("p", "1")}, beside: "p", free: 20, want: 20, wantOpen: []string{"p"}},
		"nothing for pods that cannot be bound": {
			listed: []*corev1.Pod{wants("p", "1"), wants("q", "2")}, safe: "q", free: 20, want: 18, wantOpen: []string{"p"},
		},
		"nothing for what cannot be read":         {listed: []*corev1.Pod{wants("p", "much")}, free: 20, want: 20},
		"two of which the first gives nothing":    {listed: []*corev1.Pod{wants("p", "much"), wants("q", "1")}, free: 20, want: 18, wantOpen: []string{"q"}},
		"nothing for a pod that asks for nothing": {listed: []*corev1.Pod{waiting("p")}, free: 20, want: 20},
	} {
		t.Run(name, func(t *testing.T) {
			late := NewLate()
			reader := &Reader{Pending: ledger.NewPending(), Late: late, Known: known, Bound: unbounded, Ended: func() {}}
			reader.Begin()
			if tc.held != "" {
				reader.Read(holder("held", charge("", tc.held)), false)
			}
			for _, pod := range tc.listed {
				reader.Read(pod, pod.Name != tc.safe)
			}
			reader.End()
			for _, uid := range tc.settled {
				late.Settled(uid)
			}
			r := resources(licence(0)).Get("licence").Pools
			if units := withheld(late, r); tc.beside == "" && units != tc.free-tc.want {
				t.Errorf("%d units are withheld, want %d", units, tc.free-tc.want)
			}
			got := late.Beside(tc.beside).Withhold(r, []int64{tc.free})
			if diff := cmp.Diff([]int64{tc.want}, got); diff != "" {
				t.Errorf("left (-want +got):\n%s", diff)
			}
			var open []string
			for _, c := range late.Open(func(string) *pool.Resource { return r }) {
				open = append(open, c.Name)
			}
			slices.Sort(open)
			if diff := cmp.Diff(tc.wantOpen, open); diff != "" {
				t.Errorf("open (-want +got):\n%s", diff)
			}
			if unknown := late.Open(func(string) *pool.Resource { return nil }); len(unknown) > 0 {
				t.Errorf("open without pools: %v", unknown)
			}
		})
	}
}

// withheld is how many units late Bindings keep from being given out of all pools.
func withheld(late *LateUnits, r *pool.Resource) (units int64) {
	for _, kept := range late.withheld(func(string) *pool.Resource { return r }) {
		units += kept
	}
	return units
}

func TestTheReaderChargesWhatPodsHold(t *testing.T) {
	pending, ended := ledger.NewPending(), false
	seen, missed := holder("seen", charge("", "1")), holder("missed", charge("", "1"))
	reader := &Reader{
		Pending: pending, Late: NewLate(), Known: func(pod *corev1.Pod) bool { return pod.Name == "seen" }, Bound: unbounded,
		Ended: func() { ended = true },
	}
	reader.Begin()
	for _, pod := range []*corev1.Pod{seen, missed, waiting("plain")} {
		reader.Read(pod, false)
	}
	reader.End()
	if diff := cmp.Diff([]ledger.PodRef{ledger.Ref(missed)}, pending.AllUnseen()); diff != "" {
		t.Errorf("unseen (-want +got):\n%s", diff)
	}
	if charged := pending.Of(""); len(charged) != 2 || !ended {
		t.Errorf("charged %v, ended: %t", charged, ended)
	}
}

// unbounded says that it is not known how many late Bindings there can be.
func unbounded() int { return 0 }

// TestLateBindingsOfOneProcessAreFew asks what is withheld of 10 units, or 20 of the resource, for
// pods that each ask for one, but for one that asks for three.
func TestLateBindingsOfOneProcessAreFew(t *testing.T) {
	for name, tc := range map[string]struct {
		bound, settled int
		want           []int64
	}{
		"it is not known how many":         {0, 0, []int64{0, 0}},
		"more than pods":                   {50, 0, []int64{0, 0}},
		"two, which may take three each":   {2, 0, []int64{8, 8}},
		"one, which may take three":        {1, 0, []int64{14, 14}},
		"two, and one more pod is left":    {2, 9, []int64{12, 18}},
		"two, and only the large one left": {2, 10, []int64{14, 20}},
	} {
		t.Run(name, func(t *testing.T) {
			late := NewLate()
			reader := &Reader{
				Pending: ledger.NewPending(), Late: late, Known: known, Bound: func() int { return tc.bound }, Ended: func() {},
			}
			reader.Begin()
			reader.Read(wants("large", "3"), true)
			for i := range 10 {
				reader.Read(wants(fmt.Sprint("p-", i), "1"), true)
			}
			reader.End()
			for i := range tc.settled {
				late.Settled(types.UID(fmt.Sprint("p-", i)))
			}
			r := resources(licence(0)).Get("licence").Pools
			var got []int64
			for _, pod := range []types.UID{"none", "large"} {
				got = append(got, late.Beside(pod).Withhold(r, []int64{20})[0])
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("left of 20 units to others and to the large one (-want +got):\n%s", diff)
			}
		})
	}
}

func TestItIsOverWhenAllAreSettled(t *testing.T) {
	late := NewLate()
	got := []bool{late.Over()}
	c, _ := newClaimant(wants("p", "1"))
	late.expect(pool.NewAccount(), []Claimant{c}, 0)
	got = append(got, late.Over())
	late.Settled("p")
	got = append(got, late.Over())
	if diff := cmp.Diff([]bool{false, false, true}, got); diff != "" {
		t.Errorf("over before the list, after it, and when the only pod is settled (-want +got):\n%s", diff)
	}
}

// ClusterResources may become known after the first pods have been settled.
func TestWhatIsWithheldNoLongerIsToldOnce(t *testing.T) {
	late := NewLate()
	var claimants []Claimant
	for _, pod := range []*corev1.Pod{wants("p", "1"), wants("q", "9")} {
		if c, may := newClaimant(pod); may {
			claimants = append(claimants, c)
		}
	}
	held := pool.NewAccount()
	held.Add(charge("", "7")) // so 3 are free, 6 units
	late.expect(held, claimants, 0)
	unknown := func(string) *pool.Resource { return nil }
	known := func(string) *pool.Resource { return resources(licence(0)).Get("licence").Pools }
	got := []map[pool.Key]int64{late.Raised(unknown)}
	late.Settled("q")
	got = append(got, late.Raised(unknown), late.Raised(known), late.Raised(known))
	late.Settled("p")
	got = append(got, late.Raised(known))
	if diff := cmp.Diff([]map[pool.Key]int64{{}, {}, {all: 4}, {}, {all: 2}}, got); diff != "" {
		t.Errorf("raised, while nothing is known, then, again, and at last (-want +got):\n%s", diff)
	}
}

// Those that are bound need not be settled, so whoever is bound last comes first.
func TestWhoIsTriedLastIsSettledFirst(t *testing.T) {
	created := func(seconds int64) func(*corev1.Pod) {
		return func(p *corev1.Pod) { p.CreationTimestamp = metav1.Unix(seconds, 0) }
	}
	urgent := func(p *corev1.Pod) { p.Spec.Priority = ptr.To[int32](10) }
	late := NewLate()
	reader := &Reader{Pending: ledger.NewPending(), Late: late, Known: known, Bound: unbounded, Ended: func() {}}
	reader.Begin()
	for _, pod := range []*corev1.Pod{
		wants("old", "4", created(1)), wants("urgent", "4", created(9), urgent), wants("new", "4", created(3)), wants("mid", "4", created(2)),
	} {
		reader.Read(pod, true)
	}
	reader.End()
	r := resources(licence(0)).Get("licence").Pools
	var got []string
	for _, c := range late.Open(func(string) *pool.Resource { return r }) {
		got = append(got, c.Name)
	}
	if diff := cmp.Diff([]string{"new", "mid", "old", "urgent"}, got); diff != "" {
		t.Errorf("in this order (-want +got):\n%s", diff)
	}
}
