// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package plugintest

import (
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	clienttesting "k8s.io/client-go/testing"
)

// watches knows which resources are being watched. An object that is created between the list and
// the watch of an informer of a fake client is lost to the informer, so tests must not change
// anything before.
type watches struct {
	mu        sync.Mutex
	resources []string
}

func (w *watches) reactor(tracker clienttesting.ObjectTracker) clienttesting.WatchReactionFunc {
	return func(action clienttesting.Action) (bool, watch.Interface, error) {
		stream, err := tracker.Watch(action.GetResource(), action.GetNamespace())
		w.mu.Lock()
		defer w.mu.Unlock()
		w.resources = append(w.resources, action.GetResource().Resource)
		return true, stream, err
	}
}

// opened reports whether each resource is watched, as often as it is named.
func (w *watches) opened(resources ...string) func() bool {
	return func() bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		left := slices.Clone(w.resources)
		return !slices.ContainsFunc(resources, func(name string) bool {
			i := slices.Index(left, name)
			if i >= 0 {
				left = slices.Delete(left, i, i+1)
			}
			return i < 0
		})
	}
}

// bindings keeps the Bindings that were sent and answers them.
type bindings struct {
	mu   sync.Mutex
	sent []*corev1.Binding
}

func (b *bindings) react(action clienttesting.Action) (bool, runtime.Object, error) {
	create, ok := action.(clienttesting.CreateAction)
	if !ok || action.GetSubresource() != "binding" {
		return false, nil, nil
	}
	binding, ok := create.GetObject().(*corev1.Binding)
	if !ok {
		return false, nil, nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sent = append(b.sent, binding)
	return true, binding, nil
}

func (b *bindings) last() *corev1.Binding {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.sent) == 0 {
		return nil
	}
	return b.sent[len(b.sent)-1]
}
