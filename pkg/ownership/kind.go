// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package ownership

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"sync"
	"time"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/tools/cache"

	"berth.dev/berth/pkg/feeds"
	"berth.dev/berth/pkg/model/workload"
)

// kind is what is known of a kind.
type kind struct {
	resource schema.GroupVersionResource
	// rule tells where the number of replicas lies, empty if nowhere, and replicas reads it.
	rule     string
	replicas feeds.ReadReplicas
	// err is why objects of the kind cannot be read.
	err      error
	resolved time.Time
	informer *informer
}

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

// kindOf finds out about a kind, unless it is known. The error wraps ErrUnconfirmed if the kind has
// no objects that can be read.
func (d *Directory) kindOf(ctx context.Context, gvk schema.GroupVersionKind) (*kind, error) {
	d.mu.RLock()
	k := d.kinds[gvk]
	current := k != nil && d.Clock.Since(k.resolved) < freshKind
	d.mu.RUnlock()
	if !current {
		found, err := d.find(ctx, gvk)
		if err != nil {
			return nil, err
		}
		k = d.replace(gvk, found)
	}
	if k.resource.Resource == "" {
		return nil, k.err
	}
	return k, nil
}

// find asks the API server about a kind.
func (d *Directory) find(ctx context.Context, gvk schema.GroupVersionKind) (*kind, error) {
	found := &kind{resolved: d.Clock.Now()}
	list, err := d.Discovery.ServerResourcesForGroupVersion(gvk.GroupVersion().String())
	if err != nil && !apierrors.IsNotFound(err) {
		return nil, fmt.Errorf("asking for the kinds of %s: %w", gvk.GroupVersion(), err)
	}
	scale := false
	for i := 0; list != nil && i < len(list.APIResources); i++ {
		r := &list.APIResources[i]
		name, sub, isSub := strings.Cut(r.Name, "/")
		switch {
		case !isSub && r.Kind == gvk.Kind && r.Namespaced:
			found.resource = gvk.GroupVersion().WithResource(name)
		case sub == "scale" && name == found.resource.Resource:
			scale = true
		}
	}
	if found.resource.Resource == "" {
		found.err = fmt.Errorf("%s of %s is not served, or has no objects in namespaces: %w",
			gvk.Kind, gvk.GroupVersion(), workload.ErrUnconfirmed)
		return found, nil
	}
	err = d.findReplicas(ctx, gvk, found, scale)
	return found, err
}

// findReplicas finds out where objects of a kind say how many pods they want.
func (d *Directory) findReplicas(ctx context.Context, gvk schema.GroupVersionKind, found *kind, scale bool) error {
	rules, err := d.Rules(ctx)
	if err != nil {
		return fmt.Errorf("listing FeedParsers: %w", err)
	}
	if found.rule, found.replicas = feeds.ReplicasByRule(rules, gvk.GroupKind()); found.rule != "" || !scale {
		return nil
	}
	path := ".spec.replicas"
	definition, err := d.Objects.Resource(definitions).Get(ctx, found.resource.GroupResource().String(), metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err), apierrors.IsForbidden(err):
		// It is served otherwise, and its number most likely where such kinds have it.
	case err != nil:
		return fmt.Errorf("getting the definition of %s: %w", found.resource.GroupResource(), err)
	default:
		path = scalePath(definition, gvk.Version)
	}
	found.rule = "scale " + path
	found.replicas, err = feeds.ReplicasByScale(path)
	if err != nil {
		found.rule, found.replicas = "", nil
	}
	return nil
}

var definitions = schema.GroupVersionResource{
	Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions",
}

// scalePath returns where a version of a kind has its number of replicas.
func scalePath(definition *unstructured.Unstructured, version string) string {
	versions, _, _ := unstructured.NestedSlice(definition.Object, "spec", "versions")
	for _, v := range versions {
		fields, _ := v.(map[string]any)
		if path, found, _ := unstructured.NestedString(fields, "subresources", "scale", "specReplicasPath"); found && fields["name"] == version {
			return path
		}
	}
	return ""
}

// replace notes what was found out about a kind, and starts or stops to follow it.
func (d *Directory) replace(gvk schema.GroupVersionKind, found *kind) *kind {
	// To look through thousands of policies must not hold up those who ask for owners.
	wanted := found.resource.Resource != "" && gvk.Group != "" && (found.replicas != nil || d.Named(gvk.GroupKind()))
	d.mu.Lock()
	defer d.mu.Unlock()
	before := d.kinds[gvk]
	if before == nil && len(d.kinds) >= maxKinds {
		d.forgetKinds()
	}
	if before != nil && before.informer != nil {
		found.inherit(before, wanted)
	}
	d.kinds[gvk] = found
	if wanted && found.informer == nil && d.informers() < maxFollowed {
		d.follow(found)
	}
	return found
}

// inherit takes over the informer from what was known before if it is still wanted, and reads the
// same.
func (k *kind) inherit(before *kind, wanted bool) {
	if wanted && before.resource == k.resource && before.rule == k.rule {
		k.informer, k.replicas, k.err = before.informer, before.replicas, before.err
		return
	}
	before.informer.stop()
}

// forgetKinds drops the kinds that are not followed.
func (d *Directory) forgetKinds() {
	maps.DeleteFunc(d.kinds, func(_ schema.GroupVersionKind, k *kind) bool { return k.informer == nil })
}

// informers counts the kinds that are followed.
func (d *Directory) informers() int {
	n := 0
	for _, k := range d.kinds {
		if k.informer != nil {
			n++
		}
	}
	return n
}

// note keeps why objects of a kind cannot be read, nil if they can.
func (d *Directory) note(k *kind, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	k.err = err
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
