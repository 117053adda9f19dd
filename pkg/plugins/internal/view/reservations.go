// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"berth.dev/berth/pkg/model/stamp"
)

// Reservations remembers what Reserve gave to pods whose stamp has not arrived yet. It is safe for
// concurrent use. An entry that stays too long does no harm: pods are counted from the snapshot,
// and a reservation only tells the seat of one.
type Reservations struct {
	mu    sync.RWMutex
	byUID map[types.UID]stamp.Stamp
	// chosen are the seats that were given because they were free. Others are numbers that the pod
	// has from its controller, which the pods of a group share.
	chosen map[types.UID]Seat
}

// NewReservations returns an empty set.
func NewReservations() *Reservations {
	return &Reservations{byUID: map[types.UID]stamp.Stamp{}, chosen: map[types.UID]Seat{}}
}

// Put remembers what the pod was given.
func (r *Reservations) Put(pod types.UID, given stamp.Stamp) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.byUID[pod] = given
}

// PutChosen remembers that the pod was given a seat because it was free.
func (r *Reservations) PutChosen(pod types.UID, seat Seat) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.byUID[pod], r.chosen[pod] = seat.Stamp, seat
}

// Chosen returns the seat that the pod was given because it was free.
func (r *Reservations) Chosen(pod types.UID) (seat Seat, found bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	seat, found = r.chosen[pod]
	return seat, found
}

// Get returns what the pod was given.
func (r *Reservations) Get(pod types.UID) (given stamp.Stamp, found bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	given, found = r.byUID[pod]
	return given, found
}

// Drop forgets the pod. It may be called for pods that have nothing.
func (r *Reservations) Drop(pod types.UID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.byUID, pod)
	delete(r.chosen, pod)
}
