// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package ui

import (
	"fmt"
	"slices"
	"strings"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/demand"
	"berth.dev/berth/pkg/model/stamp"
	"berth.dev/berth/pkg/model/workload"
	"berth.dev/berth/pkg/placement/amount"
)

var poolColumns = []column{
	{Key: "resource", Title: "Resource"}, {Key: "pool", Title: "Pool"}, {Key: "status", Title: "Status"},
	{Key: "allocatable", Title: "Allocatable", Number: true}, {Key: "allocated", Title: "Allocated", Number: true},
	{Key: "free", Title: "Free", Number: true}, {Key: "used", Title: "Used"}, {Key: "holders", Title: "Holders", Number: true},
	{Key: "granted", Title: "Granted", Number: true}, {Key: "waiting", Title: "Waiting", Number: true},
}

// pools shows the pools of all ClusterResources.
func (s *snapshot) pools() *page {
	t := &table{ID: "pools", Caption: "Pools", Empty: s.empty("There are no ClusterResources.", resources), Columns: slices.Clone(poolColumns)}
	for i := range s.resources {
		t.Rows = append(t.Rows, poolRows(&s.resources[i])...)
	}
	return &page{Title: "Pools", View: "pools", Tables: []*table{t}, Notes: s.notes(resources)}
}

// poolRows has a row for each pool of a ClusterResource, also of those that are declared no more
// and still held.
func poolRows(r *berthv1alpha1.ClusterResource) []row {
	status := &r.Status
	names := make([]string, 0, len(status.Allocatable))
	for i := range status.Allocatable {
		names = append(names, status.Allocatable[i].Name)
	}
	for i := range status.Allocated {
		if name := status.Allocated[i].Name; !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return []row{{
			link(r.Name, resourcePath(r.Name)), text("-"), resourceStatus(r), text("-"), text("-"), text("-"), text("-"), text("-"), text("-"),
			number(status.Waiting),
		}}
	}
	rows := make([]row, 0, len(names))
	for _, name := range names {
		allocatable, allocated, free, holders := figuresOf(status, name)
		rows = append(rows, row{
			link(r.Name, resourcePath(r.Name)), text(name), resourceStatus(r), quantity(allocatable), quantity(allocated),
			quantity(free), used(allocated, allocatable), number(holders), grantedOf(status, name), number(status.Waiting),
		})
	}
	return rows
}

func figuresOf(status *berthv1alpha1.ClusterResourceStatus, pool string) (allocatable, allocated, free resource.Quantity, holders int32) {
	for i := range status.Allocatable {
		if status.Allocatable[i].Name == pool {
			allocatable = status.Allocatable[i].Quantity
		}
	}
	free = allocatable
	for i := range status.Allocated {
		if a := &status.Allocated[i]; a.Name == pool {
			allocated, free, holders = a.Quantity, a.Free, a.Holders
		}
	}
	return allocatable, allocated, free, holders
}

// grantedOf shows how much of a pool Schedulers were granted; a dash while one may give out all.
func grantedOf(status *berthv1alpha1.ClusterResourceStatus, pool string) cell {
	var sum resource.Quantity
	some := false
	for i := range status.Grants {
		if status.Grants[i].Pool == pool {
			sum.Add(status.Grants[i].Quantity)
			some = true
		}
	}
	if !some {
		return cell{Text: "-", order: -1}
	}
	return quantity(sum)
}

func quantity(q resource.Quantity) cell {
	return cell{Text: amount.Text(q), order: q.AsApproximateFloat64()}
}

func used(allocated, allocatable resource.Quantity) cell {
	whole := allocatable.AsApproximateFloat64()
	if whole <= 0 {
		return cell{Text: "-", order: -1}
	}
	const steps = 1000
	part := allocated.AsApproximateFloat64() / whole
	return cell{
		Text: fmt.Sprintf("%.0f%%", 100*part), Bar: &bar{Value: int64(steps * min(part, 1)), Max: steps}, order: part,
	}
}

func resourceStatus(r *berthv1alpha1.ClusterResource) cell {
	is := func(condition string) bool { return apimeta.IsStatusConditionTrue(r.Status.Conditions, condition) }
	ready := apimeta.FindStatusCondition(r.Status.Conditions, berthv1alpha1.ClusterResourceReady)
	switch {
	case r.DeletionTimestamp != nil:
		return state(false, "being deleted")
	case is(berthv1alpha1.ClusterResourceOvercommitted):
		return state(false, "overcommitted")
	case ready == nil:
		return text("unknown")
	case ready.Status != "True":
		return state(false, "not ready: "+ready.Reason)
	default:
		return state(true, "ready")
	}
}

// resource shows one ClusterResource, nil if there is none of the name.
func (s *snapshot) resource(name string) *page {
	i := slices.IndexFunc(s.resources, func(r berthv1alpha1.ClusterResource) bool { return r.Name == name })
	if i < 0 {
		return nil
	}
	r := &s.resources[i]
	declared := &table{
		ID: "pools", Caption: "Pools", Columns: slices.Clone(poolColumns), Rows: poolRows(r), Empty: "It has no pools.",
	}
	namespaces := &table{ID: "namespaces", Caption: "Namespaces that hold most", Empty: "Nobody holds any.", Columns: []column{
		{Key: "namespace", Title: "Namespace"}, {Key: "quantity", Title: "Quantity", Number: true},
		{Key: "holders", Title: "Holders", Number: true},
	}}
	for i := range r.Status.TopNamespaces {
		n := &r.Status.TopNamespaces[i]
		namespaces.Rows = append(namespaces.Rows, row{text(n.Namespace), quantity(n.Quantity), number(n.Holders)})
	}
	return &page{
		Title: name, Kind: "ClusterResource", View: "pools", Notes: s.notes(resources, pods, nodes, clusters),
		Facts: []fact{
			{"Status", resourceStatus(r)}, {"Mode", text(string(r.Spec.Mode))}, {"Waiting pods", number(r.Status.Waiting)},
		},
		Tables: []*table{declared, s.holders(name), s.askers(name), namespaces, conditionTable(r.Status.Conditions)},
	}
}

// holders shows the pods that hold some of a ClusterResource.
func (s *snapshot) holders(name string) *table {
	t := &table{ID: "holders", Caption: "Holders", Empty: s.empty("No pod that you may see holds any.", pods), Columns: []column{
		{Key: "namespace", Title: "Namespace"}, {Key: "pod", Title: "Pod"}, {Key: "pool", Title: "Pool"},
		{Key: "quantity", Title: "Quantity", Number: true}, {Key: "site", Title: "Site"}, {Key: "node", Title: "Node"},
	}}
	for i := range s.state.Objects.Pods {
		pod := &s.state.Objects.Pods[i]
		if pod.Spec.NodeName == "" || workload.Finished(pod) {
			continue
		}
		charges, _ := stamp.ChargesOf(pod)
		for _, c := range charges {
			if c.Resource == name {
				t.Rows = append(t.Rows, row{
					text(pod.Namespace), link(pod.Name, podPath(pod.Namespace, pod.Name)), text(c.Pool), quantity(c.Quantity),
					s.siteCell(s.state.Topology.ClusterOf(pod)), text(pod.Spec.NodeName),
				})
			}
		}
	}
	sortRows(t.Rows)
	return t
}

// askers shows the pods that ask for some of a ClusterResource and have no node.
func (s *snapshot) askers(name string) *table {
	t := &table{ID: "waiting", Caption: "Waiting pods", Empty: s.empty("No pod that you may see waits for it.", pods), Columns: []column{
		{Key: "namespace", Title: "Namespace"}, {Key: "pod", Title: "Pod"}, {Key: "quantity", Title: "Asks for", Number: true},
		{Key: "says", Title: "The scheduler says"},
	}}
	for i := range s.state.Objects.Pods {
		pod := &s.state.Objects.Pods[i]
		if !workload.Pending(pod) {
			continue
		}
		requests, _ := demand.Of(pod)
		for _, r := range requests {
			if r.Resource == name {
				t.Rows = append(t.Rows, row{
					text(pod.Namespace), link(pod.Name, podPath(pod.Namespace, pod.Name)), quantity(r.Quantity),
					text(workload.PendingMessage(pod)),
				})
			}
		}
	}
	sortRows(t.Rows)
	return t
}

// sortRows sorts by the texts of the first columns.
func sortRows(rows []row) {
	slices.SortStableFunc(rows, func(a, b row) int {
		if order := strings.Compare(a[0].Text, b[0].Text); order != 0 {
			return order
		}
		return strings.Compare(a[1].Text, b[1].Text)
	})
}
