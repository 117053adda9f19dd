// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package remedy

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/klog/v2"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/demand"
	"berth.dev/berth/pkg/placement/amount"
	"berth.dev/berth/pkg/placement/pool"
	"berth.dev/berth/pkg/simulator"
)

// ofPools are the pools of ClusterResources that have too little left for the pod on a node. What
// cannot be read of the pod the scheduler refuses, whatever the pools say.
func (f *finder) ofPools(node *corev1.Node) []change {
	requests, err := demand.Of(f.pod)
	if err != nil {
		return nil
	}
	var changes []change
	for _, request := range requests {
		i := slices.IndexFunc(f.world.Berth.Resources, func(r *berthv1alpha1.ClusterResource) bool { return r.Name == request.Resource })
		if i < 0 {
			continue
		}
		changes = append(changes, short(f.world.Berth.Resources[i], request, node)...)
	}
	return changes
}

// short returns what pools of a ClusterResource lack for a request on a node.
func short(object *berthv1alpha1.ClusterResource, request pool.Request, node *corev1.Node) []change {
	ready, err := pool.NewResource(object)
	if err != nil {
		return nil
	}
	units, err := pool.Units(request.Quantity, ready.Unit())
	if err != nil {
		return nil
	}
	var changes []change
	left := ready.Left(&object.Status)
	for _, i := range ready.Select(node.Labels) {
		missing, fits := pool.Quantity(units-left[i], ready.Unit())
		if units <= left[i] || !fits {
			continue
		}
		name := ready.Pools()[i].Name
		changes = append(changes, change{
			text:   fmt.Sprintf("%s more of cluster resource %s is free in pool %s, or the pool is larger by that", amount.AtLeast(missing), object.Name, name),
			effort: float64(units - left[i]),
			berth:  func(objects *simulator.Objects) { enlarge(objects, object.Name, name, missing) },
		})
	}
	return changes
}

// enlarge makes a pool larger.
func enlarge(objects *simulator.Objects, name, poolName string, by resource.Quantity) {
	objects.Resources = slices.Clone(objects.Resources)
	for i, object := range objects.Resources {
		if object.Name != name {
			continue
		}
		larger := object.DeepCopy()
		for _, list := range [][]berthv1alpha1.ClusterResourceQuantity{larger.Spec.Capacity, larger.Status.Capacity, larger.Status.Allocatable} {
			for j := range list {
				if list[j].Name == poolName {
					list[j].Quantity.Add(by)
				}
			}
		}
		objects.Resources[i] = larger
	}
}

// matches reports whether the node selector and affinity of a pod match a node.
func matches(pod *corev1.Pod, node *corev1.Node) bool {
	match, err := nodeaffinity.GetRequiredNodeAffinity(pod).Match(node)
	return err == nil && match
}

// tolerated reports whether a pod tolerates a taint.
func tolerated(pod *corev1.Pod, taint *corev1.Taint) bool {
	return slices.ContainsFunc(pod.Spec.Tolerations, func(t corev1.Toleration) bool { return t.ToleratesTaint(klog.Background(), taint, false) })
}
