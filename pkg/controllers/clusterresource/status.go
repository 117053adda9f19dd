// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package clusterresource

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/placement/amount"
)

const (
	// maxTopNamespaces bounds the namespaces in the status.
	maxTopNamespaces = 10
	// maxNamed bounds what the message of a condition names.
	maxNamed = 5
)

func setStatus(object *berthv1alpha1.ClusterResource, o *observed) {
	status := &object.Status
	status.ObservedGeneration = object.Generation
	status.Capacity, status.Allocatable = o.published.Status.Capacity, o.published.Status.Allocatable
	status.Allocated = o.allocated()
	status.TopNamespaces = o.topNamespaces()
	status.Waiting = o.waiting
	status.Summary = summarize(status)
	conditions := []metav1.Condition{o.ready(), overcommitted(status)}
	if object.DeletionTimestamp != nil {
		conditions = append(conditions, o.inUse())
	}
	for _, condition := range conditions {
		condition.ObservedGeneration = object.Generation
		apimeta.SetStatusCondition(&status.Conditions, condition)
	}
}

// allocated tells of the pools in the order of their declaration, and then of those that are
// declared no more.
func (o *observed) allocated() []berthv1alpha1.PoolAllocation {
	declared := o.published.Status.Allocatable
	allocated := make([]berthv1alpha1.PoolAllocation, 0, len(declared))
	known := make(map[string]bool, len(declared))
	for i := range declared {
		known[declared[i].Name] = true
		allocated = append(allocated, o.allocation(declared[i].Name, declared[i].Quantity))
	}
	gone := slices.DeleteFunc(o.account.Pools(o.object.Name), func(name string) bool { return known[name] })
	slices.Sort(gone)
	for _, name := range gone {
		allocated = append(allocated, o.allocation(name, resource.Quantity{}))
	}
	return allocated
}

func (o *observed) allocation(name string, allocatable resource.Quantity) berthv1alpha1.PoolAllocation {
	held, holders := o.account.Held(o.object.Name, name)
	free := allocatable.DeepCopy()
	free.Sub(held)
	if free.Sign() < 0 {
		free = resource.Quantity{}
	}
	return berthv1alpha1.PoolAllocation{Name: name, Quantity: held.DeepCopy(), Free: free, Holders: int32(holders)}
}

func (o *observed) topNamespaces() []berthv1alpha1.NamespaceAllocation {
	var top []berthv1alpha1.NamespaceAllocation
	for of := range maps.Values(o.namespaces) {
		top = append(top, *of)
	}
	slices.SortFunc(top, func(a, b berthv1alpha1.NamespaceAllocation) int {
		return cmp.Or(b.Quantity.Cmp(a.Quantity), strings.Compare(a.Namespace, b.Namespace))
	})
	return top[:min(len(top), maxTopNamespaces)]
}

func (o *observed) ready() metav1.Condition {
	condition := metav1.Condition{Type: berthv1alpha1.ClusterResourceReady, Status: metav1.ConditionFalse}
	declared := len(o.object.Spec.Capacity) > 0
	switch {
	case o.invalid != nil:
		condition.Reason = berthv1alpha1.ReasonInvalidPools
		condition.Message = o.invalid.Error()
	case declared:
		condition.Status, condition.Reason = metav1.ConditionTrue, berthv1alpha1.ReasonPublished
		condition.Message = "the pools of spec.capacity are allocatable" + o.remarks()
	case len(o.published.Status.Allocatable) == 0:
		condition.Reason = berthv1alpha1.ReasonNothingReported
		condition.Message = "spec.capacity is empty, and nobody has reported status.allocatable yet"
	default:
		condition.Status, condition.Reason = metav1.ConditionTrue, berthv1alpha1.ReasonReported
		condition.Message = "the pools that another program reported are allocatable" + o.remarks()
	}
	return condition
}

// remarks tells what is allowed and probably not meant.
func (o *observed) remarks() string {
	var unused []string
	for i, p := range o.resource.Pools() {
		if o.places.Selected(int32(i)) == 0 {
			unused = append(unused, p.Name)
		}
	}
	text := ""
	if len(unused) > 0 {
		text = "; no node is selected by " + enumerate(unused)
	}
	if len(o.listing) > 0 {
		text += "; the kubelet refuses pods on nodes that list the resource as their own: " + enumerate(o.listing)
	}
	return text
}

func overcommitted(status *berthv1alpha1.ClusterResourceStatus) metav1.Condition {
	allocatable := map[string]resource.Quantity{}
	for _, p := range status.Allocatable {
		allocatable[p.Name] = p.Quantity
	}
	var over []string
	for _, p := range status.Allocated {
		if limit := allocatable[p.Name]; p.Quantity.Cmp(limit) > 0 {
			over = append(over, fmt.Sprintf("%s (%s of %s)", p.Name, amount.Text(p.Quantity), amount.Text(limit)))
		}
	}
	if len(over) == 0 {
		return metav1.Condition{
			Type: berthv1alpha1.ClusterResourceOvercommitted, Status: metav1.ConditionFalse,
			Reason: berthv1alpha1.ReasonWithinAllocatable, Message: "pods hold no more than is allocatable",
		}
	}
	return metav1.Condition{
		Type: berthv1alpha1.ClusterResourceOvercommitted, Status: metav1.ConditionTrue,
		Reason:  berthv1alpha1.ReasonAboveAllocatable,
		Message: "pods hold more than is allocatable of " + enumerate(over) + "; nobody is evicted, and nothing more is given out of that",
	}
}

func (o *observed) inUse() metav1.Condition {
	slices.Sort(o.pods)
	return metav1.Condition{
		Type: berthv1alpha1.ClusterResourceInUse, Status: metav1.ConditionTrue, Reason: berthv1alpha1.ReasonHeldByPods,
		Message: "it is deleted as soon as these pods are gone: " + enumerate(o.pods),
	}
}

// enumerate names the first few.
func enumerate(names []string) string {
	named := names[:min(len(names), maxNamed)]
	text := strings.Join(named, ", ")
	if more := len(names) - len(named); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
