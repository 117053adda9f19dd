// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package clusterresource

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"berth.dev/berth/pkg/model/charges"
	"berth.dev/berth/pkg/model/workload"
)

// podChanges lets those events pass that can change what pods hold or how many wait.
func podChanges() predicate.TypedPredicate[*corev1.Pod] {
	return predicate.TypedFuncs[*corev1.Pod]{
		CreateFunc: func(e event.TypedCreateEvent[*corev1.Pod]) bool { return charges.Concerns(e.Object) },
		DeleteFunc: func(e event.TypedDeleteEvent[*corev1.Pod]) bool { return charges.Concerns(e.Object) },
		UpdateFunc: func(e event.TypedUpdateEvent[*corev1.Pod]) bool {
			before, after := e.ObjectOld, e.ObjectNew
			if !charges.Concerns(before) && !charges.Concerns(after) {
				return false
			}
			return before.UID != after.UID ||
				before.Spec.NodeName != after.Spec.NodeName ||
				workload.Finished(before) != workload.Finished(after) ||
				before.DeletionTimestamp.IsZero() != after.DeletionTimestamp.IsZero() ||
				!maps.Equal(before.Annotations, after.Annotations)
		},
	}
}
