// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package clusterresource

import (
	"cmp"
	"context"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	corev1helpers "k8s.io/component-helpers/scheduling/corev1"
	fwk "k8s.io/kube-scheduler/framework"

	"berth.dev/berth/pkg/placement/pool"
	"berth.dev/berth/pkg/plugins/internal/ledger"
)

// maxTried bounds the nodes on which it is tried whether deleting pods of the node itself would help as well.
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
	plugin  *ClusterResource
	cycle   fwk.CycleState
	pod     *corev1.Pod
	state   *state
	holders []*ledger.Holder // those that could be made to go
	leaving []*ledger.Holder // those that are on their way out
	budgets []*policyv1.PodDisruptionBudget
	allowed []int32
}

func (p *ClusterResource) newDryRun(cycle fwk.CycleState, pod *corev1.Pod, s *state) *dryRun {
	d := &dryRun{plugin: p, cycle: cycle, pod: pod, state: s}
	priority := corev1helpers.PodPriority(pod)
	p.shared.Ledger.Holders(func(h *ledger.Holder) {
		switch {
		case !d.concerns(h.Charges) || !slices.ContainsFunc(h.Charges, p.shared.Grants.Mine):
		case d.isLeaving(h.Pod):
			d.leaving = append(d.leaving, h)
		case corev1helpers.PodPriority(h.Pod) < priority:
			d.holders = append(d.holders, h)
		}
	})
	slices.SortFunc(d.holders, func(a, b *ledger.Holder) int { return cmp.Compare(a.Pod.UID, b.Pod.UID) })
	// Without permission to read budgets nobody could tell whom they protect, and the list is empty.
	budgets, err := p.handle.SharedInformerFactory().Policy().V1().PodDisruptionBudgets().Lister().List(labels.Everything())
	if err == nil {
		d.budgets = budgets
	}
	for _, budget := range d.budgets {
		d.allowed = append(d.allowed, budget.Status.DisruptionsAllowed)
	}
	return d
}

// isLeaving says whether a pod is on its way out.
func (d *dryRun) isLeaving(pod *corev1.Pod) bool {
	return pod.DeletionTimestamp != nil || d.plugin.shared.Earmarks.dooms(pod.UID)
}

func (d *dryRun) concerns(charges []pool.Charge) bool {
	for i := range d.state.claims {
		if slices.ContainsFunc(charges, func(c pool.Charge) bool { return c.Resource == d.state.claims[i].request.Resource }) {
			return true
		}
	}
	return false
}

// releaseSuffices says whether the pod fits on some node once the pods that are terminating have gone.
func (d *dryRun) releaseSuffices(ctx context.Context, nodes []fwk.NodeInfo) bool {
	if len(d.leaving) == 0 {
		return false
	}
	for _, info := range nodes {
		t := d.try(info)
		for _, h := range d.leaving {
			t.remove(ctx, h.Pod)
		}
		for _, other := range slices.Clone(t.node.GetPods()) {
			if d.isLeaving(other.GetPod()) {
				t.remove(ctx, other.GetPod())
			}
		}
		if t.fits(ctx) {
			return true
		}
	}
	return false
}

// best returns the cheapest plan, nil if there is none.
func (d *dryRun) best(ctx context.Context, nodes []fwk.NodeInfo) *plan {
	var best *plan
	sites, tried := map[string]bool{}, 0
	consider := func(candidate *plan) {
		if candidate != nil && (best == nil || candidate.cost.Compare(best.cost) < 0) {
			best = candidate
		}
	}
	var unfit []fwk.NodeInfo
	for _, info := range nodes {
		site := d.state.siteKey(info.Node().Name)
		if sites[site] {
			continue // another node with the same pools serves as well
		}
		candidate, fits := d.remote(ctx, info)
		if !fits {
			unfit = append(unfit, info)
			continue
		}
		sites[site] = true
		consider(candidate)
	}
	for _, info := range unfit {
		if sites[d.state.siteKey(info.Node().Name)] || tried == maxTried {
			continue
		}
		tried++
		consider(d.local(ctx, info))
	}
	return best
}

// siteKey is the same for nodes that draw on the same pools for every claim.
func (s *state) siteKey(node string) string {
	key := make([]byte, 0, 4*len(s.claims))
	for i := range s.claims {
		site, _ := s.claims[i].places.SiteOf(node)
		key = append(key, byte(site), byte(site>>8), byte(site>>16), byte(site>>24))
	}
	return string(key)
}

// remote is the plan for a node on which nothing else is in the way. Fits is false if something is.
func (d *dryRun) remote(ctx context.Context, info fwk.NodeInfo) (found *plan, fits bool) {
	victims, ok := d.victims(d.state, info.Node().Name, d.holders)
	if !ok {
		return nil, true // no node with these pools can be helped
	}
	t := d.try(info)
	for _, victim := range victims {
		t.remove(ctx, victim.Pod)
	}
	if !t.fits(ctx) {
		return nil, false
	}
	return d.plan(t, victims, nil), true
}

// local is the plan for a node on which other pods are in the way too: as many of them make way as must.
func (d *dryRun) local(ctx context.Context, info fwk.NodeInfo) *plan {
	t := d.try(info)
	var others []*corev1.Pod
	for _, other := range slices.Clone(t.node.GetPods()) {
		if pod := other.GetPod(); corev1helpers.PodPriority(pod) < corev1helpers.PodPriority(d.pod) {
			others = append(others, pod)
			t.remove(ctx, pod)
		}
	}
	for _, h := range d.holders {
		t.remove(ctx, h.Pod)
	}
	if !t.fits(ctx) {
		return nil
	}
	slices.SortFunc(others, func(a, b *corev1.Pod) int {
		return cmp.Or(cmp.Compare(corev1helpers.PodPriority(b), corev1helpers.PodPriority(a)), d.started(a).Compare(d.started(b)))
	})
	var gone []*corev1.Pod
	for _, pod := range others {
		if t.add(ctx, pod); !t.fits(ctx) {
			t.remove(ctx, pod)
			gone = append(gone, pod)
		}
	}
	// What they hold is free as well, and the rest must come from others.
	after := d.try(info)
	for _, pod := range gone {
		after.remove(ctx, pod)
	}
	rest := slices.DeleteFunc(slices.Clone(d.holders), func(h *ledger.Holder) bool { return slices.Contains(gone, h.Pod) })
	victims, ok := d.victims(after.state, info.Node().Name, rest)
	if !ok {
		return nil
	}
	for _, victim := range victims {
		after.remove(ctx, victim.Pod)
	}
	if !after.fits(ctx) {
		return nil
	}
	return d.plan(after, victims, gone)
}

func (d *dryRun) plan(t *trial, victims []*ledger.Holder, others []*corev1.Pod) *plan {
	charges, ok := t.state.choose(t.node.Node().Name)
	if !ok {
		return nil
	}
	p := &plan{node: t.node.Node().Name, charges: charges, victims: others}
	for _, victim := range victims {
		p.victims = append(p.victims, victim.Pod)
	}
	costs := make([]*pool.Candidate, len(p.victims))
	for i, pod := range p.victims {
		costs[i] = d.candidate(pod)
	}
	p.cost = pool.CostOf(costs, d.allowed)
	return p
}

// victims returns which of the holders should make way so that the pools of a node suffice.
func (d *dryRun) victims(s *state, node string, holders []*ledger.Holder) ([]*ledger.Holder, bool) {
	lacks := make([]pool.Lack, len(s.claims))
	for i := range s.claims {
		c := &s.claims[i]
		site, known := c.places.SiteOf(node)
		if !known {
			return nil, false
		}
		lacks[i] = pool.Lack{AllOf: c.places.Resource().AllOf(), Pools: c.places.Pools(site)}
		for _, p := range lacks[i].Pools {
			lacks[i].Short = append(lacks[i].Short, pool.Short(c.free[p], c.units))
		}
	}
	candidates := make([]pool.Candidate, len(holders))
	for n, h := range holders {
		candidates[n] = *d.candidate(h.Pod)
		candidates[n].Frees = s.frees(h.Charges)
	}
	chosen, ok := pool.Victims(lacks, candidates, d.allowed)
	victims := make([]*ledger.Holder, len(chosen))
	for n, i := range chosen {
		victims[n] = holders[i]
	}
	return victims, ok
}

func (s *state) frees(charges []pool.Charge) []pool.Freed {
	var freed []pool.Freed
	for i := range s.claims {
		r := s.claims[i].places.Resource()
		for _, c := range charges {
			at, found := r.Index(c.Pool)
			if c.Resource != r.Name() || !found || !s.claims[i].grants.Mine(c) {
				continue
			}
			units := pool.UnitsUp(c.Quantity, r.Unit())
			freed = append(freed, pool.Freed{Claim: i, Pool: at, Units: units})
		}
	}
	return freed
}

func (d *dryRun) candidate(pod *corev1.Pod) *pool.Candidate {
	c := &pool.Candidate{Priority: corev1helpers.PodPriority(pod), Started: d.started(pod)}
	for i, budget := range d.budgets {
		if protects(budget, pod) {
			c.Budgets = append(c.Budgets, i)
		}
	}
	return c
}

func protects(budget *policyv1.PodDisruptionBudget, pod *corev1.Pod) bool {
	if budget.Namespace != pod.Namespace || len(pod.Labels) == 0 {
		return false
	}
	if _, already := budget.Status.DisruptedPods[pod.Name]; already {
		return false
	}
	selector, err := metav1.LabelSelectorAsSelector(budget.Spec.Selector)
	return err == nil && !selector.Empty() && selector.Matches(labels.Set(pod.Labels))
}

// started returns when the pod started, now if it has not.
func (d *dryRun) started(pod *corev1.Pod) time.Time {
	if pod.Status.StartTime != nil {
		return pod.Status.StartTime.Time
	}
	return d.plugin.shared.Clock.Now()
}
