// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package admit_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"berth.dev/berth/pkg/placement/admit"
	"berth.dev/berth/pkg/placement/apportion"
)

// unknown stands for a number of replicas that nobody knows.
const unknown = -1

func TestAnswer(t *testing.T) {
	everywhere, nowhere := []bool{true, true}, []bool{false, false}
	onlyA, onlyB := []bool{true, false}, []bool{false, true}
	const lax, beyond, both = 1, 2, 3
	tests := map[string]struct {
		replicas int64
		seat     int32
		held     []int32
		options  int
		fits     []bool

		wantRule  admit.Mode
		wantAdmit []bool
		wantNode  bool // nodes in no cluster of the policy are admitted
		wantWiden bool
	}{
		"a seat of a": {replicas: 5, seat: 1, wantRule: admit.FixedSeat, wantAdmit: onlyA},
		"a seat of b, which holds more than its share": {
			replicas: 5, seat: 2, held: []int32{0, 9}, wantRule: admit.FixedSeat, wantAdmit: onlyB,
		},
		"a seat beyond the replicas": {replicas: 1, seat: 3, wantRule: admit.FixedSeat, wantAdmit: onlyA},
		"a seat of a workload of unknown size": {
			replicas: unknown, seat: 3, wantRule: admit.FixedSeat, wantAdmit: onlyA,
		},
		"a seat that no plan has": {replicas: 5, seat: apportion.MaxSeats, wantRule: admit.FixedSeat, wantAdmit: nowhere},
		"a seat, tried in vain": {
			replicas: 5, seat: 1, options: beyond, wantRule: admit.FixedSeat, wantAdmit: onlyA,
		},
		"a seat where a node fits, with ScheduleAnyway": {
			replicas: 5, seat: 1, options: lax, fits: everywhere, wantRule: admit.FixedSeat, wantAdmit: onlyA, wantWiden: true,
		},
		"a seat where no node fits, with ScheduleAnyway": {
			replicas: 5, seat: 1, options: lax, fits: onlyB, wantRule: admit.OfPolicy, wantAdmit: everywhere, wantWiden: true,
		},

		"nothing runs": {replicas: 5, seat: admit.NoSeat, wantRule: admit.BelowShare, wantAdmit: everywhere},
		"one has its share": {
			replicas: 5, seat: admit.NoSeat, held: []int32{2, 1}, wantRule: admit.BelowShare, wantAdmit: onlyB,
		},
		"one has more than its share": {
			replicas: 5, seat: admit.NoSeat, held: []int32{1, 4}, wantRule: admit.BelowShare, wantAdmit: onlyA,
		},
		"both have their share": {
			replicas: 5, seat: admit.NoSeat, held: []int32{2, 3}, wantRule: admit.BelowShare, wantAdmit: nowhere,
		},
		"no replica is wanted": {replicas: 0, seat: admit.NoSeat, wantRule: admit.BelowShare, wantAdmit: nowhere},
		"below its share, tried in vain": {
			replicas: 5, seat: admit.NoSeat, held: []int32{2, 1}, options: beyond, wantRule: admit.BelowShare, wantAdmit: onlyB,
		},
		"a node fits below the share, with ScheduleAnyway": {
			replicas: 5, seat: admit.NoSeat, held: []int32{2, 1}, options: lax, fits: onlyB,
			wantRule: admit.BelowShare, wantAdmit: onlyB, wantWiden: true,
		},
		"a node fits only beyond the share, with ScheduleAnyway": {
			replicas: 5, seat: admit.NoSeat, held: []int32{2, 1}, options: lax, fits: onlyA,
			wantRule: admit.OfPolicy, wantAdmit: everywhere, wantWiden: true,
		},
		"no node of the policy fits, with ScheduleAnyway": {
			replicas: 5, seat: admit.NoSeat, options: lax, fits: nowhere,
			wantRule: admit.Anywhere, wantAdmit: everywhere, wantNode: true,
		},
		"tried in vain, with ScheduleAnyway": {
			replicas: 5, seat: admit.NoSeat, options: both, fits: everywhere,
			wantRule: admit.Anywhere, wantAdmit: everywhere, wantNode: true,
		},

		"the first in turn has a node": {
			replicas: unknown, seat: admit.NoSeat, fits: everywhere, wantRule: admit.ByTurn, wantAdmit: onlyB, wantWiden: true,
		},
		"the first in turn has none": {
			replicas: unknown, seat: admit.NoSeat, fits: onlyA, wantRule: admit.ByTurn, wantAdmit: onlyA, wantWiden: true,
		},
		"the turn goes on with what is held": {
			replicas: unknown, seat: admit.NoSeat, held: []int32{0, 1}, fits: everywhere,
			wantRule: admit.ByTurn, wantAdmit: onlyA, wantWiden: true,
		},
		"nobody in turn has a node": {
			replicas: unknown, seat: admit.NoSeat, fits: nowhere, wantRule: admit.BelowMax, wantAdmit: everywhere,
		},
		"in turn, tried in vain": {
			replicas: unknown, seat: admit.NoSeat, options: beyond, fits: onlyA, wantRule: admit.BelowMax, wantAdmit: everywhere,
		},
		"nobody in turn has a node, with ScheduleAnyway": {
			replicas: unknown, seat: admit.NoSeat, options: lax, fits: nowhere,
			wantRule: admit.Anywhere, wantAdmit: everywhere, wantNode: true,
		},
		"in turn, tried in vain, with ScheduleAnyway": {
			replicas: unknown, seat: admit.NoSeat, options: both, fits: onlyA,
			wantRule: admit.Anywhere, wantAdmit: everywhere, wantNode: true,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			o := twoToThree(t)
			q := &admit.Question{
				Order: o, Seat: tc.seat, Held: []int32{0, 0}, Strict: tc.options&lax == 0, Beyond: tc.options&beyond != 0,
			}
			if tc.replicas != unknown {
				q.Plan = o.Plan(tc.replicas)
			}
			copy(q.Held, tc.held)
			got := admit.Answer(q)
			resolve(&got, tc.fits)
			if got.Rule != tc.wantRule {
				t.Errorf("rule %d, want %d", got.Rule, tc.wantRule)
			}
			if diff := cmp.Diff(tc.wantAdmit, admitted(&got, 2)); diff != "" {
				t.Errorf("clusters a and b admit the pod (-want +got):\n%s", diff)
			}
			if node := got.Admits(admit.None); node != tc.wantNode {
				t.Errorf("nodes in no cluster admit the pod: %t, want %t", node, tc.wantNode)
			}
			if widens := got.Widens(); widens != tc.wantWiden {
				t.Errorf("a further attempt would be wider: %t, want %t", widens, tc.wantWiden)
			}
		})
	}
}

func TestClustersAtTheirMaximumHaveNoTurn(t *testing.T) {
	o := order(t, apportion.Cluster{Name: "a", Weight: 1, Max: new(int64(1))}, apportion.Cluster{Name: "b", Weight: 1},
		apportion.Cluster{Name: "c", Weight: 1})
	got := admit.Answer(&admit.Question{Order: o, Seat: admit.NoSeat, Held: []int32{1, 2, 1}, Strict: true, Beyond: true})
	for cluster, want := range []int{0, 2, 1} {
		if turn := got.Turn(int32(cluster)); turn != want {
			t.Errorf("the turn of cluster %s is %d, want %d", o.Name(cluster), turn, want)
		}
	}
	if diff := cmp.Diff([]bool{false, true, true}, admitted(&got, 3)); diff != "" {
		t.Errorf("clusters a, b and c admit the pod (-want +got):\n%s", diff)
	}
}

func TestReason(t *testing.T) {
	o := twoToThree(t)
	tests := map[string]struct {
		question admit.Question
		cluster  int32
		want     admit.Refusal
	}{
		"in no cluster":           {admit.Question{Plan: o.Plan(5), Seat: admit.NoSeat, Strict: true}, admit.None, admit.NoCluster},
		"in no cluster, numbered": {admit.Question{Seat: 0, Strict: true}, admit.None, admit.NoCluster},
		"a full cluster":          {admit.Question{Plan: o.Plan(0), Seat: admit.NoSeat, Strict: true}, a, admit.ShareUsedUp},
		"another seat":            {admit.Question{Plan: o.Plan(5), Seat: 1, Strict: true}, b, admit.OtherSeat},
		"a later turn":            {admit.Question{Seat: admit.NoSeat, Strict: true}, a, admit.LaterTurn},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			tc.question.Order, tc.question.Held = o, []int32{0, 0}
			got := admit.Answer(&tc.question)
			resolve(&got, []bool{true, true})
			if reason := got.Reason(tc.cluster); reason != tc.want {
				t.Errorf("reason %d, want %d", reason, tc.want)
			}
		})
	}
}

func TestClustersThatAreNotEligibleGetNoShareAndNoTurn(t *testing.T) {
	o := twoToThree(t)
	for name, plan := range map[string]*apportion.Plan{"by share": o.Plan(5), "by turn": nil} {
		t.Run(name, func(t *testing.T) {
			got := admit.Answer(&admit.Question{
				Order: o, Plan: plan, Seat: admit.NoSeat, Held: []int32{0, 0}, Eligible: []bool{true, false}, Strict: true,
			})
			resolve(&got, []bool{true, true})
			if diff := cmp.Diff([]bool{true, false}, admitted(&got, 2)); diff != "" {
				t.Errorf("clusters a and b admit the pod (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPrefers(t *testing.T) {
	o := order(t, apportion.Cluster{Name: "a", Weight: 1}, apportion.Cluster{Name: "b", Weight: 2},
		apportion.Cluster{Name: "full", Weight: 9, Max: new(int64(0))})
	const full int32 = 2
	tests := map[string]struct {
		plan          *apportion.Plan
		cluster, best int32
		want          bool
	}{
		"below its share":                  {o.Plan(3), a, admit.None, true},
		"below its share, one is known":    {o.Plan(3), b, a, false},
		"without a share":                  {o.Plan(3), full, admit.None, false},
		"in no cluster":                    {o.Plan(3), admit.None, admit.None, false},
		"in turn":                          {nil, a, admit.None, true},
		"in turn, an earlier one is known": {nil, a, b, false},
		"in turn, a later one is known":    {nil, b, a, true},
		"in turn, the known one again":     {nil, b, b, false},
		"at its maximum":                   {nil, full, admit.None, false},
		"in turn, in no cluster":           {nil, admit.None, admit.None, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := admit.Answer(&admit.Question{Order: o, Plan: tc.plan, Seat: admit.NoSeat, Held: []int32{0, 0, 0}})
			if prefers := got.Prefers(tc.cluster, tc.best); prefers != tc.want {
				t.Errorf("Prefers(%d, %d) = %t, want %t", tc.cluster, tc.best, prefers, tc.want)
			}
		})
	}
}
