// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package dispatcher

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/demand"
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
	p.pools = make(map[string]*pool.Resource, len(list.Items))
	for i := range list.Items {
		if usable, err := pool.NewResource(&list.Items[i]); err == nil {
			p.pools[usable.Name()] = usable
		}
	}
	return nil
}

// draws returns what tells the nodes that are in a pool of everything that the pod asks for; nil if it asks for nothing.
func (p *pass) draws(pod *corev1.Pod) func(*corev1.Node) bool {
	if !demand.Asks(pod) {
		return nil
	}
	requests, err := demand.Of(pod)
	if err != nil {
		return nil // its home tells the pod
	}
	return func(node *corev1.Node) bool {
		for _, request := range requests {
			if known := p.pools[request.Resource]; known != nil && len(known.Select(node.Labels)) == 0 {
				return false
			}
		}
		return true
	}
}
