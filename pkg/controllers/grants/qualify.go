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

// qualify finds out who may be granted something, who is to return everything, and who charges
// nothing any more. Schedulers that have to be stopped are stopped first.
func (p *pass) qualify(ctx context.Context) error {
	standings := p.standings()
	p.alone = grants.Alone(standings)
	var counted bool
	if grants.AnyTakes(standings) || !grants.AnyAlive(standings) {
		var err error
		if counted, err = p.stop(ctx, standings); err != nil {
			return err
		}
	}
	roles, complete := grants.Roles(standings, counted)
	p.schedulers, p.unsettled = roles, !complete
	return nil
}

// standings returns what the API server says of the schedulers, and of those that are gone and were
// granted something.
func (p *pass) standings() map[string]grants.Standing {
	standings := map[string]grants.Standing{}
	for name, s := range p.objects {
		spending := s.Status.Spending
		standings[name] = grants.Standing{
			Registered: true, Alive: state.IsAlive(s), Leaving: s.DeletionTimestamp != nil,
			Keeps: spending != nil, Closed: spending != nil && spending.Closed,
		}
	}
	for i := range p.resources {
		for _, g := range p.resources[i].Status.Grants {
			s := standings[g.Scheduler]
			s.Granted = true
			standings[g.Scheduler] = s
		}
	}
	return standings
}

// stop stops the schedulers that must be, as far as that is possible now. It returns whether the
// cache has every pod that those have bound that charge nothing any more.
func (p *pass) stop(ctx context.Context, standings map[string]grants.Standing) (counted bool, err error) {
	finished := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(standings)) {
		s := standings[name]
		if s.MustStop() {
			elsewhere := func(home string) bool { return home != name && standings[home].Alive }
			if s.Stopped, err = p.stopped(ctx, name, s, elsewhere); err != nil {
				return false, err
			}
			standings[name] = s
		}
		if s.Finished() {
			finished[name] = true
		}
	}
	if len(finished) == 0 {
		return true, nil
	}
	return p.counted(ctx, finished)
}

// stopped reports whether it is certain that no process of a scheduler charges anything. A
// scheduler that may charge everything has no process if nobody but this controller ever had its
// Lease: a process that takes it first finds out who else there is.
func (p *pass) stopped(ctx context.Context, name string, s grants.Standing, elsewhere func(string) bool) (bool, error) {
	key := state.DefaultLease(name)
	if object := p.objects[name]; object != nil {
		key = state.LeaseOf(object)
	}
	if !s.Died() {
		lease, err := p.Leases.Get(ctx, key)
		never := !lease.Exists && !lease.Lost
		if err != nil || never || lease.Holder == state.LeaseTaker && p.Leases.RuledOut(key) {
			return err == nil, err
		}
	}
	until, taken, err := p.Leases.Stop(ctx, key, elsewhere)
	if taken && (p.fencedUntil.IsZero() || until.Before(p.fencedUntil)) {
		p.fencedUntil = until
	}
	return taken, err
}

// livePage is how many pods are read at a time from the API server.
const livePage = 500

// counted reports whether the cache has every pod that schedulers have bound out of their grants.
// The cache is read before the API server, so a pod that it gets in between has to wait for the
// next pass.
func (p *pass) counted(ctx context.Context, grantees map[string]bool) (bool, error) {
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
