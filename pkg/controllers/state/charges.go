// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"berth.dev/berth/pkg/model/charges"
)

// ConcernedIndex is the index of the pods that ClusterResources concern; concerned is its only
// value.
const (
	ConcernedIndex = "berth.dev/cluster-resources"
	concerned      = "true"
)

// IndexConcerned adds ConcernedIndex to a cache. It is to be called once, before the cache starts.
func IndexConcerned(ctx context.Context, indexer client.FieldIndexer) error {
	if err := indexer.IndexField(ctx, &corev1.Pod{}, ConcernedIndex, ConcernedValues); err != nil {
		return fmt.Errorf("indexing pods by cluster resources: %w", err)
	}
	return nil
}

// ConcernedValues returns the values of a pod in ConcernedIndex.
func ConcernedValues(object client.Object) []string {
	if pod, ok := object.(*corev1.Pod); ok && charges.Concerns(pod) {
		return []string{concerned}
	}
	return nil
}

// ListConcerned reads the pods that ask for a ClusterResource or were charged for one from a cache
// with ConcernedIndex. The pods belong to the cache and must not be changed.
func ListConcerned(ctx context.Context, cache client.Reader) ([]corev1.Pod, error) {
	var pods corev1.PodList
	err := cache.List(ctx, &pods, client.UnsafeDisableDeepCopy, client.MatchingFields{ConcernedIndex: concerned})
	if err != nil {
		return nil, fmt.Errorf("listing pods: %w", err)
	}
	return pods.Items, nil
}
