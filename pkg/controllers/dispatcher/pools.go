// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package dispatcher

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/controller-runtime/pkg/client"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/demand"
	"berth.dev/berth/pkg/placement/pool"
)

// listPools reads the pools of ClusterResources that can be used, and what is left of each, by the
// name of the ClusterResource.
func (r *Reconciler) listPools(ctx context.Context) (pools map[string]*pool.Resource, left map[string][]int64, err error) {
	var list berthv1alpha1.ClusterResourceList
	err = r.Client.List(ctx, &list, client.UnsafeDisableDeepCopy)
	if apimeta.IsNoMatchError(err) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("listing cluster resources: %w", err)
	}
	pools, left = make(map[string]*pool.Resource, len(list.Items)), make(map[string][]int64, len(list.Items))
	for i := range list.Items {
		if usable, err := pool.NewResource(&list.Items[i]); err == nil {
			pools[usable.Name()], left[usable.Name()] = usable, usable.Left(&list.Items[i].Status)
		}
	}
	return pools, left, nil
}

// roomy returns the homes that have nodes whose pools have enough left for the pod, nil if it asks
// for nothing.
func (p *pass) roomy(pod *corev1.Pod) sets.Set[string] {
	if draws := p.draws(pod, true); draws != nil {
		return p.homesOfNodes(pod, draws)
	}
	return nil
}

// draws returns a function that reports whether a node is in a pool of everything that the pod asks
// for, and if room is true in pools that have enough left; nil if the pod asks for nothing.
func (p *pass) draws(pod *corev1.Pod, room bool) func(*corev1.Node) bool {
	if !demand.Asks(pod) {
		return nil
	}
	requests, err := demand.Of(pod)
	if err != nil {
		return nil // its home tells the pod
	}
	return func(node *corev1.Node) bool {
		for _, request := range requests {
			known := p.pools[request.Resource]
			if known == nil {
				continue
			}
			pools, units, left := known.Select(node.Labels), int64(0), p.left[request.Resource]
			if room {
				units = pool.UnitsUp(request.Quantity, known.Unit())
			}
			if !known.Admits(pools, func(i int32) int64 { return left[i] }, units) {
				return false
			}
		}
		return true
	}
}
