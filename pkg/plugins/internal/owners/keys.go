// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package owners

import (
	"hash/maphash"
	"sync"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/types"
)

const (
	// maxKeys bounds the memory of keys.
	maxKeys = 4096

	// slots is how many keys are found without a lock.
	slots = 1024
)

// keys remembers the keys of objects in a store, so that looking up the owners of one pod after the
// other does not make a string each time. It is safe for concurrent use.
type keys struct {
	// recent has in the slot of each name the key that was asked for last.
	recent [slots]atomic.Pointer[objectKey]

	mu    sync.Mutex
	known map[types.NamespacedName]*objectKey
}

// objectKey is the key of an object.
type objectKey struct {
	types.NamespacedName
	key string
}

var seed = maphash.MakeSeed()

// of returns the key of an object.
func (k *keys) of(namespace, name string) string {
	slot := &k.recent[maphash.String(seed, name)%slots]
	recent := slot.Load()
	if recent == nil || recent.Name != name || recent.Namespace != namespace {
		recent = k.remember(types.NamespacedName{Namespace: namespace, Name: name})
		slot.Store(recent)
	}
	return recent.key
}

// remember returns the key of an object, which it makes unless it is known.
func (k *keys) remember(object types.NamespacedName) *objectKey {
	k.mu.Lock()
	defer k.mu.Unlock()
	if key, found := k.known[object]; found {
		return key
	}
	if k.known == nil || len(k.known) >= maxKeys {
		k.known = map[types.NamespacedName]*objectKey{}
	}
	key := &objectKey{object, object.Namespace + "/" + object.Name}
	k.known[object] = key
	return key
}
