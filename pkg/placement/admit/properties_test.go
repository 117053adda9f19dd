// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package admit_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"berth.dev/berth/pkg/placement/admit"
)

// checkAnswer checks what holds of the answer to any question.
func checkAnswer(t *rapid.T) {
	q, fits := drawQuestion(t)
	held := slices.Clone(q.Held)
	admission := admit.Answer(q)
	rules, before := 0, []bool(nil)
	for admission.Provisional() {
		now := admitted(&admission, q.Order.Len())
		if i := firstLost(before, now); i >= 0 {
			t.Fatalf("cluster %d admits the pod by a rule and not by the wider rule %d", i, admission.Rule)
		}
		if rules++; rules > 3 {
			t.Fatalf("rule %d still does not hold", admission.Rule)
		}
		best := admit.None
		for i := range fits {
			if fits[i] && admission.Prefers(int32(i), best) {
				best = int32(i)
			}
		}
		before = now
		admission.Resolve(best)
	}
	checkRule(t, q, held, fits, &admission)
	checkReasons(t, q, &admission)
	final := admission
	admission.Resolve(admit.None)
	if final.Rule != admission.Rule {
		t.Fatalf("rule %d held, and became rule %d", final.Rule, admission.Rule)
	}
	if final.Rule != admit.Anywhere && final.Admits(admit.None) {
		t.Fatalf("rule %d admits nodes in no cluster", final.Rule)
	}
}

// firstLost returns the first cluster that admits the pod in one list and not in the
// other, -1 if there is none.
func firstLost(before, after []bool) int {
	for i := range before {
		if before[i] && !after[i] {
			return i
		}
	}
	return -1
}

// checkRule checks that the rule that holds is one the question allows, and what it
// admits.
func checkRule(t *rapid.T, q *admit.Question, held []int32, fits []bool, got *admit.Admission) {
	for i := range held {
		c, want := int32(i), ruleAdmits(q, held, fits, got, i)
		if got.Admits(c) != want {
			t.Fatalf("by rule %d cluster %d admits the pod: %t, want %t", got.Rule, i, !want, want)
		}
	}
	if got.Rule == admit.ByTurn && q.Beyond {
		t.Fatal("the pod was tried in vain, and is tried there again")
	}
}

// ruleAdmits tells whether the rule of the answer lets the pod into a cluster.
func ruleAdmits(q *admit.Question, held []int32, fits []bool, got *admit.Admission, i int) bool {
	c, eligible := int32(i), q.Eligible == nil || q.Eligible[i]
	switch got.Rule {
	case admit.FixedSeat:
		seats := q.Order.Seats(int64(q.Seat) + 1)
		return len(seats) > int(q.Seat) && seats[q.Seat] == c
	case admit.BelowShare:
		return eligible && int(held[i]) < q.Plan.Share(i)
	case admit.ByTurn:
		return c == firstInTurn(q, held, fits)
	case admit.BelowMax:
		return eligible && slices.Contains(q.Order.Ranking(wide(held)), c)
	case admit.OfPolicy, admit.Anywhere:
		return !q.Strict
	}
	return false
}

func firstInTurn(q *admit.Question, held []int32, fits []bool) int32 {
	for _, i := range q.Order.Ranking(wide(held)) {
		if fits[i] && (q.Eligible == nil || q.Eligible[i]) {
			return i
		}
	}
	return admit.None
}

func wide(held []int32) []int64 {
	list := make([]int64, len(held))
	for i := range held {
		list[i] = int64(held[i])
	}
	return list
}

// checkReasons checks that each cluster that does not admit the pod has a reason that
// goes with the question.
func checkReasons(t *rapid.T, q *admit.Question, got *admit.Admission) {
	want := admit.ShareUsedUp
	switch {
	case got.Rule == admit.ByTurn:
		want = admit.LaterTurn
	case q.Seat >= 0:
		want = admit.OtherSeat
	}
	for i := range q.Order.Len() {
		if got.Admits(int32(i)) {
			continue
		}
		if reason := got.Reason(int32(i)); reason != want {
			t.Fatalf("by rule %d cluster %d has reason %d, want %d", got.Rule, i, reason, want)
		}
	}
}

func TestAnswerFollowsTheRules(t *testing.T) {
	rapid.Check(t, checkAnswer)
}

func FuzzAnswer(f *testing.F) {
	f.Fuzz(rapid.MakeFuzz(checkAnswer))
}

// Replicas that are placed one after the other, each in any cluster that admits it, end
// at the shares: nobody waits while a share is free, and no share is exceeded.
func TestPlacingByShareEndsAtTheShares(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := drawOrder(t)
		plan := o.Plan(rapid.Int64Range(0, 20).Draw(t, "replicas"))
		held := make([]int32, o.Len())
		for placed := range plan.Len() + 1 {
			admission := admit.Answer(&admit.Question{
				Order: o, Plan: plan, Seat: admit.NoSeat, Held: slices.Clone(held), Strict: true,
			})
			var choice []int32
			for i := range held {
				if admission.Admits(int32(i)) {
					choice = append(choice, int32(i))
				}
			}
			if (len(choice) > 0) != (placed < plan.Len()) {
				t.Fatalf("%d of %d replicas are placed, and %v admit one more", placed, plan.Len(), choice)
			}
			if len(choice) > 0 {
				held[rapid.SampledFrom(choice).Draw(t, "cluster")]++
			}
		}
	})
}

// Replicas that come one by one without a known number land on the seats in their order,
// as long as every cluster has room.
func TestPlacingByTurnFollowsTheSeats(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := drawOrder(t)
		held, room := make([]int32, o.Len()), make([]bool, o.Len())
		for i := range room {
			room[i] = true
		}
		for seat, want := range o.Seats(20) {
			admission := admit.Answer(&admit.Question{Order: o, Seat: admit.NoSeat, Held: slices.Clone(held), Strict: true})
			resolve(&admission, room)
			if admission.Rule != admit.ByTurn || admission.Only != want {
				t.Fatalf("replica %d goes to cluster %d by rule %d, want %d", seat, admission.Only, admission.Rule, want)
			}
			held[want]++
		}
	})
}
