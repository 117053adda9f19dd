// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package grants

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/controller-runtime/pkg/client"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/controllers/state"
	"berth.dev/berth/pkg/model/charges"
	"berth.dev/berth/pkg/placement/pool"
)

// count adds up what pods hold.
func (r *Reconciler) count(ctx context.Context, resources []berthv1alpha1.ClusterResource) (*pool.Account, error) {
	pods, err := state.ListConcerned(ctx, r.Client)
	if err != nil {
		return nil, err
	}
	tally, err := charges.Count(pods, func() (*charges.Pools, error) { return r.pools(ctx, resources, nil) })
	if err != nil {
		return nil, err
	}
	return tally.Account, nil
}

// pools returns the pools that can be used, on all nodes or, unless that is nil, on some; the
// condition Ready tells of the others.
func (r *Reconciler) pools(
	ctx context.Context, resources []berthv1alpha1.ClusterResource, on sets.Set[string],
) (*charges.Pools, error) {
	var nodes corev1.NodeList
	if err := r.Client.List(ctx, &nodes, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("listing nodes: %w", err)
	}
	pools := charges.NewPools()
	for i := range nodes.Items {
		if on == nil || on.Has(nodes.Items[i].Name) {
			pools.SetNode(&nodes.Items[i])
		}
	}
	pools.Use(pool.Usable(resources))
	return pools, nil
}

// heldOf returns how many units of a pool pods hold, by the Scheduler out of whose grant.
func heldOf(account *pool.Account, r *pool.Resource, poolName string) map[string]int64 {
	held := map[string]int64{}
	for grantee, quantity := range account.ByGrantee(r.Name(), poolName) {
		held[grantee] = pool.UnitsUp(quantity, r.Unit())
	}
	return held
}
