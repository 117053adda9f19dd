// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package application

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/placement/rank"
)

// What the manager calls when something changes.
var (
	PolicyChanges     = policyChanges
	PodChanges        = podChanges
	DeploymentChanges = deploymentChanges
	ClusterChanges    = clusterChanges
)

// Watch lets kinds count as watched.
func (r *Reconciler) Watch(kinds ...schema.GroupVersionKind) {
	r.watches.start(context.Background())
	for _, kind := range kinds {
		r.watches.known[kind] = time.Time{}
	}
}

// PolicyOf returns the name of the policy under which a pod is indexed.
var PolicyOf = policyOf

func (r *Reconciler) OfPod(ctx context.Context, pod client.Object) []reconcile.Request {
	return r.ofPod(ctx, pod)
}

func (r *Reconciler) Waiting(ctx context.Context, cluster client.Object) []reconcile.Request {
	return r.waiting(ctx, cluster)
}

// Candidates returns what an Application chooses from.
func (r *Reconciler) Candidates(app *berthv1alpha1.Application) []rank.Candidate {
	return r.candidates.list(r.Clusters(), app)
}

// See lets the controller see an object as it is, nil if it is gone.
func (r *Reconciler) See(namespace string, object berthv1alpha1.ApplicationObject, is metav1.Object) {
	r.keeper.seen(objectID{namespace, object}, is)
}
