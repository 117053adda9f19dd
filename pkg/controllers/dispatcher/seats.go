// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package dispatcher

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"

	"berth.dev/berth/pkg/model/policy"
	"berth.dev/berth/pkg/model/workload"
	"berth.dev/berth/pkg/placement/dispatch"
)

// decideWorkload finds homes for the waiting pods of a workload with a policy: those of the
// clusters that have free seats for them, and for the rest some home of the policy, or any if the
// policy lets them go anywhere.
func (p *pass) decideWorkload(n *namespace, o *workload.Observed) {
	if o.Pending(true) == 0 || !slices.Contains(p.schedulerNames, o.Scheduler) {
		return
	}
	object, _, err := policy.InForce(n.index, o.Selectable(), policy.RequestOfWorkload(o))
	if err != nil || object == nil {
		return
	}
	inForce := n.policies.Of(object)
	if inForce.Err != nil {
		return // the scheduler tells the pods
	}
	for _, pods := range byRevision(o.Pods) {
		p.notePolicy(inForce, pods)
		waiting := p.waitingOf(o, pods)
		if len(waiting) == 0 {
			continue
		}
		seats := dispatch.NewSeats(p.shareOf(inForce, o, pods, p.reachOf(p.pods[waiting[0].UID])))
		var only sets.Set[string]
		if homes := seats.Homes(); homes.Len() > 0 && inForce.Strict() {
			only = homes
		}
		for _, rest := range p.round.Seat(waiting, seats) {
			p.decidePod(rest, only)
		}
	}
}

// byRevision returns the pods of each revision, in the order in which revisions appear.
func byRevision(pods []*corev1.Pod) [][]*corev1.Pod {
	var revisions [][]*corev1.Pod
	at := map[workload.Revision]int{}
	for _, pod := range pods {
		revision, _ := workload.RevisionOf(pod)
		i, known := at[revision]
		if !known {
			i = len(revisions)
			at[revision], revisions = i, append(revisions, nil)
		}
		revisions[i] = append(revisions[i], pod)
	}
	return revisions
}

// waitingOf returns those of the pods of a workload that wait, with their seats if these are fixed.
func (p *pass) waitingOf(o *workload.Observed, pods []*corev1.Pod) []*dispatch.Pod {
	var waiting []*dispatch.Pod
	for _, pod := range pods {
		if p.pods[pod.UID] == nil {
			continue
		}
		w := podOf(pod)
		if ordinal, fixed := workload.Ordinal(pod, o.FirstOrdinal); fixed {
			w.Seat = ordinal
		}
		waiting = append(waiting, w)
	}
	return waiting
}

// shareOf returns what the seats of a revision depend on. Its pods have the same template, so they
// reach the same clusters.
func (p *pass) shareOf(inForce *policy.Policy, o *workload.Observed, pods []*corev1.Pod, reached reach) *dispatch.Share {
	order, n := inForce.Order, inForce.Order.Len()
	share := &dispatch.Share{Order: order, Held: make([]int32, n), Homes: make([]string, n), Admitted: make([]bool, n)}
	if o.ReplicasKnown {
		share.Plan = inForce.Plan(o.Replicas)
	}
	for i := range n {
		share.Homes[i], share.Admitted[i] = p.homeOf[order.Name(i)], reached.admits(order.Name(i))
	}
	for _, pod := range pods {
		if i, named := order.Index(p.topology.ClusterOf(pod)); named && pod.Spec.NodeName != "" {
			share.Held[i]++
		}
	}
	return share
}
