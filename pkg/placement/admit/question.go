// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package admit

import "berth.dev/berth/pkg/placement/apportion"

// NoSeat is the seat of a pod whose controller does not number its pods.
const NoSeat = -1

// Question is what an Admission depends on. Clusters are referred to by their index
// in the Order.
type Question struct {
	// Order is the seat order of the policy.
	Order *apportion.Order
	// Plan holds the seats of the replicas that are wanted, nil if their number is
	// not known.
	Plan *apportion.Plan
	// Seat is the number that the pod's controller gave it, or NoSeat.
	Seat int32
	// Held is the number of replicas in each cluster. The Admission takes the slice
	// over and changes it.
	Held []int32
	// Eligible reports, by cluster, whether a cluster comes into question for a
	// share or a turn; nil stands for all.
	Eligible []bool
	// Strict is true if the pod waits rather than go beyond the shares.
	Strict bool
	// Beyond is true if the pod has been tried in vain where it belongs.
	Beyond bool
}

// Answer returns the Admission with the narrowest rule that fits the question.
func Answer(q *Question) Admission {
	a := Admission{Only: None, Seat: q.Seat, strict: q.Strict}
	switch {
	case q.Seat >= 0:
		a.Rule = FixedSeat
		if owner, found := q.Order.OwnerOf(int64(q.Seat)); found {
			a.Only = int32(owner)
		}
		a.provisional = !q.Strict
	case q.Plan != nil:
		a.Rule, a.Free = BelowShare, q.shares()
		a.provisional = !q.Strict
	default:
		a.Rule, a.Free = ByTurn, q.turns()
		a.provisional = true
	}
	switch {
	case !q.Beyond:
	case !q.Strict:
		a.Rule, a.provisional = Anywhere, false
	case a.Rule == ByTurn:
		a.widen()
	}
	return a
}

// shares turns what clusters hold into what they lack.
func (q *Question) shares() []int32 {
	free := q.Held
	for i := range free {
		if free[i] = int32(q.Plan.Share(i)) - free[i]; !q.eligible(i) {
			free[i] = 0
		}
	}
	return free
}

// turns returns a number for each cluster, which is the larger the earlier it is the cluster's
// turn, and 0 for clusters at their maximum.
func (q *Question) turns() []int32 {
	free, held := q.Held, make([]int64, len(q.Held))
	for i := range held {
		held[i], free[i] = int64(free[i]), 0
	}
	ranking := q.Order.Ranking(held)
	for turn, i := range ranking {
		if q.eligible(int(i)) {
			free[i] = int32(len(ranking) - turn)
		}
	}
	return free
}

func (q *Question) eligible(cluster int) bool {
	return q.Eligible == nil || q.Eligible[cluster]
}
