// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package oracle

import (
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/controllers/state"
)

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// after returns a time some seconds after the start.
func after(seconds int) time.Time { return start.Add(time.Duration(seconds) * time.Second) }

// renewed notes that somebody holds the lease of a Scheduler for 15 s from a time on.
func (h *Handover) renewed(scheduler, holder string, at time.Time) {
	h.SawLease(&coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Name: berthv1alpha1.DefaultLeasePrefix + scheduler},
		Spec: coordinationv1.LeaseSpec{
			HolderIdentity: ptr.To(holder), RenewTime: ptr.To(metav1.NewMicroTime(at)), LeaseDurationSeconds: ptr.To(int32(15)),
		},
	}, at)
}

// runs notes that a process of a Scheduler renews its lease until a time.
func (h *Handover) runs(scheduler string, seconds int) {
	for s := 0; s <= seconds; s += 2 {
		h.renewed(scheduler, scheduler+"_1", after(s))
	}
}

// said returns a Scheduler that acknowledges a limit under a revision, and that it has given up a
// Cluster.
func said(name string, under int64, limit string, drained ...berthv1alpha1.Drained) *berthv1alpha1.Scheduler {
	s := &berthv1alpha1.Scheduler{ObjectMeta: metav1.ObjectMeta{Name: name}}
	s.Status.Drained = drained
	s.Status.Spending = &berthv1alpha1.Spending{Pools: []berthv1alpha1.PoolSpending{
		{Resource: "licence", Pool: "all", Revision: under, Limit: ptr.To(resource.MustParse(limit))},
	}}
	return s
}

func grant(scheduler, quantity string, under int64) berthv1alpha1.PoolGrant {
	return berthv1alpha1.PoolGrant{Scheduler: scheduler, Pool: "all", Quantity: resource.MustParse(quantity), Revision: under}
}

func TestGrantsChangeHands(t *testing.T) {
	tests := map[string]struct {
		said          []*berthv1alpha1.Scheduler
		before, after []berthv1alpha1.PoolGrant
		held          map[string]int64
		lease         func(h *Handover)
		want          string
	}{
		"what was acknowledged": {
			said:   []*berthv1alpha1.Scheduler{said("east", 7, "2")},
			before: []berthv1alpha1.PoolGrant{grant("east", "5", 7)},
			after:  []berthv1alpha1.PoolGrant{grant("east", "2", 8), grant("west", "3", 8)},
		},
		"nothing was acknowledged": {
			before: []berthv1alpha1.PoolGrant{grant("east", "5", 7)}, after: []berthv1alpha1.PoolGrant{grant("east", "2", 8)},
			want: "goes from 5 to 2, without an acknowledgement of revision 7",
		},
		"an older step was acknowledged": {
			said:   []*berthv1alpha1.Scheduler{said("east", 6, "2")},
			before: []berthv1alpha1.PoolGrant{grant("east", "5", 7)}, after: []berthv1alpha1.PoolGrant{grant("east", "2", 8)},
			want: "without an acknowledgement of revision 7",
		},
		"more is taken than was acknowledged": {
			said:   []*berthv1alpha1.Scheduler{said("east", 7, "3")},
			before: []berthv1alpha1.PoolGrant{grant("east", "5", 7)}, want: "goes from 5 to 0",
		},
		"of one that is dead": {
			before: []berthv1alpha1.PoolGrant{grant("east", "5", 7)},
			lease:  func(h *Handover) { h.renewed("east", "", after(100)) },
		},
		"of one whose lease was taken": {
			before: []berthv1alpha1.PoolGrant{grant("east", "5", 7)},
			lease: func(h *Handover) {
				h.renewed("east", state.LeaseTaker, after(10))
				h.renewed("east", state.LeaseTaker, after(100))
			},
		},
		"of one that was dead a moment ago": {
			before: []berthv1alpha1.PoolGrant{grant("east", "5", 7)},
			lease:  func(h *Handover) { h.renewed("east", "east_2", after(95)) },
		},
		"more than there is": {
			before: []berthv1alpha1.PoolGrant{grant("east", "5", 7)},
			after:  []berthv1alpha1.PoolGrant{grant("east", "5", 7), grant("west", "1", 8)},
			want:   "grows to 1, but of 5 units 6 are granted or held",
		},
		"what pods hold out of no grant": {
			after: []berthv1alpha1.PoolGrant{grant("west", "4", 8)}, held: map[string]int64{"": 1, "gone": 1},
			want: "grows to 4, but of 5 units 6 are granted or held",
		},
		"what its pods hold already": {
			said:  []*berthv1alpha1.Scheduler{said("west", 0, "7")},
			after: []berthv1alpha1.PoolGrant{grant("west", "7", 8)}, held: map[string]int64{"west": 7},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			h := NewHandover()
			h.runs("east", 100)
			for _, s := range tc.said {
				h.SawScheduler(s)
			}
			if tc.lease != nil {
				tc.lease(h)
			}
			pools := &Pools{
				Resource: "licence", Held: func(string) map[string]int64 { return tc.held }, Most: func(string) int64 { return 5 },
			}
			check(t, h.JudgeGrants(pools, tc.before, tc.after, after(101)), tc.want)
		})
	}
}

// check compares what is wrong with what is to be, empty for nothing.
func check(t *testing.T, problem error, want string) {
	t.Helper()
	switch {
	case want == "" && problem != nil:
		t.Errorf("it is wrong: %v", problem)
	case want != "" && (problem == nil || !strings.Contains(problem.Error(), want)):
		t.Errorf("wrong is %v, want %s", problem, want)
	}
}

func TestClustersChangeHands(t *testing.T) {
	of := func(home string, revision int64) *berthv1alpha1.Cluster {
		return &berthv1alpha1.Cluster{
			ObjectMeta: metav1.ObjectMeta{Name: "site"}, Status: berthv1alpha1.ClusterStatus{HomeScheduler: home, HomeRevision: revision},
		}
	}
	gives := func(cluster string, revision int64) []berthv1alpha1.Drained {
		return []berthv1alpha1.Drained{{Cluster: cluster, Revision: revision}}
	}
	tests := map[string]struct {
		drained               []berthv1alpha1.Drained
		before, is            *berthv1alpha1.Cluster
		wantMove, wantBinding string
	}{
		"stays":          {before: of("east", 1), is: of("east", 2)},
		"gets its first": {before: of("", 0), is: of("east", 1)},
		"is given up":    {drained: gives("site", 1), before: of("east", 1), is: of("west", 2), wantBinding: `which "west" has`},
		"is not given up": {
			before: of("east", 1), is: of("west", 2), wantMove: "has not acknowledged revision 1", wantBinding: `which "west" has`,
		},
		"was given up":      {drained: gives("site", 1), before: of("east", 2), is: of("", 3), wantMove: "has not acknowledged revision 2"},
		"is being given up": {drained: gives("site", 2), before: of("east", 1), is: of("east", 2), wantBinding: "which it has given up"},
		"another is given up": {
			drained: gives("other", 1), before: of("east", 1), is: of("west", 2), wantMove: "has not acknowledged", wantBinding: `which "west" has`,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			h := NewHandover()
			h.runs("east", 100)
			h.SawScheduler(said("east", 0, "0", tc.drained...))
			check(t, h.JudgeHome(tc.before, tc.is, after(101)), tc.wantMove)
			check(t, h.JudgeBinding("east", tc.is, after(101)), tc.wantBinding)
		})
	}
}

func TestWhoHoldsALease(t *testing.T) {
	h, name := NewHandover(), berthv1alpha1.DefaultLeasePrefix+"east"
	if h.Holds(name, "east_1", after(0)) {
		t.Error("nobody has taken it")
	}
	h.renewed("east", "east_1", after(0))
	if !h.Holds(name, "east_1", after(14)) || h.Holds(name, "east_1", after(15)) || h.Holds(name, "east_2", after(1)) {
		t.Error("east_1 holds it for 15 s, and nobody else")
	}
}
