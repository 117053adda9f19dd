// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package binding

import (
	"context"
	"errors"
	"maps"
	"slices"

	"berth.dev/berth/pkg/controllers/state"
)

// losing returns the schedulers that are not alive and are to lose something.
func (p *pass) losing(desired []string) []string {
	losing := map[string]bool{}
	for i, c := range p.inputs {
		if c.Record.Home != "" && c.Record.Home != desired[i] && !p.schedulers[c.Record.Home].Alive {
			losing[c.Record.Home] = true
		}
	}
	for name, s := range p.objects {
		if s.Status.Commons != nil && !p.schedulers[name].Alive {
			losing[name] = true
		}
	}
	return slices.Sorted(maps.Keys(losing))
}

// fence stops the schedulers that have died and are to lose something. Who cannot be stopped keeps
// what it has.
func (p *pass) fence(ctx context.Context, desired []string) error {
	losing := p.losing(desired)
	errs := make([]error, 0, len(losing))
	for _, name := range losing {
		key := state.DefaultLease(name)
		if object := p.objects[name]; object != nil {
			key = state.LeaseOf(object)
		}
		until, taken, err := p.Leases.Stop(ctx, key, func(home string) bool {
			return home != name && p.schedulers[home] != nil && p.schedulers[home].Alive
		})
		errs = append(errs, err)
		p.schedulers[name].Fenced = taken
		if taken && (p.fencedUntil.IsZero() || until.Before(p.fencedUntil)) {
			p.fencedUntil = until
		}
	}
	return errors.Join(errs...)
}

// stillFenced reports whether the schedulers that were fenced still are. A pass that takes too long
// begins anew.
func (p *pass) stillFenced() bool {
	return p.fencedUntil.IsZero() || p.Clock.Now().Before(p.fencedUntil)
}
