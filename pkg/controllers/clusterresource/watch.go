// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package clusterresource

import (
	"context"
	"fmt"
	"maps"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/demand"
	"berth.dev/berth/pkg/model/workload"
)

// concernedIndex is the index of the pods that ask for a ClusterResource or were charged for one; concerned is its only value.
const (
	concernedIndex = "berth.dev/cluster-resources"
	concerned      = "true"
)

// IndexPods adds the index of pods that the controller needs. It is to be called once, before the cache starts.
func IndexPods(ctx context.Context, indexer client.FieldIndexer) error {
	if err := indexer.IndexField(ctx, &corev1.Pod{}, concernedIndex, IndexOf); err != nil {
		return fmt.Errorf("indexing pods by cluster resources: %w", err)
	}
	return nil
}

// Concerned selects, in a cache with the index of IndexPods, the pods that ask for a ClusterResource or were charged for one.
func Concerned() client.ListOption {
	return client.MatchingFields{concernedIndex: concerned}
}

// IndexOf returns the values of a pod in the index that IndexPods adds.
func IndexOf(object client.Object) []string {
	if pod, ok := object.(*corev1.Pod); ok && concerns(pod) {
		return []string{concerned}
	}
	return nil
}

// concerns says whether a pod asks for a ClusterResource or was charged for one.
func concerns(pod *corev1.Pod) bool {
	_, charged := pod.Annotations[berthv1alpha1.ChargedAnnotation]
	return charged || demand.Asks(pod)
}

// after asks for a pass after a pause.
func after[T client.Object](pause time.Duration) handler.TypedEventHandler[T, All] {
	type queue = workqueue.TypedRateLimitingInterface[All]
	return handler.TypedFuncs[T, All]{
		CreateFunc: func(_ context.Context, _ event.TypedCreateEvent[T], q queue) { q.AddAfter(All{}, pause) },
		UpdateFunc: func(_ context.Context, _ event.TypedUpdateEvent[T], q queue) { q.AddAfter(All{}, pause) },
		DeleteFunc: func(_ context.Context, _ event.TypedDeleteEvent[T], q queue) { q.AddAfter(All{}, pause) },
	}
}

// podChanges lets those events pass that can change what pods hold or how many wait.
func podChanges() predicate.TypedPredicate[*corev1.Pod] {
	return predicate.TypedFuncs[*corev1.Pod]{
		CreateFunc: func(e event.TypedCreateEvent[*corev1.Pod]) bool { return concerns(e.Object) },
		DeleteFunc: func(e event.TypedDeleteEvent[*corev1.Pod]) bool { return concerns(e.Object) },
		UpdateFunc: func(e event.TypedUpdateEvent[*corev1.Pod]) bool {
			before, after := e.ObjectOld, e.ObjectNew
			if !concerns(before) && !concerns(after) {
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
