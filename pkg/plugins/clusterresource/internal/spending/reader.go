// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package spending

import (
	corev1 "k8s.io/api/core/v1"

	"berth.dev/berth/pkg/model/stamp"
	"berth.dev/berth/pkg/placement/pool"
	"berth.dev/berth/pkg/plugins/internal/ledger"
)

// Reader takes over from a list of pods what they hold, and which of them late Bindings may charge.
type Reader struct {
	// Pending gets the charges; nil if they are of no interest.
	Pending *ledger.Pending
	// Late gets the pods that the process before may still bind.
	Late *LateUnits
	// Known reports whether the informer knows a pod as bound; the others are put as unseen.
	Known func(*corev1.Pod) bool
	// Bound returns how many late Bindings there can be, 0 if that is not known.
	Bound func() int
	// Ended is called when everything has been taken over.
	Ended func()

	held      *pool.Account
	claimants []Claimant
}

// Begin forgets what an earlier list has shown of late Bindings.
func (r *Reader) Begin() {
	r.held, r.claimants = pool.NewAccount(), nil
}

// Read takes over a pod.
func (r *Reader) Read(pod *corev1.Pod, claimant bool) {
	if c, asks := newClaimant(pod); claimant && asks {
		r.claimants = append(r.claimants, c)
	}
	charges, charged := stamp.ChargesOf(pod)
	if !charged {
		return
	}
	r.held.Add(charges)
	switch {
	case r.Pending == nil:
	case r.Known(pod):
		r.Pending.Put(ledger.Ref(pod), charges)
	default:
		r.Pending.PutUnseen(ledger.Ref(pod), charges)
	}
}

// End completes what is known of late Bindings.
func (r *Reader) End() {
	r.Late.expect(r.held, r.claimants, r.Bound())
	r.Ended()
}
