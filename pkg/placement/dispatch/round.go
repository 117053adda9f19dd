// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package dispatch

import (
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// Home is a scheduler that can place pods.
type Home struct {
	// Name is the name of the Scheduler.
	Name string
	// Union is what its clusters have together.
	Union *berthv1alpha1.ClusterUnion
	// Nodes is the number of nodes in its clusters.
	Nodes int
	// Commons is true for the scheduler that places pods on nodes in no cluster.
	Commons bool
}

// Pod is a waiting pod.
type Pod struct {
	// UID is that of the pod.
	UID types.UID
	// Label is the home that its label names, empty for none.
	Label string
	// Gang identifies the pods that must have the same home, empty for none. Members wait
	// for each other at their scheduler.
	Gang string
	// Unschedulable is true if the last attempt to place the pod found no node.
	Unschedulable bool
	// Seat is the number that the pod's controller gave it, or admit.NoSeat.
	Seat int32
}

// Round decides on the homes of all pods that wait. It is not safe for concurrent use.
type Round struct {
	now        time.Time
	state      uint64
	schedulers []Home // by name
	load       map[string]int
	gangs      map[string]string
	before     map[types.UID]Wait
	after      map[types.UID]Wait
	answered   sets.Set[types.UID]
	exhausted  sets.Set[types.UID]
}

// NewRound begins a round with the schedulers that can place pods, of which there must be
// one, and with what the round before remembered of pods. The state stands for everything that
// decides whether a pod finds a node: as long as it is the same, no home is worth a second try.
func NewRound(now time.Time, state uint64, schedulers []Home, waits map[types.UID]Wait) *Round {
	r := &Round{
		now: now, state: state, schedulers: slices.Clone(schedulers), load: map[string]int{}, gangs: map[string]string{},
		before: waits, after: map[types.UID]Wait{}, answered: sets.Set[types.UID]{}, exhausted: sets.Set[types.UID]{},
	}
	slices.SortFunc(r.schedulers, func(a, b Home) int { return strings.Compare(a.Name, b.Name) })
	return r
}

// Count counts a pod as load of its home. It must be called for each pod that waits before
// the first decision.
func (r *Round) Count(p *Pod) {
	r.load[r.home(p)]++
}

// Waits returns what the round remembers of the pods that it has decided on, by their UID.
func (r *Round) Waits() map[types.UID]Wait {
	return r.after
}

// Decided reports whether the round has decided on a pod.
func (r *Round) Decided(p *Pod) bool {
	return r.after[p.UID].Home != ""
}

// Moved returns the home that a pod was given, and reports whether it is another one than it
// had.
func (r *Round) Moved(p *Pod) (to string, moved bool) {
	to = r.after[p.UID].Home
	return to, to != r.home(p)
}

// WithNodes returns the schedulers that have nodes to place pods on.
func (r *Round) WithNodes() sets.Set[string] {
	names := sets.Set[string]{}
	for i := range r.schedulers {
		if s := &r.schedulers[i]; s.Nodes > 0 || s.Commons {
			names.Insert(s.Name)
		}
	}
	return names
}

// Join gives a pod the home of its gang, and reports false if there is none yet.
func (r *Round) Join(p *Pod) bool {
	to := r.gangs[p.Gang]
	if to != "" {
		r.assign(p, to)
	}
	return to != ""
}

// Eligible returns the homes that come into question for a pod: those that it can reach, as
// far as only names them; nil names all. It returns all schedulers if none is left, because
// somebody must tell the user that there is no node.
func (r *Round) Eligible(reached, only sets.Set[string]) sets.Set[string] {
	if only != nil {
		reached = reached.Intersection(only)
	}
	if reached.Len() > 0 {
		return reached
	}
	all := sets.Set[string]{}
	for i := range r.schedulers {
		all.Insert(r.schedulers[i].Name)
	}
	return all
}

// Fails reports whether the home of a pod has found no node for it for so long that it is worth
// asking who has room for it. The answer is for [Share] or for Stay. It is true at most every ten
// seconds for a pod that was answered.
func (r *Round) Fails(p *Pod) bool {
	return p.Unschedulable && r.before[p.UID].fails(r.home(p), r.now)
}

// Stay leaves a pod with its present home if that is eligible and not in vain. A pod that Fails
// leaves it, too, if others of the eligible homes are roomy and it is not; a nil roomy says
// nothing. It reports whether the pod stays.
func (r *Round) Stay(p *Pod, eligible, roomy sets.Set[string]) bool {
	present := r.home(p)
	asked := roomy != nil && r.Fails(p)
	better := asked && !roomy.Has(present) && eligible.Intersection(roomy).Len() > 0
	stays := eligible.Has(present) && !better && !r.inVain(p, eligible)
	if asked {
		r.answered.Insert(p.UID)
	}
	if stays {
		r.decide(p, present)
	}
	return stays
}

// Move gives a pod that does not stay the best of the eligible homes, or, if some of them are
// roomy, the best of these. It is one that is worth a try if the present one was in vain.
func (r *Round) Move(p *Pod, eligible, roomy sets.Set[string], wish Preference) {
	if r.inVain(p, eligible) {
		eligible = r.untried(p, eligible)
	}
	if both := eligible.Intersection(roomy); both.Len() > 0 {
		eligible = both
	}
	candidates := make([]Contender, 0, eligible.Len())
	for i := range r.schedulers {
		if s := &r.schedulers[i]; eligible.Has(s.Name) {
			candidates = append(candidates, Contender{
				Name: s.Name, Grants: wish.Grants(s.Union), Load: r.load[s.Name], Size: s.Nodes,
			})
		}
	}
	r.decide(p, candidates[choose(candidates)].Name)
}

// decide gives a pod, and the gang that it is the first of, a home.
func (r *Round) decide(p *Pod, to string) {
	r.assign(p, to)
	if p.Gang != "" {
		r.gangs[p.Gang] = to
	}
}

// assign gives a pod a home, which may be the one that it has.
func (r *Round) assign(p *Pod, to string) {
	present, w := r.home(p), r.before[p.UID]
	if w.Home != present {
		w = Wait{Home: present, Since: r.now, State: r.state}
	}
	if r.answered.Has(p.UID) {
		w.Asked = r.now
	}
	if r.exhausted.Has(p.UID) {
		w.Exhausted = r.now
	}
	if to != present {
		r.load[present]--
		r.load[to]++
		w = w.next(to, p.Unschedulable, r.state, r.now)
	}
	r.after[p.UID] = w
}

// home returns the present home of a pod.
func (r *Round) home(p *Pod) string {
	return r.before[p.UID].home(p.Label, r.now)
}

// inVain reports whether the home of a pod has found no node for it for too long, and one of the
// eligible homes is worth a try.
func (r *Round) inVain(p *Pod, eligible sets.Set[string]) bool {
	if !p.Unschedulable || !r.before[p.UID].expired(r.home(p), r.now) {
		return false
	}
	if r.untried(p, eligible).Len() > 0 {
		return true
	}
	r.exhausted.Insert(p.UID)
	return false
}

// untried returns those of some homes that are worth a try for a pod.
func (r *Round) untried(p *Pod, homes sets.Set[string]) sets.Set[string] {
	return r.before[p.UID].untried(r.home(p), homes, r.state)
}
