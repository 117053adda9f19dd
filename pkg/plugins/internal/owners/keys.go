// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package owners

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// maxKeys bounds the memory of keys.
const maxKeys = 4096

// keys remembers the keys of objects in a store, so that looking up the owners of one pod after the
// other does not make a string each time. It is safe for concurrent use.
type keys struct {
	mu    sync.Mutex
	known map[types.NamespacedName]string
}

// of returns the key of an object.
func (k *keys) of(namespace, name string) string {
	object := types.NamespacedName{Namespace: namespace, Name: name}
	k.mu.Lock()
	defer k.mu.Unlock()
	if key, found := k.known[object]; found {
		return key
	}
	if k.known == nil || len(k.known) >= maxKeys {
		k.known = map[types.NamespacedName]string{}
	}
	key := namespace + "/" + name
	k.known[object] = key
	return key
}
