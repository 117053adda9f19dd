// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
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

func (r *Reconciler) Changed(namespace string) { r.asks.whole(namespace) }
