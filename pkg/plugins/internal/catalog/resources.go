// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/generated/clientset/versioned"
	"berth.dev/berth/pkg/placement/pool"
)

// Resource is a ClusterResource as the scheduler uses it.
type Resource struct {
	// Pools are what can be given out, nil if Err is set.
	Pools *pool.Resource
	// Err says why the pools cannot be used.
	Err error
	// Deleting says that it goes as soon as nobody holds any of it.
	Deleting bool
	// Grants are the shares of several Schedulers, as of GrantsRevision.
	Grants         []berthv1alpha1.PoolGrant
	GrantsRevision int64
	// UID tells it from another one of the same name.
	UID types.UID

	object *berthv1alpha1.ClusterResource
}

// Resources is an immutable picture of all ClusterResources.
type Resources struct {
	byName map[string]*Resource
}

// Get returns a ClusterResource, nil if there is none of that name.
func (r *Resources) Get(name string) *Resource {
	if r == nil {
		return nil
	}
	return r.byName[name]
}

// Usable yields each ClusterResource whose pools can be used.
func (r *Resources) Usable(yield func(*pool.Resource) bool) {
	if r == nil {
		return
	}
	for _, known := range r.byName {
		if known.Err == nil && !yield(known.Pools) {
			return
		}
	}
}

// SamePools reports whether two states of a ClusterResource differ in nothing that pods may wait
// for but grants. Nil is none.
func SamePools(a, b *Resource) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Pools == b.Pools && a.Err == b.Err && a.Deleting == b.Deleting //nolint:errorlint // the same error, not such a one
}

// Each calls visit for each ClusterResource.
func (r *Resources) Each(visit func(name string, r *Resource)) {
	for name, known := range r.byName {
		visit(name, known)
	}
}

// ResourceCatalog keeps the newest Resources. It is apart from Catalog, so that pods which ask for
// no ClusterResource do not wait for them to be read. It is safe for concurrent use.
type ResourceCatalog struct {
	*board[Resources]
}

// NewResourceCatalog is New for ClusterResources.
func NewResourceCatalog(
	client versioned.Interface, clk clock.WithTicker, patience time.Duration, onChange func(before, after *Resources),
) (*ResourceCatalog, error) {
	c := &ResourceCatalog{newBoard("ClusterResources", clk, patience, onChange)}
	resources := client.BerthV1alpha1().ClusterResources()
	s, err := newSource("ClusterResource", listWatch(resources), &berthv1alpha1.ClusterResource{}, clk, poolsChanged, c.markDirty)
	if err != nil {
		return nil, fmt.Errorf("preparing the watch of ClusterResources: %w", err)
	}
	c.sources = []*source{s}
	c.build = func(before *Resources) *Resources {
		return buildResources(typed[*berthv1alpha1.ClusterResource](s), before)
	}
	return c, nil
}

// poolsChanged tells a change of what can be given out from a mere count of what is.
func poolsChanged(oldObj, newObj any) bool {
	before, okBefore := oldObj.(*berthv1alpha1.ClusterResource)
	after, okAfter := newObj.(*berthv1alpha1.ClusterResource)
	return !okBefore || !okAfter || !samePools(before, after) ||
		before.Status.GrantsRevision != after.Status.GrantsRevision || len(before.Status.Grants) != len(after.Status.Grants)
}

func samePools(a, b *berthv1alpha1.ClusterResource) bool {
	return a.UID == b.UID && a.DeletionTimestamp.IsZero() == b.DeletionTimestamp.IsZero() &&
		equality.Semantic.DeepEqual(a.Spec, b.Spec) && equality.Semantic.DeepEqual(a.Status.Allocatable, b.Status.Allocatable)
}

func buildResources(objects []*berthv1alpha1.ClusterResource, before *Resources) *Resources {
	r := &Resources{byName: make(map[string]*Resource, len(objects))}
	for _, object := range objects {
		if known := before.Get(object.Name); known != nil && samePools(known.object, object) {
			r.byName[object.Name] = known.with(object)
			continue
		}
		pools, err := pool.NewResource(object)
		if err != nil {
			err = fmt.Errorf("cluster resource %s: %w", object.Name, err)
		}
		made := &Resource{Pools: pools, Err: err, Deleting: object.DeletionTimestamp != nil}
		r.byName[object.Name] = made.with(object)
	}
	return r
}

// with returns the resource with the grants of another state of it, itself if they are the same.
func (r *Resource) with(object *berthv1alpha1.ClusterResource) *Resource {
	status := &object.Status
	if r.object != nil && r.GrantsRevision == status.GrantsRevision && len(r.Grants) == len(status.Grants) {
		return r
	}
	next := *r
	next.Grants, next.GrantsRevision, next.UID, next.object = status.Grants, status.GrantsRevision, object.UID, object
	return &next
}
