// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package rebalance

import (
	"cmp"
	"slices"
	"time"

	"berth.dev/berth/pkg/placement/apportion"
)

// Vacancy is what a cluster of the policy can take at present.
type Vacancy struct {
	// Ready reports whether a node of the cluster takes pods at all. A cluster that does not exist
	// is not ready.
	Ready bool
	// Room is how many more pods of the workload the nodes of the cluster would take now. Callers
	// may stop counting at the number of replicas by which the cluster is short.
	Room int
}

// Round is all that decides one round of evictions of one workload.
type Round struct {
	// Plan is the seat order of the policy for the replicas that the workload wants.
	Plan *apportion.Plan
	// Clusters are the clusters by their index in the seat order.
	Clusters []Vacancy
	// Pods are the bound replicas. Their places are not looked at, but their costs are.
	Pods []Replica
	// Never is Forbidden, JobPods, UnknownWorkload or Undivided if no pods of the workload are to be
	// evicted.
	Never Reason
	// RolloutFinished says that all pods of the workload are of the revision that counts, and that
	// its controller knows of the latest change.
	RolloutFinished bool
	// Pending is the number of pods of the workload, of any revision, that are not bound.
	Pending int
	// Stuck is how many of these have found no node for so long that they hold nobody else back, and
	// StuckIn when there will be one more if nothing changes, 0 for never.
	Stuck   int
	StuckIn time.Duration
	// MaxUnavailable is how many replicas may be missing at once; see MaxUnavailableOf.
	MaxUnavailable int
	// MinPodAge is how long a pod must have been running.
	MinPodAge time.Duration
	// Fresh is for how long others go before a pod, where its cluster has others: one that was made
	// because another one had to move is not to move again so soon. 0 lets it go as any other.
	Fresh time.Duration
	// FreshStay keeps pods that are fresh where they are, unless they are Unwanted there: others have
	// had to move of late, and they may be the replacements. SettledIn is when that is over if nothing
	// else happens, 0 if nobody knows.
	FreshStay bool
	SettledIn time.Duration
	// Cooldown is how long the last round must be over.
	Cooldown time.Duration
	// SinceRound is how long the last round is over, or for how long its end could have been seen.
	SinceRound time.Duration
}

// Victim is a pod to be evicted.
type Victim struct {
	// Pod is the index of the pod.
	Pod int
	// To is the index of the cluster that is short of a replica and has room for it.
	To int
}

// Decision is the outcome of a round.
type Decision struct {
	// Victims are the pods to evict, in order.
	Victims []Victim
	// Held says why other misplaced pods stay.
	Held Reason
	// RetryAfter is when time alone may change the decision. 0 means that it will not.
	RetryAfter time.Duration
}

// Decide chooses the pods of a workload that are to be evicted now. They are never more than are
// misplaced, than other clusters are short of and have room for, and than the policy allows to be
// missing. A pod that is not ready is missing already, so to evict it costs nothing of what the
// policy allows; still no round takes more pods than that. While nobody is missing but those who
// are stuck, one pod may be evicted, however few may be missing: otherwise one that can never run
// would keep all others where they are.
//
// A pod that may go at any time, because it was Asked to, counts as one of those that go, and goes
// before all others. Pods that are not ready go next, then those that are not fresh, then those
// with the lowest deletion cost, then the youngest.
func Decide(round *Round) Decision {
	t := newTally(round.Plan, len(round.Clusters), round.Pods)
	if t.misplaced == 0 {
		return Decision{}
	}
	if held := round.Guard(); held != "" {
		d := Decision{Held: held}
		switch held {
		case Cooldown:
			d.RetryAfter = round.Cooldown - round.SinceRound
		case PodsPending, ReplicasMissing:
			d.RetryAfter = round.StuckIn
		}
		return d
	}
	return newChoice(round, t).run()
}

// Guard returns what forbids evictions of the workload as a whole, empty if nothing does. It does
// not look at the room of the clusters.
func (r *Round) Guard() Reason {
	notReady := 0
	for i := range r.Clusters {
		if !r.Clusters[i].Ready {
			notReady++
		}
	}
	wanted := r.Plan.Replicas()
	switch bound := int64(len(r.Pods)); {
	case r.Never != "":
		return r.Never
	case 2*notReady > len(r.Clusters):
		return ClustersNotReady
	case !r.RolloutFinished:
		return RolloutUnderWay
	case r.Pending > r.Stuck:
		return PodsPending
	case bound+int64(r.Stuck) < wanted:
		return ReplicasMissing
	case bound > wanted:
		return ReplicasTooMany
	case r.SinceRound < r.Cooldown:
		return Cooldown
	}
	return ""
}

// choice is the state while victims are chosen.
type choice struct {
	*Round
	*tally
	decision Decision
	// ready is how many ready pods may still be evicted, left how many pods at all.
	ready, left int
	// asked is how many of those that must stay now may go all the same.
	asked int
	// short is how many replicas each cluster can still be given.
	short []int
	seen  map[Reason]bool
}

func newChoice(round *Round, t *tally) *choice {
	c := &choice{Round: round, tally: t, left: round.MaxUnavailable, seen: map[Reason]bool{}}
	serving := 0
	for i := range round.Pods {
		if round.Pods[i].Ready {
			serving++
		}
	}
	missing := int(round.Plan.Replicas()) - serving
	c.ready = round.MaxUnavailable - missing
	if round.Stuck > 0 && missing <= round.Stuck {
		c.ready = max(1, c.ready)
	}
	c.short = make([]int, len(round.Clusters))
	for i := range round.Clusters {
		if round.Clusters[i].Ready {
			c.short[i] = min(max(0, -t.surplus[i]), round.Clusters[i].Room)
		}
	}
	return c
}

func (c *choice) run() Decision {
	for _, i := range c.candidates() {
		p := &c.Pods[i]
		if len(c.decision.Victims)+c.asked == c.misplaced {
			break
		}
		if p.Cluster != Elsewhere && c.surplus[p.Cluster] <= 0 {
			continue
		}
		to, held := c.consider(p)
		if held == "" {
			c.take(p, to)
			c.decision.Victims = append(c.decision.Victims, Victim{Pod: i, To: to})
			continue
		}
		c.seen[held] = true
		if p.Asked {
			to, _ = c.receiver(p)
			c.take(p, to)
			c.asked++
		}
	}
	if len(c.decision.Victims) == c.misplaced {
		c.decision.RetryAfter = 0
		return c.decision
	}
	for _, reason := range podReasons {
		if c.seen[reason] {
			c.decision.Held = reason
			break
		}
	}
	return c.decision
}

// candidates are the pods that may be misplaced, the first to go first. Of pods with fixed seats
// those come first whose place is in a cluster that is short: others only make room there.
func (c *choice) candidates() []int {
	var candidates []int
	for i := range c.Pods {
		p := &c.Pods[i]
		if (p.Cluster == Elsewhere || c.surplus[p.Cluster] > 0) && (!p.Fixed || misfit(c.Plan, p)) {
			candidates = append(candidates, i)
		}
	}
	slices.SortFunc(candidates, func(a, b int) int {
		p, q := &c.Pods[a], &c.Pods[b]
		return cmp.Or(
			compareBool(!p.Asked, !q.Asked),
			compareBool(!c.direct(p), !c.direct(q)),
			compareBool(p.Ready, q.Ready),
			compareBool(p.Age < c.Fresh, q.Age < c.Fresh),
			cmp.Compare(p.Cost, q.Cost),
			cmp.Compare(p.Age, q.Age),
			cmp.Compare(p.Name, q.Name),
		)
	})
	return candidates
}

// direct reports whether the cluster that owns the seat of a pod is short of replicas; it is true
// of pods without a fixed seat.
func (c *choice) direct(p *Replica) bool {
	owner, _ := c.Plan.Owner(int64(p.Seat))
	return !p.Fixed || c.surplus[owner] < 0
}

// consider returns where a replacement of the pod would go, or why the pod must stay.
func (c *choice) consider(p *Replica) (to int, held Reason) {
	if p.Keep != Movable {
		return 0, keepReasons[p.Keep]
	}
	if c.wait(c.MinPodAge - p.Age) {
		return 0, PodsTooYoung
	}
	if c.FreshStay && !p.Unwanted && c.wait(c.Fresh-p.Age) {
		c.wait(c.SettledIn)
		return 0, PodsMoved
	}
	to, ok := c.receiver(p)
	switch {
	case !ok:
		return 0, NoRoom
	case c.left <= 0, p.Ready && c.ready <= 0:
		return 0, MaxUnavailable
	}
	return to, ""
}

// wait reports whether a pod stays for a while, after which it is decided again.
func (c *choice) wait(d time.Duration) bool {
	if d > 0 && (c.decision.RetryAfter == 0 || d < c.decision.RetryAfter) {
		c.decision.RetryAfter = d
	}
	return d > 0
}

// receiver returns the cluster that would take the replacement: the one that owns a fixed seat,
// otherwise the one that can be given most.
func (c *choice) receiver(p *Replica) (cluster int, ok bool) {
	if p.Fixed {
		owner, _ := c.Plan.Owner(int64(p.Seat))
		return owner, c.Clusters[owner].Ready && p.Fits
	}
	most := 0
	for i, n := range c.short {
		if n > most {
			cluster, most = i, n
		}
	}
	return cluster, most > 0
}

// take counts a pod as one that goes, and its replacement where it would come.
func (c *choice) take(p *Replica, to int) {
	c.left--
	if p.Ready {
		c.ready--
	}
	if p.Fixed {
		c.surplus[to]++
	} else {
		c.short[to]--
	}
	if p.Cluster != Elsewhere {
		c.surplus[p.Cluster]--
	}
}

// compareBool orders false before true.
func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	default:
		return 1
	}
}
