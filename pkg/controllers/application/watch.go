// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package application

import (
	"context"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	toolscache "k8s.io/client-go/tools/cache"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// Watching lets the controller watch the objects that it has made, by their metadata.
type Watching struct {
	// Metadata reads the metadata of objects of all kinds.
	Metadata metadata.Interface
	// Allowed reports whether objects of a kind may be listed and watched in all namespaces.
	Allowed func(ctx context.Context, kind schema.GroupVersionResource) (bool, error)
}

// watches are the kinds that are watched.
type watches struct {
	mu sync.Mutex
	// ctx ends the watches; nil before the controller runs.
	ctx context.Context //nolint:containedctx // kinds are found long after the controller has started
	// known are the kinds, with when those are looked at again that may not be watched.
	known map[schema.GroupVersionKind]time.Time
}

// start lets watches begin.
func (w *watches) start(ctx context.Context) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ctx, w.known = ctx, map[schema.GroupVersionKind]time.Time{}
}

// begin reports whether a kind is to be watched from now on, and until when.
func (w *watches) begin(kind schema.GroupVersionKind, now time.Time) context.Context {
	w.mu.Lock()
	defer w.mu.Unlock()
	if again, known := w.known[kind]; w.ctx == nil || known && (again.IsZero() || now.Before(again)) {
		return nil
	}
	w.known[kind] = time.Time{}
	return w.ctx
}

// resync returns how often objects of a kind are applied although nothing is known to have changed.
func (w *watches) resync(kind schema.GroupVersionKind) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	if again, known := w.known[kind]; known && again.IsZero() {
		return watchedResync
	}
	return resync
}

// later has a kind looked at again.
func (w *watches) later(kind schema.GroupVersionKind, at time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.known[kind] = at
}

// watch sees to it that objects of a kind are watched that belong to Applications. Kinds that may
// not be watched are applied again from time to time.
func (r *Reconciler) watch(ctx context.Context, kind schema.GroupVersionKind, now time.Time) {
	if r.Watching == nil {
		return
	}
	lasting := r.watches.begin(kind, now)
	if lasting == nil {
		return
	}
	mapping, err := r.Mapper.RESTMapping(kind.GroupKind(), kind.Version)
	allowed := false
	if err == nil {
		allowed, err = r.Watching.Allowed(ctx, mapping.Resource)
	}
	if err != nil || !allowed {
		ctrl.LoggerFrom(ctx).V(1).Info("Objects of a kind of an Application cannot be watched", "kind", kind, "err", err)
		r.watches.later(kind, now.Add(resync))
		return
	}
	informer := metadatainformer.NewFilteredMetadataInformer(r.Watching.Metadata, mapping.Resource, metav1.NamespaceAll, 0,
		toolscache.Indexers{}, func(options *metav1.ListOptions) { options.LabelSelector = berthv1alpha1.ApplicationLabel }).Informer()
	apiVersion, name := kind.ToAPIVersionAndKind()
	see := func(object any, gone bool) {
		if tombstone, ok := object.(toolscache.DeletedFinalStateUnknown); ok {
			object = tombstone.Obj
		}
		if meta, ok := object.(*metav1.PartialObjectMetadata); ok {
			r.see(objectID{meta.Namespace, berthv1alpha1.ApplicationObject{APIVersion: apiVersion, Kind: name, Name: meta.Name}}, meta, gone)
		}
	}
	if _, err := informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		AddFunc: func(o any) { see(o, false) }, UpdateFunc: func(_, o any) { see(o, false) }, DeleteFunc: func(o any) { see(o, true) },
	}); err == nil {
		go informer.RunWithContext(lasting)
	}
}

// see asks for a pass over the Application of an object that somebody else has changed or deleted.
func (r *Reconciler) see(id objectID, meta *metav1.PartialObjectMetadata, gone bool) {
	var is metav1.Object
	if !gone {
		is = meta
	}
	app, touched := r.keeper.seen(id, is)
	r.mu.Lock()
	queue := r.queue
	r.mu.Unlock()
	if touched && queue != nil {
		queue.Add(reconcile.Request{NamespacedName: app})
	}
}
