// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package homescheduler

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/plugins/internal/catalog"
)

const (
	standsBackNote = "berth-scheduler without --scheduler-name places no pods while there is a Scheduler; give it a name, or stop it"
	takesOverNote  = "no Scheduler runs, so berth-scheduler without --scheduler-name places all pods again"
)

// settled is for how many looks in a row a role must have been another one before that is told. A
// Scheduler that was just made counts as one that runs until it is seen that it has no process.
const settled = 10

// role is that of a process which is no Scheduler, as it was told last.
type role struct {
	// cause is the Scheduler because of which it stands back, nil if it does not.
	cause *corev1.ObjectReference
	// changed is how many looks in a row have found another role.
	changed int
}

// look returns the reason and the note of an event about a Scheduler, if there is one to tell.
func (r *role) look(homes *catalog.Homes) (regarding *corev1.ObjectReference, reason, note string) {
	if homes == nil || homes.Shared == (r.cause != nil) {
		r.changed = 0
		return nil, "", ""
	}
	if homes.Shared && homes.Other == nil { // something is still bound to one that is gone
		return nil, "", ""
	}
	if r.changed++; r.changed < settled {
		return nil, "", ""
	}
	if before := r.cause; before != nil {
		*r = role{}
		return before, berthv1alpha1.ReasonTakesOver, takesOverNote
	}
	*r = role{cause: &corev1.ObjectReference{
		APIVersion: berthv1alpha1.SchemeGroupVersion.String(), Kind: "Scheduler", Name: homes.Other.Name, UID: homes.Other.UID,
	}}
	return r.cause, berthv1alpha1.ReasonStandsBack, standsBackNote
}

// reportRole records events about whether this process, which is no Scheduler, stands back, for as
// long as it is the leader. No pod can carry that message: while the process stands back it has
// none.
func (s *Shared) reportRole(ctx context.Context, b *Background) {
	select {
	case <-ctx.Done():
		return
	case <-b.Fence.Opened():
	}
	tick := s.Clock.NewTicker(pollInterval)
	defer tick.Stop()
	var told role
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C():
		}
		if regarding, reason, note := told.look(s.Catalog.Snapshot()); regarding != nil {
			b.Tell(regarding, reason, note)
		}
	}
}
