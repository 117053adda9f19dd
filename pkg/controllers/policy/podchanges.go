// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"berth.dev/berth/pkg/model/workload"
)

// podChanges lets those updates of pods pass that a pass looks at: most are of the status and of no
// interest.
func podChanges() predicate.TypedPredicate[*corev1.Pod] {
	return predicate.TypedFuncs[*corev1.Pod]{
		UpdateFunc: func(e event.TypedUpdateEvent[*corev1.Pod]) bool {
			before, after := e.ObjectOld, e.ObjectNew
			return before.UID != after.UID ||
				before.Spec.NodeName != after.Spec.NodeName ||
				workload.Lives(before) != workload.Lives(after) ||
				workload.Ready(before) != workload.Ready(after) ||
				workload.Unschedulable(before) != workload.Unschedulable(after) ||
				!workload.UnplacedSince(before).Equal(workload.UnplacedSince(after)) ||
				!before.Status.StartTime.Equal(after.Status.StartTime) ||
				!maps.Equal(before.Annotations, after.Annotations) ||
				!maps.Equal(before.Labels, after.Labels) ||
				!apiequality.Semantic.DeepEqual(before.OwnerReferences, after.OwnerReferences)
		},
	}
}
