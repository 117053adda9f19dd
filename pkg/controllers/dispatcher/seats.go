// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package dispatcher

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"berth.dev/berth/pkg/model/policy"
	"berth.dev/berth/pkg/model/workload"
	"berth.dev/berth/pkg/placement/apportion"
	"berth.dev/berth/pkg/placement/policymatch"
)

// decideWorkload gives the waiting pods of a workload with a policy to the homes of the clusters that have free seats for them.
func (p *pass) decideWorkload(
	index *policymatch.Index, compiled policy.Set, o *workload.Observed, seated map[types.UID]bool,
) {
	if o.Pending(true) == 0 || !slices.Contains(p.SchedulerNames, o.Scheduler) {
		return
	}
	object, _, err := policy.InForce(index, o.Selectable(), policy.RequestOfWorkload(o))
	if err != nil || object == nil {
		return
	}
	inForce := compiled.Of(object)
	if inForce.Err != nil {
		return // the scheduler tells the pods
	}
	var revisions []workload.Revision
	pods := map[workload.Revision][]*corev1.Pod{}
	for _, pod := range o.Pods {
		revision, _ := workload.RevisionOf(pod)
		if pods[revision] == nil {
			revisions = append(revisions, revision)
		}
		pods[revision] = append(pods[revision], pod)
	}
	for _, revision := range revisions {
		p.notePolicy(inForce, pods[revision])
		s := &share{pass: p, seats: inForce.Order, observed: o}
		s.count(pods[revision])
		for _, pod := range s.waiting {
			if h := s.homeFor(pod); h != "" {
				p.assign(pod, h)
				seated[pod.UID] = true
			}
		}
		s.rest(seated, inForce.Strict())
	}
}

// share is one revision of a workload with the seats that it has.
type share struct {
	*pass
	seats    *apportion.Order
	observed *workload.Observed
	plan     *apportion.Plan // nil if the number of replicas is not known
	held     []int64         // by cluster
	free     map[string]int  // seats by home
	of       map[string]bool // homes of the clusters of the policy
	waiting  []*corev1.Pod
	turn     string // home of the cluster whose turn it is, if the number of replicas is not known
}

// count finds out which seats are free at which home.
func (s *share) count(pods []*corev1.Pod) {
	s.held, s.free, s.of = make([]int64, s.seats.Len()), map[string]int{}, map[string]bool{}
	for _, pod := range pods {
		if pod.Spec.NodeName == "" {
			if slices.Contains(s.SchedulerNames, pod.Spec.SchedulerName) {
				s.waiting = append(s.waiting, pod)
			}
			continue
		}
		if i, named := s.seats.Index(s.topology.ClusterOf(pod)); named {
			s.held[i]++
		}
	}
	s.findSeats()
	// Whoever has a home with a free seat keeps it, so they come first.
	slices.SortStableFunc(s.waiting, func(a, b *corev1.Pod) int { return s.rank(a) - s.rank(b) })
}

// findSeats finds out which homes have clusters of the policy, and how many free seats.
func (s *share) findSeats() {
	if s.observed.ReplicasKnown {
		s.plan = s.seats.Plan(int64(s.observed.Replicas))
	}
	var admitted reach
	if len(s.waiting) > 0 {
		admitted = s.reachOf(s.waiting[0]) // pods of a revision have the same template
	}
	for i := range s.seats.Len() {
		h := s.homeOf[s.seats.Name(i)]
		if h == "" || !admitted.admits(s.seats.Name(i)) {
			continue
		}
		s.of[h] = true
		if s.plan != nil {
			s.free[h] += max(0, s.plan.Share(i)-int(s.held[i]))
		}
	}
	if s.plan == nil {
		for _, i := range s.seats.Ranking(s.held) {
			if h := s.homeOf[s.seats.Name(int(i))]; h != "" {
				s.turn = h
				break
			}
		}
	}
}

func (s *share) rank(pod *corev1.Pod) int {
	if s.of[s.homeNow(pod)] {
		return 0
	}
	return 1
}

// homeFor returns the home of a seat for the pod, which it takes up, empty if no seat is known to be free.
func (s *share) homeFor(pod *corev1.Pod) string {
	if ordinal, fixed := workload.Ordinal(pod, s.observed.FirstOrdinal); fixed {
		return s.homeOfSeat(ordinal)
	}
	present := s.homeNow(pod)
	switch {
	case s.plan == nil && s.of[present] && !s.inVain(pod):
		return present
	case s.plan == nil && s.turn == present:
		return "" // it was tried there in vain
	case s.plan == nil:
		return s.turn
	}
	best := present
	if s.free[present] <= 0 {
		for _, name := range s.order {
			if s.free[name] > s.free[best] {
				best = name
			}
		}
	}
	if s.free[best] <= 0 {
		return ""
	}
	s.free[best]--
	return best
}

// homeOfSeat returns the home of the cluster that owns a seat.
func (s *share) homeOfSeat(seat int32) string {
	if seat >= apportion.MaxSeats {
		return ""
	}
	cluster, found := s.seats.Plan(int64(seat) + 1).Owner(int64(seat))
	if !found {
		return ""
	}
	return s.homeOf[s.seats.Name(cluster)]
}

// rest gives pods without a seat to some home of the policy, or to any if the policy lets them go anywhere.
func (s *share) rest(seated map[types.UID]bool, strict bool) {
	only := s.of
	if !strict || len(only) == 0 {
		only = nil
	}
	for _, pod := range s.waiting {
		if !seated[pod.UID] {
			s.decidePod(pod, only)
			seated[pod.UID] = true
		}
	}
}
