// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package dispatcher

import (
	"context"
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/demand"
	"berth.dev/berth/pkg/placement/pool"
)

// listPools reads the pools of ClusterResources that can be used.
func (p *pass) listPools(ctx context.Context) error {
	var list berthv1alpha1.ClusterResourceList
	err := p.Client.List(ctx, &list, client.UnsafeDisableDeepCopy)
	if apimeta.IsNoMatchError(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("listing cluster resources: %w", err)
	}
	p.pools, p.left = make(map[string]*pool.Resource, len(list.Items)), make(map[string][]int64, len(list.Items))
	for i := range list.Items {
		if usable, err := pool.NewResource(&list.Items[i]); err == nil {
			p.pools[usable.Name()], p.left[usable.Name()] = usable, usable.Left(&list.Items[i].Status)
		}
	}
	return nil
}

// withRoom returns those of the homes that have nodes whose pools have enough left for the pod; all of them if there is none.
func (p *pass) withRoom(pod *corev1.Pod, allowed map[string]bool) map[string]bool {
	draws := p.draws(pod, true)
	if draws == nil {
		return allowed
	}
	roomy := map[string]bool{}
	p.admitted(pod, draws, roomy)
	maps.DeleteFunc(roomy, func(name string, _ bool) bool { return !allowed[name] })
	if len(roomy) == 0 {
		return allowed
	}
	return roomy
}

// draws returns what tells the nodes that are in a pool of everything that the pod asks for, and with room in pools that have enough
// left; nil if it asks for nothing.
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
