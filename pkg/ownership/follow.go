// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package ownership

import (
	"context"
	"maps"
	"sync"
	"time"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/tools/cache"

	"berth.dev/berth/pkg/model/workload"
)

// informer follows all objects of a kind.
type informer struct {
	stop   context.CancelFunc
	synced func() bool

	mu     sync.RWMutex
	owners map[types.NamespacedName]*workload.FurtherOwner
}

// followed returns an object of the kind if an informer has it; ok is false while none knows.
func (k *kind) followed(name types.NamespacedName) (owner *workload.FurtherOwner, ok bool) {
	if k.informer == nil || !k.informer.synced() {
		return nil, false
	}
	k.informer.mu.RLock()
	defer k.informer.mu.RUnlock()
	return k.informer.owners[name], true
}

// namespaces returns those of the owners.
func (f *informer) namespaces() sets.Set[string] {
	f.mu.RLock()
	defer f.mu.RUnlock()
	found := sets.Set[string]{}
	for name := range f.owners {
		found.Insert(name.Namespace)
	}
	return found
}

// follow starts an informer for a kind. Those who wait for objects that have a kind again are told
// of each that it lists.
func (d *Directory) follow(gvk schema.GroupVersionKind, k *kind, again bool) {
	ctx, stop := context.WithCancel(d.lifetime)
	var shared cache.SharedIndexInformer
	if k.replicas != nil {
		shared = dynamicinformer.NewFilteredDynamicInformer(d.Objects, k.resource, d.Namespace, 0, cache.Indexers{}, nil).Informer()
	} else {
		shared = metadatainformer.NewFilteredMetadataInformer(d.Metadata, k.resource, d.Namespace, 0, cache.Indexers{}, nil).Informer()
	}
	following := &informer{stop: stop, owners: map[types.NamespacedName]*workload.FurtherOwner{}}
	// Both fail only for an informer that runs already.
	_ = shared.SetTransform(k.transform)
	// What cannot be listed is told where it matters: of the single objects.
	_ = shared.SetWatchErrorHandlerWithContext(func(_ context.Context, _ *cache.Reflector, err error) {
		if apierrors.IsNotFound(err) {
			d.expire(gvk)
		}
	})
	registration, err := shared.AddEventHandler(following.handler(d.changed, again))
	if err != nil {
		stop()
		return
	}
	following.synced = registration.HasSynced
	k.informer = following
	go shared.RunWithContext(ctx)
}

// transform cuts an object down for an informer, which may do so twice with one object: it does
// with those that a watch lists.
func (k *kind) transform(object any) (any, error) {
	if _, again := object.(*workload.FurtherOwner); again {
		return object, nil
	}
	if owner := k.owner(object); owner != nil {
		return owner, nil
	}
	return object, nil
}

// expire has a kind looked up anew of which an informer finds that it is not served.
func (d *Directory) expire(gvk schema.GroupVersionKind) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if k := d.kinds[gvk]; k != nil {
		k.resolved = time.Time{}
		d.queue.Add(key{GroupVersionKind: gvk})
	}
}

// handler keeps the objects, and tells of those that change, and if asked to of those that the
// first list has.
func (f *informer) handler(changed func(namespace string, owner types.UID), first bool) cache.ResourceEventHandler {
	set := func(object any, tell bool) {
		owner, ok := object.(*workload.FurtherOwner)
		if !ok {
			return
		}
		name := types.NamespacedName{Namespace: owner.GetNamespace(), Name: owner.GetName()}
		f.mu.Lock()
		before := f.owners[name]
		f.owners[name] = owner
		f.mu.Unlock()
		if !tell || same(before, owner) {
			return
		}
		if before != nil && before.GetUID() != owner.GetUID() {
			changed(name.Namespace, before.GetUID())
		}
		changed(name.Namespace, owner.GetUID())
	}
	return cache.ResourceEventHandlerDetailedFuncs{
		AddFunc:    func(object any, initial bool) { set(object, first || !initial) },
		UpdateFunc: func(_, object any) { set(object, true) },
		DeleteFunc: func(object any) {
			if gone, ok := object.(cache.DeletedFinalStateUnknown); ok {
				object = gone.Obj
			}
			if owner, ok := object.(*workload.FurtherOwner); ok {
				f.mu.Lock()
				delete(f.owners, types.NamespacedName{Namespace: owner.GetNamespace(), Name: owner.GetName()})
				f.mu.Unlock()
				changed(owner.GetNamespace(), owner.GetUID())
			}
		},
	}
}

// same reports whether two states of an owner mean the same to its pods.
func same(a, b *workload.FurtherOwner) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.GetUID() == b.GetUID() && a.Replicas == b.Replicas && a.ReplicasKnown == b.ReplicasKnown &&
		a.Unreadable == b.Unreadable && maps.Equal(a.Components, b.Components) &&
		maps.Equal(a.GetLabels(), b.GetLabels()) && apiequality.Semantic.DeepEqual(a.GetOwnerReferences(), b.GetOwnerReferences())
}
