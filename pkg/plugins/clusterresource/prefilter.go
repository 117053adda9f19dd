// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package clusterresource

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	"berth.dev/berth/pkg/model/demand"
	"berth.dev/berth/pkg/placement/pool"
	"berth.dev/berth/pkg/plugins/clusterresource/internal/spending"
	"berth.dev/berth/pkg/plugins/internal/catalog"
	"berth.dev/berth/pkg/plugins/internal/guard"
	"berth.dev/berth/pkg/plugins/internal/waitlist"
)

// PreFilter reads what the pod asks for and how much of it each pool has left, and names nodes
// whose pools have enough.
func (p *ClusterResource) PreFilter(
	ctx context.Context, cycle fwk.CycleState, pod *corev1.Pod, nodes []fwk.NodeInfo,
) (result *fwk.PreFilterResult, status *fwk.Status) {
	defer guard.Rescue(ctx, Name, "PreFilter", &status)
	if !demand.Asks(pod) {
		return nil, skip
	}
	requests, err := demand.Of(pod)
	if err != nil {
		p.unusable(pod)
		return nil, fwk.NewStatus(fwk.UnschedulableAndUnresolvable, err.Error())
	}
	if len(requests) == 0 {
		return nil, skip
	}
	resources := p.shared.Catalog.Snapshot()
	if status := p.unready(pod, resources); status != nil {
		return nil, status
	}
	began := p.shared.Waiting.Now()
	allowed, late := p.shared.Grants.Allowance(), p.shared.Late.Beside(pod.UID)
	p.shared.View.Refresh(nodes, p.shared.Membership())
	p.shared.Ledger.Refresh(resources)

	p.shared.Earmarks.SetFailed(pod.UID, false)
	s := &state{
		claims: make([]claim, len(requests)), allowed: allowed, cycle: waitlist.Cycle{Began: began, Holds: p.holds},
	}
	for i, request := range requests {
		if status := p.claim(&s.claims[i], request, resources.Get(request.Resource), allowed, late); status != nil {
			p.unusable(pod)
			return nil, status
		}
	}
	p.publish(s)
	for _, charges := range p.shared.Earmarks.Against(pod, p.shared.Ledger.Owed) {
		s.book(charges, -1)
	}
	if allowed.Limited {
		s.withhold(pod, p.shared.Ahead)
	}
	p.kept.Write(cycle, stateKey, s, &s.entry)
	if status := p.hopeless(cycle, pod, s, nodes); status != nil {
		return nil, status
	}
	return p.name(cycle, pod, s, nodes), nil
}

// unusable notes that a pod cannot be given what it asks for as it is, whatever becomes free.
func (p *ClusterResource) unusable(pod *corev1.Pod) {
	p.shared.Earmarks.Drop(pod.UID)
	p.shared.Waiting.Rejected(pod, nil, false, 0)
}

// withhold leaves what becomes free to pods of other schedulers that come first.
func (s *state) withhold(pod *corev1.Pod, ahead *spending.Ahead) {
	for i := range s.claims {
		c := &s.claims[i]
		ahead.Withhold(pod, c.places.Resource(), c.free, c.all)
	}
}

// publish lets the pods that wait know what this cycle found free, and what pods hold that somebody
// else placed.
func (p *ClusterResource) publish(s *state) {
	s.seen = p.shared.Waiting.Observe(&s.cycle, p.shared.Ledger.Strays(), s.found)
}

// found yields what is free for each claim.
func (s *state) found(yield func(waitlist.Found) bool) {
	for i := range s.claims {
		c := &s.claims[i]
		if !yield(waitlist.Found{Resource: c.places.Resource(), Own: c.free, All: c.all}) {
			return
		}
	}
}

// hopeless judges the claims, and says why no node can help, nil if one may: thousands of pods can
// wait for one licence, and none of them need look at thousands of nodes.
func (p *ClusterResource) hopeless(cycle fwk.CycleState, pod *corev1.Pod, s *state, nodes []fwk.NodeInfo) *fwk.Status {
	for i := range s.claims {
		s.claims[i].setVerdicts()
	}
	for i := range s.claims {
		if v, everywhere := s.claims[i].everywhere(); everywhere {
			p.shared.Waiting.Rejected(pod, needsOf(pod, s, nodes, p.shared.Left(cycle)), s.usedUpEverywhere(), s.seen)
			return s.claims[i].status(v)
		}
	}
	p.shared.Waiting.Served(pod.UID, s.seen)
	return nil
}

// unready says why the account cannot be relied upon, nil if it can.
func (p *ClusterResource) unready(pod *corev1.Pod, resources *catalog.Resources) *fwk.Status {
	switch {
	case resources == nil:
		return fwk.NewStatus(fwk.UnschedulableAndUnresolvable, errReasonUnreadable)
	case !p.shared.Seed.Done():
		return fwk.NewStatus(fwk.UnschedulableAndUnresolvable, errReasonUncounted)
	case p.shared.Pending.Unseen(pod.UID):
		return fwk.NewStatus(fwk.UnschedulableAndUnresolvable, errReasonBound)
	}
	return nil
}

// claim fills in a claim, and says why it can never be met as it is.
func (p *ClusterResource) claim(
	c *claim, request pool.Request, known *catalog.Resource, allowed spending.Allowance,
	late spending.LateClaims,
) *fwk.Status {
	switch {
	case known == nil:
		return fwk.NewStatus(fwk.UnschedulableAndUnresolvable, fmt.Sprintf(errReasonNotFound, request.Resource))
	case known.Deleting:
		return fwk.NewStatus(fwk.UnschedulableAndUnresolvable, fmt.Sprintf(errReasonDeleting, request.Resource))
	case known.Err != nil:
		return fwk.NewStatus(fwk.UnschedulableAndUnresolvable, fmt.Sprintf(errReasonInvalid, request.Resource))
	}
	units, err := pool.Units(request.Quantity, known.Pools.Unit())
	if errors.Is(err, pool.ErrTooFine) {
		return fwk.NewStatus(fwk.UnschedulableAndUnresolvable, fmt.Sprintf(errReasonTooFine, request.Resource))
	}
	places := p.shared.Ledger.Places(request.Resource)
	all := p.shared.Ledger.Free(known.Pools)
	*c = claim{
		request: request, units: units, places: places, grants: p.shared.Grants,
		free: late.Withhold(known.Pools, allowed.Limit(known.Pools, p.shared.Ledger.Own, all)), all: all,
		verdict: make([]verdict, places.Sites()), why: rejectionsOf(request.Resource),
	}
	return nil
}

// everywhere returns the verdict on all nodes, if it is the same. Of nodes whose pools are used up
// and others without a pool the former count.
func (c *claim) everywhere() (v verdict, same bool) {
	v = noPool
	for site, other := range c.verdict {
		if c.places.Nodes(int32(site)) == 0 {
			continue
		}
		if other == admitted {
			return admitted, false
		}
		v = min(v, other)
	}
	return v, true
}
