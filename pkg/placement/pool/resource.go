// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package pool decides what a pod that asks for ClusterResources is charged to. A ClusterResource
// is divided into pools; each is what the pods on the nodes of a selector may use up together. The
// package has no state of a cluster of its own: it is told which nodes there are and what pods
// hold.
package pool

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// Pool is an amount that the pods on some nodes use up together.
type Pool struct {
	// Name of the pool.
	Name string
	// Allocatable is how many units pods may hold together.
	Allocatable int64
	// Selector holds the labels that a node must have; empty selects every node.
	Selector map[string]string
}

// Resource is a ClusterResource made ready for use. It never changes.
type Resource struct {
	name  string
	mode  berthv1alpha1.PoolMode
	unit  resource.Quantity
	pools []Pool
	index map[string]int32
	// byPair finds the pools with a selector by one pair of it, the first in the order of keys; all
	// lists those without.
	byPair map[pair][]int32
	all    []int32
}

type pair struct{ key, value string }

// NewResource makes a ClusterResource ready, by what its status says is allocatable. Where its spec
// declares less already, which the status does not follow while no controller manager runs, that
// counts. The error tells why its pools cannot be used.
func NewResource(object *berthv1alpha1.ClusterResource) (*Resource, error) {
	r := &Resource{
		name: object.Name, mode: object.Spec.Mode, unit: unitOf(object), index: map[string]int32{}, byPair: map[pair][]int32{},
	}
	if r.unit.Sign() <= 0 {
		return nil, errors.New("the unit must be greater than 0")
	}
	if err := Check(r.unit); err != nil {
		return nil, fmt.Errorf("the unit %w", err)
	}
	for i := range object.Status.Allocatable {
		if err := r.add(&object.Status.Allocatable[i]); err != nil {
			return nil, err
		}
	}
	r.lower(object.Spec.Capacity)
	return r, nil
}

// lower takes from pools what a spec does not declare any more. A spec without pools leaves them to
// another program, and a quantity that cannot be used to the status, which follows none such.
func (r *Resource) lower(declared []berthv1alpha1.ClusterResourceQuantity) {
	if len(declared) == 0 {
		return
	}
	most := make([]int64, len(r.pools))
	for i := range declared {
		at, known := r.index[nameOf(&declared[i])]
		if !known {
			continue
		}
		most[at] = r.pools[at].Allocatable
		if Check(declared[i].Quantity) != nil {
			continue
		}
		if units, err := Units(declared[i].Quantity, r.unit); err == nil {
			most[at] = min(most[at], units)
		}
	}
	for i := range r.pools {
		r.pools[i].Allocatable = most[i]
	}
}

// nameOf returns the name of a pool.
func nameOf(declared *berthv1alpha1.ClusterResourceQuantity) string {
	return cmp.Or(declared.Name, "default")
}

// Usable returns those of the ClusterResources whose pools can be used, in the order given. The
// condition Ready of the others tells why not.
func Usable(objects []berthv1alpha1.ClusterResource) iter.Seq[*Resource] {
	return func(yield func(*Resource) bool) {
		for i := range objects {
			if usable, err := NewResource(&objects[i]); err == nil && !yield(usable) {
				return
			}
		}
	}
}

// UsableByName returns those of the ClusterResources whose pools can be used, in the order of their
// names.
func UsableByName(objects []berthv1alpha1.ClusterResource) []*Resource {
	return slices.SortedFunc(Usable(objects), func(a, b *Resource) int { return strings.Compare(a.Name(), b.Name()) })
}

// unitOf returns the unit of a ClusterResource, 1 if it names none.
func unitOf(object *berthv1alpha1.ClusterResource) resource.Quantity {
	if object.Spec.Unit == nil {
		return one
	}
	return *object.Spec.Unit
}

func (r *Resource) add(declared *berthv1alpha1.ClusterResourceQuantity) error {
	p := Pool{Name: nameOf(declared), Selector: declared.NodeSelector}
	if _, twice := r.index[p.Name]; twice {
		return fmt.Errorf("two pools are called %s", p.Name)
	}
	if err := Check(declared.Quantity); err != nil {
		return fmt.Errorf("pool %s: the quantity %w", p.Name, err)
	}
	var err error
	if p.Allocatable, err = Units(declared.Quantity, r.unit); err != nil {
		return fmt.Errorf("pool %s: %s %w", p.Name, declared.Quantity.String(), err)
	}
	i := int32(len(r.pools))
	r.index[p.Name] = i
	r.pools = append(r.pools, p)
	if len(p.Selector) == 0 {
		r.all = append(r.all, i)
		return nil
	}
	first := firstPair(p.Selector)
	r.byPair[first] = append(r.byPair[first], i)
	return nil
}

func firstPair(selector map[string]string) pair {
	key := slices.Min(slices.Collect(maps.Keys(selector)))
	return pair{key, selector[key]}
}

// Name returns the name of the ClusterResource.
func (r *Resource) Name() string {
	return r.name
}

// Unit returns the smallest amount that is given out.
func (r *Resource) Unit() resource.Quantity {
	return r.unit
}

// AllOf reports whether every matching pool is charged, rather than one of them.
func (r *Resource) AllOf() bool {
	return r.mode == berthv1alpha1.AllOf
}

// Pools returns the pools in the order of their declaration. They must not be changed.
func (r *Resource) Pools() []Pool {
	return r.pools
}

// Index returns the place of a pool in Pools, and false if there is none of that name.
func (r *Resource) Index(name string) (int32, bool) {
	i, found := r.index[name]
	return i, found
}

// Select returns the pools that select a node with the labels, as indexes in the order of their
// declaration.
func (r *Resource) Select(labels map[string]string) []int32 {
	found := slices.Clone(r.all)
	for key, value := range labels {
		for _, i := range r.byPair[pair{key, value}] {
			if selects(r.pools[i].Selector, labels) {
				found = append(found, i)
			}
		}
	}
	slices.Sort(found)
	return found
}

func selects(selector, labels map[string]string) bool {
	for key, value := range selector {
		if actual, found := labels[key]; !found || actual != value {
			return false
		}
	}
	return true
}
