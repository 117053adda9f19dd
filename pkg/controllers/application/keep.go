// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package application

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/workload"
)

const (
	// firstRest and longestRest are for how long an object that somebody else changes again and again
	// is left alone after it was put right. Calm is after how long it counts as no longer changed.
	firstRest, longestRest, calm = time.Second, 5 * time.Minute, 10 * time.Minute
	// contest is the shortest rest after which the user is told that somebody else wants it otherwise.
	contest = 4 * time.Second
)

// keeper knows the objects of Applications as they were applied, and which of them somebody else
// has changed or deleted since. It is safe for concurrent use. To lose it costs requests and
// nothing else.
type keeper struct {
	mu   sync.Mutex
	made map[objectID]*kept
}

// objectID names an object.
type objectID struct {
	namespace string
	object    berthv1alpha1.ApplicationObject
}

// kept is an object as it was applied.
type kept struct {
	app    types.NamespacedName
	fields [sha256.Size]byte
	// touched is true once somebody else has changed or deleted it, and by is who, if that is known.
	touched bool
	by      string
	// replicas is the number that was applied, in this generation of it, and scaled is true while it
	// has another one.
	replicas   int64
	generation int64
	scaled     bool
	// restored is when it was last put right, and rest for how long it is left alone after that.
	restored time.Time
	rest     time.Duration
}

// note remembers an object as the API server has answered that it is.
func (k *keeper) note(id objectID, app types.NamespacedName, is *unstructured.Unstructured) {
	k.mu.Lock()
	defer k.mu.Unlock()
	known := k.made[id]
	if known == nil {
		known = &kept{}
		if k.made == nil {
			k.made = map[objectID]*kept{}
		}
		k.made[id] = known
	}
	known.app, known.fields, known.touched, known.scaled = app, ownFields(is), false, false
	known.replicas, known.generation = replicasIn(is), is.GetGeneration()
}

// seen takes up an object as it is now, nil if it is gone. It returns the Application that is to
// put it right, and whether there is one.
func (k *keeper) seen(id objectID, is metav1.Object) (app types.NamespacedName, touched bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	known := k.made[id]
	if known == nil {
		return app, false
	}
	known.touched = is == nil || ownFields(is) != known.fields
	switch {
	case is == nil:
		known.by = "" // nobody writes down who deletes
	case known.touched:
		known.by = lastWriter(is)
	}
	return known.app, known.touched
}

// counts takes up how many replicas an object has, as the cache has it, nil if it is not there.
// What the cache has from before it was applied says nothing.
func (k *keeper) counts(id objectID, live metav1.Object) {
	k.mu.Lock()
	defer k.mu.Unlock()
	known := k.made[id]
	if known == nil || live == nil {
		return
	}
	replicas, read := workload.ReplicasOf(live)
	known.scaled = read && live.GetGeneration() >= known.generation && int64(replicas) != known.replicas
}

// replicasIn returns the number of replicas of an object that was applied, 0 for what has none.
func replicasIn(applied *unstructured.Unstructured) int64 {
	replicas, _, _ := unstructured.NestedInt64(applied.Object, "spec", "replicas")
	return replicas
}

// due reports whether an object is to be put right now, and otherwise after what time it is, 0 for
// never.
func (k *keeper) due(id objectID, now time.Time) (is bool, after time.Duration) {
	k.mu.Lock()
	defer k.mu.Unlock()
	known := k.made[id]
	if known == nil || !known.touched && !known.scaled {
		return false, 0
	}
	if left := known.restored.Add(known.rest).Sub(now); left > 0 {
		return false, left
	}
	if known.rest = min(2*known.rest, longestRest); known.rest == 0 || now.Sub(known.restored) > calm {
		known.rest = firstRest
	}
	known.restored = now
	return true, 0
}

// contested says that somebody else changes an object again and again, and for how long that is
// told; empty if nobody does.
func (k *keeper) contested(id objectID, now time.Time) (why string, left time.Duration) {
	k.mu.Lock()
	defer k.mu.Unlock()
	known := k.made[id]
	if known == nil || known.rest < contest {
		return "", 0
	}
	if left = known.restored.Add(known.rest).Sub(now); left <= 0 {
		return "", 0
	}
	who := cmp.Or(known.by, "somebody else")
	return fmt.Sprintf("%s changes it again and again, so it is put right no sooner than %v after the last time", who, known.rest), left
}

// lastWriter returns who has changed an object last, empty if that is not known.
func lastWriter(o metav1.Object) (name string) {
	var latest time.Time
	for _, entry := range o.GetManagedFields() {
		if entry.Manager != fieldOwner && entry.Subresource == "" && entry.Time != nil && !entry.Time.Time.Before(latest) {
			name, latest = entry.Manager, entry.Time.Time
		}
	}
	return name
}

// forget forgets the objects of an Application.
func (k *keeper) forget(app types.NamespacedName) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for id, known := range k.made {
		if known.app == app {
			delete(k.made, id)
		}
	}
}

// ownFields tells apart which fields of an object are as they were applied: whoever changes one
// takes it away from those that the API server notes as applied.
func ownFields(o metav1.Object) [sha256.Size]byte {
	for _, entry := range o.GetManagedFields() {
		if entry.Manager == fieldOwner && entry.Operation == metav1.ManagedFieldsOperationApply && entry.Subresource == "" && entry.FieldsV1 != nil {
			return sha256.Sum256(entry.FieldsV1.Raw)
		}
	}
	return [sha256.Size]byte{}
}
