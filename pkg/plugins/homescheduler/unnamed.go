// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package homescheduler

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

const (
	standsBackNote = "berth-scheduler without --scheduler-name places no pods while there is a Scheduler; give it a name, or stop it"
	takesOverNote  = "no Scheduler runs, so berth-scheduler without --scheduler-name places all pods again"
)

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
	var cause *corev1.ObjectReference // the Scheduler because of which it stands back
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C():
		}
		homes := s.Catalog.Snapshot()
		switch {
		case homes == nil || homes.Shared == (cause != nil):
		case homes.Shared && homes.Other == nil: // something is still bound to one that is gone
		case homes.Shared:
			cause = &corev1.ObjectReference{
				APIVersion: berthv1alpha1.SchemeGroupVersion.String(), Kind: "Scheduler", Name: homes.Other.Name, UID: homes.Other.UID,
			}
			b.Tell(cause, berthv1alpha1.ReasonStandsBack, standsBackNote)
		default:
			b.Tell(cause, berthv1alpha1.ReasonTakesOver, takesOverNote)
			cause = nil
		}
	}
}
