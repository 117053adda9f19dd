// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package application

import (
	"cmp"
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/stamp"
)

// podIndex is the index of the pods by the policy that they wait for or were placed by.
const podIndex = "berth.dev/policy"

// IndexPods adds the index of pods that the controller needs. It is to be called once, before the
// cache starts.
func IndexPods(ctx context.Context, indexer client.FieldIndexer) error {
	err := indexer.IndexField(ctx, &corev1.Pod{}, podIndex, func(object client.Object) []string {
		if pod, ok := object.(*corev1.Pod); ok && policyOf(pod) != "" {
			return []string{policyOf(pod)}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("indexing pods by policy: %w", err)
	}
	return nil
}

// policyOf returns the name of the policy that a pod was placed by, or asks for if none has placed
// it; empty for none.
func policyOf(pod *corev1.Pod) string {
	placed, _ := stamp.Of(pod)
	return cmp.Or(placed.Policy, pod.Annotations[berthv1alpha1.PolicyAnnotation])
}
