// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package clusterpolicy

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	modelpolicy "berth.dev/berth/pkg/model/policy"
)

// nameIndex is the index of PropagationPolicies by their names.
const nameIndex = "metadata.name"

// IndexPolicies adds the index of PropagationPolicies that the controller needs. It is to be called
// once, when the kind is served.
func IndexPolicies(ctx context.Context, indexer client.FieldIndexer) error {
	err := indexer.IndexField(ctx, &berthv1alpha1.PropagationPolicy{}, nameIndex, func(object client.Object) []string {
		return []string{object.GetName()}
	})
	if err != nil {
		return fmt.Errorf("indexing policies by name: %w", err)
	}
	return nil
}

// SetupWithManager registers the controller.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager) error {
	err := ctrl.NewControllerManagedBy(mgr).
		Named(controllerName).
		For(&berthv1alpha1.ClusterPropagationPolicy{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Watches(&berthv1alpha1.PropagationPolicy{}, handler.EnqueueRequestsFromMapFunc(r.named)).
		Watches(&corev1.Namespace{}, handler.EnqueueRequestsFromMapFunc(r.all), builder.WithPredicates(predicate.LabelChangedPredicate{})).
		Complete(r)
	if err != nil {
		return fmt.Errorf("setting up the controller of ClusterPropagationPolicies: %w", err)
	}
	return nil
}

// named asks for a look at the policy that is carried out by one of this name in a namespace,
// whoever owns that: one of somebody else is in the way.
func (r *Reconciler) named(_ context.Context, object client.Object) []reconcile.Request {
	name, clusterwide := modelpolicy.NameClusterwide(object.GetName())
	if !clusterwide {
		return nil
	}
	return []reconcile.Request{{NamespacedName: types.NamespacedName{Name: name}}}
}

// all asks for a look at each policy: a namespace has come, has gone or has other labels.
func (r *Reconciler) all(ctx context.Context, _ client.Object) []reconcile.Request {
	var list berthv1alpha1.ClusterPropagationPolicyList
	if err := r.Client.List(ctx, &list); err != nil {
		ctrl.LoggerFrom(ctx).V(2).Info("Cannot list ClusterPropagationPolicies", "err", err)
		return nil
	}
	requests := make([]reconcile.Request, len(list.Items))
	for i := range list.Items {
		requests[i].NamespacedName = types.NamespacedName{Name: list.Items[i].Name}
	}
	return requests
}
