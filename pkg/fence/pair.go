// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package fence

import (
	"bytes"
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// Pair is a lease lock that is held only with another one: a process that leads by a lease of its
// own leads only while nobody else leads by the common one. It is for one election, which asks one
// thing at a time.
type Pair struct {
	resourcelock.Interface
	common resourcelock.Interface
	// missing says that there was no common lease when it was read, taken that it was somebody else's.
	missing, taken bool
	// told is the holder of it for which an event was recorded last.
	told string
}

var _ resourcelock.Interface = &Pair{}

// NewPair returns a lock of both leases. Events are recorded at the common one.
func NewPair(own, common resourcelock.Interface) *Pair {
	return &Pair{Interface: NewLasting(own), common: NewLasting(common)}
}

// Get returns the record of the lease that keeps this process from leading, if one does. What it
// returns beside that changes with both.
func (p *Pair) Get(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	record, raw, err := p.Interface.Get(ctx)
	if err != nil {
		return nil, nil, err
	}
	common, commonRaw, err := p.getCommon(ctx)
	if err != nil || common == nil {
		return record, raw, err
	}
	raw = bytes.Join([][]byte{raw, commonRaw}, []byte(","))
	if p.others(record) || !p.taken {
		return record, raw, nil
	}
	if p.told != common.HolderIdentity {
		p.told = common.HolderIdentity
		p.common.RecordEvent(fmt.Sprintf("has lease %s and waits for this one, which %s holds", p.Describe(), common.HolderIdentity))
	}
	return common, raw, nil
}

// Create makes the own lease, and takes the common one if nobody has it.
func (p *Pair) Create(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	if err := p.Interface.Create(ctx, record); err != nil {
		return err
	}
	common, _, err := p.getCommon(ctx)
	if err != nil {
		return err
	}
	if p.taken {
		return fmt.Errorf("lease %s: %s holds %s", p.Describe(), common.HolderIdentity, p.common.Describe())
	}
	return p.updateCommon(ctx, record)
}

// Update renews both leases, or gives both back. It fails if somebody else has written one of them
// since it was read or renewed.
func (p *Pair) Update(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	if err := p.Interface.Update(ctx, record); err != nil {
		return err
	}
	if p.taken && record.HolderIdentity == "" {
		return nil // It is not ours to give back.
	}
	return p.updateCommon(ctx, record)
}

// others reports whether a lease is somebody else's.
func (p *Pair) others(record *resourcelock.LeaderElectionRecord) bool {
	return record.HolderIdentity != "" && record.HolderIdentity != p.Identity()
}

// getCommon returns the record of the common lease, nil if there is none.
func (p *Pair) getCommon(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	record, raw, err := p.common.Get(ctx)
	p.missing, p.taken = apierrors.IsNotFound(err), err == nil && p.others(record)
	switch {
	case p.missing:
		return nil, nil, nil
	case err != nil:
		return nil, nil, fmt.Errorf("reading lease %s: %w", p.common.Describe(), err)
	}
	return record, raw, nil
}

func (p *Pair) updateCommon(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	write := p.common.Update
	if p.missing {
		write = p.common.Create
	}
	err := write(ctx, record)
	if p.missing && apierrors.IsNotFound(err) {
		return nil // There is no namespace for it, so nobody has it.
	}
	if err != nil {
		return fmt.Errorf("taking lease %s: %w", p.common.Describe(), err)
	}
	p.missing, p.taken = false, false
	return nil
}
