// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"berth.dev/berth/pkg/model/stamp"
)

// Reservations remembers what Reserve gave to pods whose stamp has not arrived yet. It is safe for
// concurrent use. An entry that stays too long does no harm: pods are counted from the snapshot, or
// as they are bound, and a reservation only tells the seat of one.
type Reservations struct {
	mu    sync.RWMutex
	byUID map[types.UID]reservation
}

// reservation is a seat that was given to a pod: because it was free if it is chosen, else because
// the pod has that number from its controller, which the pods of a group share.
type reservation struct {
	Seat
	chosen bool
	// pod is the one that was assumed on a node. Another attempt makes another one.
	pod *corev1.Pod
}

// NewReservations returns an empty set.
func NewReservations() *Reservations {
	return &Reservations{byUID: map[types.UID]reservation{}}
}

// Put remembers what a pod was given that is assumed on its node.
func (r *Reservations) Put(assumed *corev1.Pod, given stamp.Stamp) {
	r.put(reservation{Seat: Seat{Stamp: given}, pod: assumed})
}

// PutChosen remembers that a pod that is assumed on its node was given a seat because it was free.
func (r *Reservations) PutChosen(assumed *corev1.Pod, seat Seat) {
	r.put(reservation{seat, true, assumed})
}

func (r *Reservations) put(made reservation) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.byUID[made.pod.UID] = made
}

// Get returns what the pod was given.
func (r *Reservations) Get(pod types.UID) (given stamp.Stamp, found bool) {
	made, found := r.get(pod)
	return made.Stamp, found
}

// Chosen returns the seat that the pod was given because it was free.
func (r *Reservations) Chosen(pod types.UID) (seat Seat, found bool) {
	made, _ := r.get(pod)
	return made.Seat, made.chosen
}

func (r *Reservations) get(pod types.UID) (made reservation, found bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	made, found = r.byUID[pod]
	return made, found
}

// Drop forgets the pod, and reports whether it had something.
func (r *Reservations) Drop(pod types.UID) (had bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, had = r.byUID[pod]
	delete(r.byUID, pod)
	return had
}

// assumed returns the pods that were given something, as they were assumed.
func (r *Reservations) assumed() []*corev1.Pod {
	r.mu.RLock()
	defer r.mu.RUnlock()
	pods := make([]*corev1.Pod, 0, len(r.byUID))
	for _, made := range r.byUID {
		pods = append(pods, made.pod)
	}
	return pods
}
