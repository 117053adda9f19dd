// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package application

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// What the manager calls when something changes.
var (
	PolicyChanges  = policyChanges
	PodChanges     = podChanges
	ClusterChanges = clusterChanges
)

func (r *Reconciler) OfPod(ctx context.Context, pod client.Object) []reconcile.Request {
	return r.ofPod(ctx, pod)
}

func (r *Reconciler) Waiting(ctx context.Context, cluster client.Object) []reconcile.Request {
	return r.waiting(ctx, cluster)
}
