// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package binding

// Record is the binding of a cluster as it is written down.
type Record struct {
	// Home is the scheduler that alone places pods on the cluster, empty for none.
	Home string
	// Moving is true while Home is asked to give the cluster up; To is who gets it then, empty for
	// nobody.
	Moving bool
	To     string
	// Revision grows with each change of the others.
	Revision int64
}

// Step is what becomes of a record.
type Step int

const (
	// Stay changes nothing.
	Stay Step = iota
	// Bind gives a cluster without a home to a scheduler.
	Bind
	// Drain asks the home to give the cluster up.
	Drain
	// Cancel takes that back.
	Cancel
	// Move gives the cluster to another scheduler after the home has acknowledged.
	Move
	// Seize takes the cluster away from a scheduler that can bind nothing any more.
	Seize
)

// Next returns what the record of a cluster becomes next if the cluster should be bound to desired,
// and by which step:
//
//	recorded            desired     home                       step
//	nothing             nothing                                Stay
//	nothing             b           another one is alone       Stay
//	nothing             b                                      Bind
//	home a              a                                      Stay
//	home a, moving      a                                      Cancel
//	home a              not a       gone or fenced             Seize
//	home a              not a       there                      Drain
//	home a, moving to b not b       there                      Drain
//	home a, moving to b b           acknowledged the revision  Move
//	home a, moving to b b           did not yet                Stay
//
// So no cluster is given away unless its home has acknowledged the very revision that asked for it,
// or cannot bind any more. One that nobody has is given to somebody once no other scheduler may
// take itself for the only one, which uses all clusters.
func Next(cluster string, r Record, desired string, schedulers Schedulers) (Record, Step) {
	next := Record{Home: r.Home, Moving: r.Moving, To: r.To, Revision: r.Revision + 1}
	owner := schedulers[r.Home]
	switch {
	case r.Home == "":
		return first(r, desired, schedulers)
	case desired == r.Home && !r.Moving:
		return r, Stay
	case desired == r.Home:
		next.Moving, next.To = false, ""
		return next, Cancel
	case owner == nil || owner.Fenced:
		next.Home, next.Moving, next.To = desired, false, ""
		return next, Seize
	case !r.Moving || r.To != desired:
		next.Moving, next.To = true, desired
		return next, Drain
	case acknowledged(owner, cluster, r.Revision):
		next.Home, next.Moving, next.To = desired, false, ""
		return next, Move
	default:
		return r, Stay
	}
}

// first returns what the record of a cluster becomes that nobody has.
func first(r Record, desired string, schedulers Schedulers) (Record, Step) {
	if desired == "" || schedulers.Alone(desired) != "" {
		return r, Stay
	}
	return Record{Home: desired, Revision: r.Revision + 1}, Bind
}

func acknowledged(owner *Scheduler, cluster string, revision int64) bool {
	drained, found := owner.Drained[cluster]
	return found && drained == revision
}

// Steps returns what becomes of each record, as given, of which at most budget are asked to drain
// at a time. What is already being drained counts; what is seized or bound for the first time does
// not.
func Steps(clusters []BoundCluster, desired []string, schedulers Schedulers, budget int) ([]Record, []Step) {
	for _, c := range clusters {
		if c.Record.Moving {
			budget--
		}
	}
	records, steps := make([]Record, len(clusters)), make([]Step, len(clusters))
	for i, c := range clusters {
		records[i], steps[i] = Next(c.Name, c.Record, desired[i], schedulers)
		switch begins := steps[i] == Drain && !c.Record.Moving && !c.Leaving; {
		case !begins:
		case budget <= 0:
			records[i], steps[i] = c.Record, Stay
		default:
			budget--
		}
	}
	return records, steps
}
