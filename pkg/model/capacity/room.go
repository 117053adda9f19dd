// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package capacity says how much Clusters have, by which policies weigh them: what the nodes have,
// what there is of ClusterResources, and what others leave.
package capacity

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"
	podresource "k8s.io/component-helpers/resource"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/stamp"
	"berth.dev/berth/pkg/model/topology"
	"berth.dev/berth/pkg/model/workload"
	"berth.dev/berth/pkg/placement/grouping"
)

// Asked are the resources by whose room policies weigh clusters, those policies, and the
// ClusterResources by whose pools policies do.
type Asked struct {
	resources []string
	policies  map[types.NamespacedName]bool
	pools     map[string]bool
}

// AskedBy returns what the policies ask for.
func AskedBy(policies []berthv1alpha1.PropagationPolicy) Asked {
	asked := Asked{policies: map[types.NamespacedName]bool{}, pools: map[string]bool{}}
	for i := range policies {
		p := &policies[i]
		for _, name := range grouping.ByPool(&p.Spec.Placement) {
			asked.pools[name] = true
		}
		if names := grouping.ByRoom(&p.Spec.Placement); len(names) > 0 {
			asked.resources = append(asked.resources, names...)
			asked.policies[types.NamespacedName{Namespace: p.Namespace, Name: p.Name}] = true
		}
	}
	slices.Sort(asked.resources)
	asked.resources = slices.Compact(asked.resources)
	asked.resources = asked.resources[:min(len(asked.resources), maxResources)]
	return asked
}

// None reports whether no policy weighs clusters by room.
func (a *Asked) None() bool { return len(a.resources) == 0 }

// Rooms returns for each Cluster what its nodes have that nobody requests, as status.room tells it.
//
// Pods of policies that weigh by room do not count: with them, a cluster that gets more would look
// worse for it, and the pods would go to and fro. Without them the policies share what all others
// leave, each in the same proportion, and where their pods are makes no difference.
func (a *Asked) Rooms(snapshot *topology.Snapshot, pods []corev1.Pod) map[string]corev1.ResourceList {
	requested := map[string]map[string]int64{}
	for i := range pods {
		pod := &pods[i]
		if pod.Spec.NodeName == "" || workload.Finished(pod) || a.movable(pod) {
			continue
		}
		on := requested[pod.Spec.NodeName]
		if on == nil {
			on = map[string]int64{}
			requested[pod.Spec.NodeName] = on
		}
		a.add(on, pod)
	}
	rooms := make(map[string]corev1.ResourceList, len(snapshot.Clusters()))
	for name, c := range snapshot.Clusters() {
		rooms[name] = a.roomOf(c, requested)
	}
	return rooms
}

// movable reports whether a policy placed a pod that weighs clusters by room.
func (a *Asked) movable(pod *corev1.Pod) bool {
	given, placed := stamp.Of(pod)
	return placed && a.policies[types.NamespacedName{Namespace: pod.Namespace, Name: given.Policy}]
}

// add counts what a pod requests.
func (a *Asked) add(sums map[string]int64, pod *corev1.Pod) {
	requests := podresource.PodRequests(pod, podresource.PodResourcesOptions{})
	for _, name := range a.resources {
		if name == string(corev1.ResourcePods) {
			sums[name]++
		} else if amount, asks := requests[corev1.ResourceName(name)]; asks {
			sums[name] += grouping.Number(name, amount)
		}
	}
}

// roomOf returns the room of one Cluster. What one node has too little of, because more is
// requested than it has, is not taken from another. Of what no node has there is 0, so that it is
// known to have been counted.
func (a *Asked) roomOf(c *topology.Cluster, requested map[string]map[string]int64) corev1.ResourceList {
	free := map[string]int64{}
	for _, name := range a.resources {
		if len(c.Nodes) > 0 {
			free[name] = 0
		}
	}
	for _, node := range c.Nodes {
		for _, name := range a.resources {
			amount, has := node.Status.Allocatable[corev1.ResourceName(name)]
			if !has {
				continue
			}
			left := grouping.Number(name, amount) - requested[node.Name][name]
			if node.Spec.Unschedulable {
				left = 0
			}
			free[name] += max(0, left)
		}
	}
	if len(free) == 0 {
		return nil
	}
	room := make(corev1.ResourceList, len(free))
	for name, n := range free {
		room[corev1.ResourceName(name)] = quantity(name, n)
	}
	return room
}

// quantity is what grouping.Number makes a number of.
func quantity(name string, n int64) resource.Quantity {
	if name == string(corev1.ResourceCPU) {
		return *resource.NewMilliQuantity(n, resource.DecimalSI)
	}
	return *resource.NewQuantity(n, resource.DecimalSI)
}

// Alike reports whether two rooms make the same weights: they tell of the same resources, and as
// much of each but for what is rounded off.
func Alike(a, b corev1.ResourceList) bool {
	for name, amount := range b {
		before, told := a[name]
		if !told || rounded(name, before) != rounded(name, amount) {
			return false
		}
	}
	return len(a) == len(b)
}

func rounded(name corev1.ResourceName, amount resource.Quantity) int64 {
	return grouping.RoundDown(grouping.Number(string(name), amount))
}
