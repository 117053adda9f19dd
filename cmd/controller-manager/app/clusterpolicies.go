// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"

	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"

	"berth.dev/berth/pkg/controllers/clusterpolicy"
)

// startClusterPolicies starts the controller of ClusterPropagationPolicies as soon as its kinds are
// served. Nothing else waits for that.
func startClusterPolicies(mgr ctrl.Manager) func(context.Context) error {
	return func(ctx context.Context) error {
		if !awaitKinds(ctx, mgr, "ClusterPropagationPolicy", "PropagationPolicy") {
			return nil
		}
		if err := clusterpolicy.IndexPolicies(ctx, mgr.GetFieldIndexer()); err != nil {
			return err
		}
		controller := &clusterpolicy.Reconciler{Client: mgr.GetClient(), Clock: clock.RealClock{}}
		if err := setUp(mgr, controller); err != nil {
			return err
		}
		<-ctx.Done()
		return nil
	}
}
