// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package preemption

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	corev1helpers "k8s.io/component-helpers/scheduling/corev1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/utils/ptr"

	"berth.dev/berth/pkg/placement/pool"
	"berth.dev/berth/pkg/plugins/internal/ledger"
)

// maxTried bounds the nodes on which it is tried whether deleting pods of the node itself would
// help as well.
const maxTried = 100

// plan is who makes way for a pod and where it goes then.
type plan struct {
	node    string
	victims []*corev1.Pod
	charges []pool.Charge
	cost    pool.Cost
}

// dryRun finds out who would have to make way for a pod.
type dryRun struct {
	*Preemptor

	cycle   fwk.CycleState
	pod     *corev1.Pod
	claims  Claims
	holders []*ledger.Holder // those that could be made to go
	leaving []*ledger.Holder // those that are on their way out
	budgets []*policyv1.PodDisruptionBudget
	allowed []int32
}

func (p *Preemptor) newDryRun(cycle fwk.CycleState, pod *corev1.Pod) *dryRun {
	d := &dryRun{Preemptor: p, cycle: cycle, pod: pod, claims: p.Claims(cycle)}
	p.Holders.Holders(func(h *ledger.Holder) {
		switch {
		case !d.claims.Concerns(h.Charges) || !slices.ContainsFunc(h.Charges, p.Mine):
		case d.isLeaving(h.Pod):
			d.leaving = append(d.leaving, h)
		case d.isLower(h.Pod):
			d.holders = append(d.holders, h)
		}
	})
	slices.SortFunc(d.holders, func(a, b *ledger.Holder) int { return cmp.Compare(a.Pod.UID, b.Pod.UID) })
	d.readBudgets()
	return d
}

// isLeaving reports whether a pod is on its way out.
func (d *dryRun) isLeaving(pod *corev1.Pod) bool {
	return pod.DeletionTimestamp != nil || d.Earmarks.isVictim(pod.UID)
}

// isLower reports whether a pod is of lower priority than the one that others are to make way for.
func (d *dryRun) isLower(pod *corev1.Pod) bool {
	return corev1helpers.PodPriority(pod) < corev1helpers.PodPriority(d.pod)
}

// releaseSuffices reports whether the pod fits on some node once the pods that are terminating have
// gone, and returns what it is charged there.
func (d *dryRun) releaseSuffices(ctx context.Context, nodes []fwk.NodeInfo) (charges []pool.Charge, suffices bool) {
	if len(d.leaving) == 0 {
		return nil, false
	}
	for _, info := range nodes {
		if t := d.afterLeaving(ctx, info); t.fits(ctx) {
			charges, _ = t.claims.Choose(info.Node().Name)
			return charges, true
		}
	}
	return nil, false
}

// afterLeaving returns a trial of a node from which those have gone that are on their way out. They
// give back what they hold whoever else makes way, so they are never among the victims.
func (d *dryRun) afterLeaving(ctx context.Context, info fwk.NodeInfo) *trial {
	t := d.newTrial(info)
	t.removeHolders(ctx, d.leaving)
	t.removeOnNode(ctx, d.isLeaving)
	return t
}

// graceOf returns the longest time that some pods have to end.
func graceOf(pods iter.Seq[*corev1.Pod]) time.Duration {
	grace := int64(0)
	for pod := range pods {
		grace = max(grace, ptr.Deref(pod.DeletionGracePeriodSeconds, 0), ptr.Deref(pod.Spec.TerminationGracePeriodSeconds, 0))
	}
	return time.Duration(grace) * time.Second
}

// leavingPods yields the pods that are on their way out.
func (d *dryRun) leavingPods(yield func(*corev1.Pod) bool) {
	for _, h := range d.leaving {
		if !yield(h.Pod) {
			return
		}
	}
}

// going yields the pods on which a plan relies: its victims, and those that are on their way out.
func (d *dryRun) going(p *plan) iter.Seq[*corev1.Pod] {
	return func(yield func(*corev1.Pod) bool) {
		for _, victim := range p.victims {
			if !yield(victim) {
				return
			}
		}
		d.leavingPods(yield)
	}
}

// best returns the cheapest plan, nil if there is none. Nodes that draw on the same pools are
// helped by the same victims, so one of them stands for all, if nothing else is in the way on it.
func (d *dryRun) best(ctx context.Context, nodes []fwk.NodeInfo) *plan {
	var best *plan
	consider := func(candidate *plan) {
		if candidate != nil && (best == nil || candidate.cost.Compare(best.cost) < 0) {
			best = candidate
		}
	}
	done := map[string]bool{}
	var unfit []fwk.NodeInfo
	for _, info := range nodes {
		site := d.claims.SiteKey(info.Node().Name)
		if done[site] {
			continue
		}
		candidate, fits := d.selectHolders(ctx, d.afterLeaving(ctx, info), nil)
		if !fits {
			unfit = append(unfit, info)
			continue
		}
		done[site] = true
		consider(candidate)
	}
	tried := 0
	for _, info := range unfit {
		if done[d.claims.SiteKey(info.Node().Name)] || tried == maxTried {
			continue
		}
		tried++
		consider(d.selectVictimsOnNode(ctx, info))
	}
	return best
}

// selectVictimsOnNode is the plan for a node on which other pods are in the way as well. Like its
// namesake in the stock scheduler it removes all pods of lower priority, and reprieves as many of
// them as it can; the holders are chosen after that.
func (d *dryRun) selectVictimsOnNode(ctx context.Context, info fwk.NodeInfo) *plan {
	t := d.afterLeaving(ctx, info)
	potential := t.removeOnNode(ctx, d.isLower)
	t.removeHolders(ctx, d.holders)
	if !t.fits(ctx) {
		return nil
	}
	victims := d.reprieve(ctx, t, potential)
	// What the victims hold is free as well, and only the rest must come from other holders.
	t = d.afterLeaving(ctx, info)
	for _, victim := range victims {
		t.remove(ctx, victim)
	}
	found, _ := d.selectHolders(ctx, t, victims)
	if found == nil {
		return nil
	}
	// A holder that goes may be on this node, too, so that not all the others need to go for its room.
	holders := found.victims[len(victims):]
	return d.plan(t, append(d.reprieve(ctx, t, victims), holders...))
}

// reprieve puts potential victims back on their node, the most important first, and returns those
// with which the pod would not fit.
func (d *dryRun) reprieve(ctx context.Context, t *trial, potential []*corev1.Pod) (victims []*corev1.Pod) {
	candidates := make([]pool.Holder, len(potential))
	for i, pod := range potential {
		candidates[i] = d.candidate(pod)
	}
	for _, i := range pool.ByImportance(candidates) {
		if t.add(ctx, potential[i]); !t.fits(ctx) {
			t.remove(ctx, potential[i])
			victims = append(victims, potential[i])
		}
	}
	return victims
}

// selectHolders chooses who else must make way on a node from which the victims have been removed,
// so that its pools suffice. There is no plan if all holders together would not do. Fits is false
// if there would be enough, and something else is in the way.
func (d *dryRun) selectHolders(ctx context.Context, t *trial, victims []*corev1.Pod) (found *plan, fits bool) {
	lacks, known := t.claims.Lacks(t.node.Node().Name)
	if !known {
		return nil, true
	}
	holders := slices.DeleteFunc(slices.Clone(d.holders), func(h *ledger.Holder) bool {
		return slices.Contains(victims, h.Pod)
	})
	candidates := make([]pool.Holder, len(holders))
	for i, h := range holders {
		candidates[i] = d.candidate(h.Pod)
		candidates[i].Frees = d.claims.Frees(h.Charges)
	}
	chosen, enough := pool.Victims(lacks, candidates, d.allowed)
	if !enough {
		return nil, true
	}
	for _, i := range chosen {
		victims = append(victims, holders[i].Pod)
		t.remove(ctx, holders[i].Pod)
	}
	if !t.fits(ctx) {
		return nil, false
	}
	return d.plan(t, victims), true
}

// plan returns the plan by which the victims make way on the node of a trial, nil if its pools have
// not enough all the same.
func (d *dryRun) plan(t *trial, victims []*corev1.Pod) *plan {
	node := t.node.Node().Name
	charges, ok := t.claims.Choose(node)
	if !ok {
		return nil
	}
	costs := make([]*pool.Holder, len(victims))
	for i, pod := range victims {
		c := d.candidate(pod)
		costs[i] = &c
	}
	return &plan{node: node, charges: charges, victims: victims, cost: pool.CostOf(costs, d.allowed)}
}
