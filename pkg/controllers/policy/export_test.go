// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/controllers/state"
)

// PodChanged, OwnerChanged and Changed are what the handlers of events do about a change of a pod,
// of an object that owns pods, and of anything else.
func (r *Reconciler) PodChanged(before, after *corev1.Pod) {
	if podChanges().Update(event.TypedUpdateEvent[*corev1.Pod]{ObjectOld: before, ObjectNew: after}) {
		onChange(r, controllerAlone).Update(context.Background(), event.TypedUpdateEvent[*corev1.Pod]{ObjectOld: before, ObjectNew: after}, &asked{})
	}
}

func (r *Reconciler) OwnerChanged(before, after client.Object) {
	onChange(r, statusAlone[client.Object]).Update(context.Background(),
		event.TypedUpdateEvent[client.Object]{ObjectOld: before, ObjectNew: after}, &asked{})
}

// NodeChanged and ClusterChanged are what is done about an update of a node or a Cluster, until a
// pass over the namespaces that it concerns is asked for.
func (r *Reconciler) NodeChanged(ctx context.Context, before, after *corev1.Node) error {
	update := event.TypedUpdateEvent[*corev1.Node]{ObjectOld: before, ObjectNew: after}
	if state.NodeChanges().Update(update) {
		everywhere(r, nodeChange).Update(ctx, update, &asked{})
	}
	return r.askEverywhere(ctx)
}

func (r *Reconciler) ClusterChanged(ctx context.Context, before, after *berthv1alpha1.Cluster) error {
	update := event.TypedUpdateEvent[*berthv1alpha1.Cluster]{ObjectOld: before, ObjectNew: after}
	if clusterChanges().Update(update) {
		everywhere(r, clusterChange).Update(ctx, update, &asked{})
	}
	return r.askEverywhere(ctx)
}

func (r *Reconciler) Changed(namespace string) { r.asks.whole(namespace) }
