// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package ui

import (
	"context"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

// kind is a kind of objects that is watched.
type kind struct {
	informer cache.SharedIndexInformer
	// changed is called after each change, also of what may be read.
	changed func()

	mu sync.Mutex
	// refusal is why the objects cannot be read, nil if they can or nobody knows yet.
	refusal error
	// watches is the number of watches that are open, lost when there was the last one.
	watches int
	lost    time.Time
}

// watched returns a kind that is listed and watched by a client's methods.
func watched[L runtime.Object](
	changed func(), client any, example runtime.Object, list func(context.Context, metav1.ListOptions) (L, error),
	open func(context.Context, metav1.ListOptions) (watch.Interface, error),
) *kind {
	k := &kind{changed: changed}
	lw := &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			found, err := list(ctx, options)
			k.answered(err)
			return found, err
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			opened, err := open(ctx, options)
			k.answered(err)
			if err != nil {
				return nil, err
			}
			return k.observe(opened), nil
		},
	}
	k.informer = cache.NewSharedIndexInformer(cache.ToListWatcherWithWatchListSemantics(lw, client), example, 0, cache.Indexers{})
	return k
}

// start watches until the context ends.
func (k *kind) start(ctx context.Context) {
	// Neither fails before the informer has started.
	_ = k.informer.SetTransform(strip)
	_, _ = k.informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(any) { k.changed() },
		UpdateFunc: func(_, _ any) { k.changed() },
		DeleteFunc: func(any) { k.changed() },
	})
	// What an error changes is noted where it comes from.
	_ = k.informer.SetWatchErrorHandlerWithContext(func(context.Context, *cache.Reflector, error) {})
	go k.informer.RunWithContext(ctx)
	go func() {
		if cache.WaitForCacheSync(ctx.Done(), k.informer.HasSynced) {
			k.changed()
		}
	}()
}

// answered notes whether the API server let the user read.
func (k *kind) answered(err error) {
	if k.note(err) {
		k.changed()
	}
}

// note reports whether what may be read has changed.
func (k *kind) note(err error) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	before := k.refusal != nil
	switch {
	case err == nil:
		k.refusal = nil
	case apierrors.IsForbidden(err), apierrors.IsUnauthorized(err), apierrors.IsNotFound(err):
		k.refusal = err
	}
	return before != (k.refusal != nil)
}

// refused returns why the objects cannot be read, nil if they can.
func (k *kind) refused() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.refusal
}

// interrupted returns since when the objects are not watched, the zero time if they are, cannot be
// read at all, or have not been read yet.
func (k *kind) interrupted() time.Time {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.watches > 0 || k.refusal != nil || !k.informer.HasSynced() {
		return time.Time{}
	}
	return k.lost
}

// observe counts a watch until it ends.
func (k *kind) observe(opened watch.Interface) watch.Interface {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.watches++
	return &observedWatch{Interface: opened, end: sync.OnceFunc(func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		k.watches--
		k.lost = time.Now()
	})}
}

// observedWatch is a watch whose end is noted. Who reads it stops it, also after it has ended by
// itself.
type observedWatch struct {
	watch.Interface

	end func()
}

// Stop implements watch.Interface.
func (w *observedWatch) Stop() {
	w.end()
	w.Interface.Stop()
}
