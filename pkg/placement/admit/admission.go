// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package admit

const (
	// None stands for no cluster of the policy.
	None int32 = -1
	// Closed stands for a cluster that takes no pods at all because it is cordoned, whether the
	// policy names it or not.
	Closed int32 = -2
)

// Mode tells by what clusters admit a pod.
type Mode uint8

const (
	// FixedSeat admits only the cluster that owns the seat of the pod.
	FixedSeat Mode = iota
	// BelowShare admits the clusters that hold fewer replicas than their share.
	BelowShare
	// ByTurn admits only the cluster whose turn it is.
	ByTurn
	// BelowMax admits the clusters that have not reached their maximum.
	BelowMax
	// OfPolicy admits all clusters of the policy.
	OfPolicy
	// Anywhere admits every node, also in no cluster of the policy.
	Anywhere
)

// Refusal is why nodes do not admit a pod.
type Refusal uint8

const (
	// NoCluster is that they lie in no cluster of the policy.
	NoCluster Refusal = iota
	// ShareUsedUp is that their cluster holds its share, or its maximum.
	ShareUsedUp
	// OtherSeat is that their cluster does not own the seat of the pod.
	OtherSeat
	// LaterTurn is that the turn of another cluster comes first.
	LaterTurn
	// Cordoned is that their cluster is cordoned.
	Cordoned
)

// Admission is which clusters admit a pod. It is made by Answer, and a value to be
// copied with care: copies share Free. It may be read concurrently.
type Admission struct {
	// Rule is the rule in force.
	Rule Mode
	// Only is the cluster that FixedSeat and ByTurn admit, None for none.
	Only int32
	// Seat is the fixed seat of the pod, or NoSeat.
	Seat int32
	// Free is, by cluster, the share less what is held, which may be negative. Where
	// the number of replicas is not known it is a number above 0 that is the larger
	// the earlier it is the cluster's turn, and 0 for a cluster at its maximum. With
	// a fixed seat it is nil.
	Free []int32

	strict, provisional bool
}

// Admits reports whether nodes of a cluster may take the pod. The cluster is None for
// nodes in no cluster of the policy, and may be Closed.
func (a *Admission) Admits(cluster int32) bool {
	switch a.Rule {
	case Anywhere:
		return cluster != Closed
	case OfPolicy:
		return cluster >= 0
	case FixedSeat, ByTurn:
		return cluster >= 0 && cluster == a.Only
	default:
		return cluster >= 0 && a.Free[cluster] > 0
	}
}

// Reason returns why a cluster that does not admit the pod does not.
func (a *Admission) Reason(cluster int32) Refusal {
	switch {
	case cluster == None:
		return NoCluster
	case cluster == Closed:
		return Cordoned
	case a.Rule == FixedSeat:
		return OtherSeat
	case a.Rule == ByTurn:
		return LaterTurn
	default:
		return ShareUsedUp
	}
}

// Provisional reports whether the Admission depends on where a node fits the pod. It
// does not hold until Resolve has been called, again and again, until it is no longer
// provisional.
func (a *Admission) Provisional() bool {
	return a.provisional
}

// Prefers reports whether it matters that a cluster has a node that fits the pod, when
// best is known to have one; best is None as long as no such cluster is known.
func (a *Admission) Prefers(cluster, best int32) bool {
	if a.Rule != ByTurn {
		return best == None && a.Admits(cluster)
	}
	return cluster >= 0 && a.Free[cluster] > 0 && (best == None || a.Free[cluster] > a.Free[best])
}

// Resolve takes note of the most preferred cluster with a node that fits the pod, None
// if there is none, which makes the rule a wider one. It does nothing to an Admission that
// is not provisional.
func (a *Admission) Resolve(fits int32) {
	switch {
	case !a.provisional:
	case fits == None:
		a.widen()
	case a.Rule == ByTurn:
		a.Only, a.provisional = fits, false
	default:
		a.provisional = false
	}
}

// widen passes on to the next rule, by the tables of the package.
func (a *Admission) widen() {
	switch {
	case a.strict:
		a.Rule, a.provisional = BelowMax, false
	case a.Rule == FixedSeat || a.Rule == BelowShare:
		a.Rule = OfPolicy
	default:
		a.Rule, a.provisional = Anywhere, false
	}
}

// Widens reports whether more clusters would admit the pod if it turned out that it was
// tried in vain where this Admission sends it.
func (a *Admission) Widens() bool {
	return a.Rule != Anywhere && (a.Rule == ByTurn || !a.strict)
}

// Turn returns the place of a cluster among those that are asked one after the other,
// from 1, and 0 for one at its maximum. It is for workloads whose number of replicas is
// not known, without a fixed seat.
func (a *Admission) Turn(cluster int32) int {
	if a.Free[cluster] <= 0 {
		return 0
	}
	turn := 0
	for _, free := range a.Free {
		if free >= a.Free[cluster] {
			turn++
		}
	}
	return turn
}
