// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package grants

import (
	"context"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/controllers/state"
	"berth.dev/berth/pkg/model/stamp"
	"berth.dev/berth/pkg/placement/grants"
)

// judge finds out who may be granted something, who is to give everything back, and who charges nothing any more.
func (p *pass) judge(ctx context.Context) error {
	takers := 0
	for name, s := range p.objects {
		keeps := s.Status.Spending != nil
		leaving := s.DeletionTimestamp != nil
		p.schedulers[name] = grants.Scheduler{Takes: state.IsAlive(s) && !leaving && keeps, Leaving: leaving && state.IsAlive(s) && keeps}
		if p.schedulers[name].Takes {
			takers++
		}
	}
	if takers == 0 {
		return nil // nobody could be given what others had
	}
	if err := p.settle(ctx); err != nil {
		return err
	}
	all, err := p.allKeep(ctx)
	if err != nil {
		return err
	}
	if !all {
		p.unsettled = true
		for name, s := range p.schedulers {
			s.Takes = false
			p.schedulers[name] = s
		}
	}
	return nil
}

// allKeep says whether every Scheduler keeps to its grants. One that has not said so may be the only one that it knows, unless no
// process has its Lease: a process that takes it looks first who else there is.
func (p *pass) allKeep(ctx context.Context) (bool, error) {
	for _, name := range slices.Sorted(maps.Keys(p.objects)) {
		s := p.objects[name]
		if s.Status.Spending != nil {
			continue
		}
		lease, err := p.Leases.Get(ctx, state.LeaseOf(s))
		if err != nil {
			return false, err
		}
		if !lease.Exists || lease.Holder == state.LeaseTaker {
			continue
		}
		if _, taken, err := p.Leases.Take(ctx, state.LeaseOf(s)); err != nil || !taken {
			return false, err
		}
	}
	return true, nil
}

// settle finds out what the pods of schedulers hold that have died, or that have been deleted and say that they have finished. What
// these may not charge any more, nobody may.
func (p *pass) settle(ctx context.Context) error {
	settling := map[string]bool{}
	for name := range p.grantees() {
		finished, err := p.finished(ctx, name)
		if err != nil {
			return err
		}
		if finished {
			settling[name] = true
		}
	}
	if len(settling) == 0 {
		return nil
	}
	complete, err := p.seen(ctx, settling)
	if err != nil {
		return err
	}
	if !complete {
		p.unsettled = true
		return nil
	}
	for name := range settling {
		p.schedulers[name] = grants.Scheduler{Settled: true}
	}
	return nil
}

// finished says whether a scheduler charges nothing any more. Of one that has died that is certain once its Lease has been taken.
func (p *pass) finished(ctx context.Context, name string) (bool, error) {
	s := p.objects[name]
	if s != nil && state.IsAlive(s) {
		return s.DeletionTimestamp != nil && s.Status.Spending != nil && s.Status.Spending.Closed, nil
	}
	taken, err := p.fence(ctx, name)
	p.unsettled = p.unsettled || !taken
	return taken, err
}

// grantees returns the schedulers that were granted something.
func (p *pass) grantees() map[string]bool {
	names := map[string]bool{}
	for i := range p.resources {
		for _, g := range p.resources[i].Status.Grants {
			names[g.Scheduler] = true
		}
	}
	return names
}

// fence takes the Lease of a scheduler that has died.
func (p *pass) fence(ctx context.Context, name string) (taken bool, err error) {
	key := state.DefaultLease(name)
	if s := p.objects[name]; s != nil {
		key = state.LeaseOf(s)
	}
	until, taken, err := p.Leases.Take(ctx, key)
	if taken && (p.fencedUntil.IsZero() || until.Before(p.fencedUntil)) {
		p.fencedUntil = until
	}
	return taken, err
}

// livePage is how many pods are read at a time from the API server.
const livePage = 500

// seen says whether the cache has every pod that the schedulers have bound out of their grants.
func (p *pass) seen(ctx context.Context, grantees map[string]bool) (bool, error) {
	known, err := state.ListConcerned(ctx, p.Client)
	if err != nil {
		return false, err
	}
	bound := make(map[types.UID]bool, len(known))
	for i := range known {
		if _, charged := stamp.ChargesOf(&known[i]); charged {
			bound[known[i].UID] = true
		}
	}
	// What is read now, and was not seen before, has to wait for the next pass.
	var page corev1.PodList
	for {
		if err := p.Live.List(ctx, &page, client.Limit(livePage), client.Continue(page.Continue)); err != nil {
			return false, fmt.Errorf("looking for pods of schedulers that are gone: %w", err)
		}
		for i := range page.Items {
			pod := &page.Items[i]
			if grantees[pod.Annotations[berthv1alpha1.GranteeAnnotation]] && pod.Spec.NodeName != "" && !bound[pod.UID] {
				return false, nil
			}
		}
		if page.Continue == "" {
			return true, nil
		}
	}
}
