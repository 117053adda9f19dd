// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package ownership

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"

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
	// lost is true if the kind was followed and is no longer served.
	lost bool
}

// lasts is how long what is known of the kind counts. Of one that is not served that is short: as
// soon as it is, its objects have pods.
func (k *kind) lasts() time.Duration {
	if k.resource.Resource == "" {
		return again
	}
	return freshKind
}

// kindOf finds out about a kind, unless it is known. The error wraps ErrUnconfirmed if the kind has
// no objects that can be read.
func (d *Directory) kindOf(ctx context.Context, gvk schema.GroupVersionKind) (*kind, error) {
	d.mu.RLock()
	k := d.kinds[gvk]
	current := k != nil && d.Clock.Since(k.resolved) < k.lasts()
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
	for namespace := range d.exchange(gvk, found, wanted) {
		d.changed(namespace, "")
	}
	return found
}

// exchange puts what was found out about a kind in the place of what was known of it. It returns
// the namespaces whose owners are no longer followed.
func (d *Directory) exchange(gvk schema.GroupVersionKind, found *kind, wanted bool) sets.Set[string] {
	d.mu.Lock()
	defer d.mu.Unlock()
	before := d.kinds[gvk]
	if before == nil && len(d.kinds) >= maxKinds {
		d.forgetKinds()
	}
	var left sets.Set[string]
	if before != nil {
		left = found.inherit(before, wanted)
	}
	d.kinds[gvk] = found
	if found.lost {
		d.unconfirm(gvk, found.err)
		d.queue.AddAfter(key{GroupVersionKind: gvk}, freshKind)
	}
	if wanted && found.informer == nil && d.mayFollow(found) {
		d.follow(gvk, found, before != nil && before.lost)
	}
	return left
}

// inherit takes over the informer from what was known before if it is still wanted, and reads the
// same. It returns the namespaces of the owners that are no longer followed.
func (k *kind) inherit(before *kind, wanted bool) sets.Set[string] {
	k.lost = k.resource.Resource == "" && (before.lost || before.informer != nil)
	switch {
	case before.informer == nil:
		return nil
	case wanted && before.resource == k.resource && before.rule == k.rule:
		k.informer, k.replicas, k.err = before.informer, before.replicas, before.err
		return nil
	default:
		before.informer.stop()
		return before.informer.namespaces()
	}
}

// unconfirm has no single object of a kind count that was confirmed before. It must be called with
// the lock.
func (d *Directory) unconfirm(gvk schema.GroupVersionKind, err error) {
	for object, l := range d.lookups {
		if object.GroupVersionKind == gvk {
			l.owner, l.err = nil, err
		}
	}
}

// forgetKinds drops the kinds that are not followed.
func (d *Directory) forgetKinds() {
	maps.DeleteFunc(d.kinds, func(_ schema.GroupVersionKind, k *kind) bool { return k.informer == nil })
}

// mayFollow reports whether there is room for one more informer. Anybody can have a policy name a
// kind, so those of which there is no more to know have a part of the room.
func (d *Directory) mayFollow(one *kind) bool {
	all, numberless := 0, 0
	for _, k := range d.kinds {
		if k.informer != nil {
			all++
			if k.replicas == nil {
				numberless++
			}
		}
	}
	return all < maxFollowed && (one.replicas != nil || numberless < maxNumberless)
}

// note keeps why objects of a kind cannot be read, nil if they can.
func (d *Directory) note(k *kind, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	k.err = err
}
