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

// revision is the pods that share the seats of a policy: those of a workload that were made from
// one template, or all pods of the policy that have no controller.
type revision struct {
	policy   *policy.Policy
	workload *workload.Observed
	pods     []*corev1.Pod
}

// revisions returns the pods with a policy in force, in the order in which revisions appear.
func (p *pass) revisions(n *namespace) []*revision {
	var all []*revision
	at := map[workload.Revision]*revision{}
	for _, o := range n.workloads {
		inForce := p.inForce(n, o)
		if inForce == nil {
			continue
		}
		for _, pod := range o.Pods {
			key, _ := workload.RevisionUnder(pod, inForce.Object.Name)
			if at[key] == nil {
				at[key] = &revision{policy: inForce, workload: o}
				all = append(all, at[key])
			}
			at[key].pods = append(at[key].pods, pod)
		}
	}
	return all
}

// inForce returns the policy of a workload with pods that wait. It is nil if there is none, or if
// the scheduler tells the pods what is wrong with it.
func (p *pass) inForce(n *namespace, o *workload.Observed) *policy.Policy {
	// Pods without a controller are workloads of their own and share seats with others that wait.
	if o.Kind != "Pod" && o.Pending(true) == 0 || !slices.Contains(p.schedulerNames, o.Scheduler) {
		return nil
	}
	object, _, err := policy.InForce(n.index, o.Selectable(), policy.RequestOfWorkload(o))
	if err != nil || object == nil {
		return nil
	}
	if inForce := n.policies.Of(object); inForce.Err == nil {
		return inForce.For(&o.Workload)
	}
	return nil
}

// decideRevision finds homes for the waiting pods of a revision: those of the clusters that have
// free seats for them, and for the rest some home of the policy, or any if the policy lets them go
// anywhere.
func (p *pass) decideRevision(rev *revision) {
	waiting := p.waitingOf(rev.workload, rev.pods)
	if len(waiting) == 0 {
		return
	}
	p.notePolicy(rev.policy, rev.pods)
	share := p.shareOf(rev.policy, rev.workload, rev.pods, p.reachOf(p.pods[waiting[0].UID]))
	share.Room = p.roomAt(rev.policy.Order, waiting)
	seats := dispatch.NewSeats(share)
	var only sets.Set[string]
	if homes := seats.Homes(); homes.Len() > 0 && rev.policy.Strict() {
		only = homes
	}
	for _, rest := range p.round.Seat(waiting, seats) {
		p.decidePod(rest, only)
	}
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
	share := &dispatch.Share{
		Order: order, Held: make([]int32, n), Homes: make([]string, n), Admitted: make([]bool, n), Strict: inForce.Strict(),
	}
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
