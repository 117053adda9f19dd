// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package ownership

import (
	"context"
	"maps"
	"sync"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
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

// follow starts an informer for a kind.
func (d *Directory) follow(k *kind) {
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
	_ = shared.SetWatchErrorHandlerWithContext(func(context.Context, *cache.Reflector, error) {})
	registration, err := shared.AddEventHandler(following.handler(d.changed))
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

// handler keeps the objects, and tells the namespaces in which something changes.
func (f *informer) handler(changed func(namespace string)) cache.ResourceEventHandler {
	set := func(object any) (namespace string, differs bool) {
		owner, ok := object.(*workload.FurtherOwner)
		if !ok {
			return "", false
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		name := types.NamespacedName{Namespace: owner.GetNamespace(), Name: owner.GetName()}
		differs = !same(f.owners[name], owner)
		f.owners[name] = owner
		return name.Namespace, differs
	}
	return cache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(object any, initial bool) {
			if namespace, differs := set(object); differs && !initial {
				changed(namespace)
			}
		},
		UpdateFunc: func(_, object any) {
			if namespace, differs := set(object); differs {
				changed(namespace)
			}
		},
		DeleteFunc: func(object any) {
			if gone, ok := object.(cache.DeletedFinalStateUnknown); ok {
				object = gone.Obj
			}
			if owner, ok := object.(*workload.FurtherOwner); ok {
				f.mu.Lock()
				delete(f.owners, types.NamespacedName{Namespace: owner.GetNamespace(), Name: owner.GetName()})
				f.mu.Unlock()
				changed(owner.GetNamespace())
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
		maps.Equal(a.Components, b.Components) &&
		maps.Equal(a.GetLabels(), b.GetLabels()) && apiequality.Semantic.DeepEqual(a.GetOwnerReferences(), b.GetOwnerReferences())
}
