// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package clustermetrics

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"berth.dev/berth/pkg/placement/rank"
	"berth.dev/berth/pkg/plugins/internal/catalog"
)

// wishOf returns what a pod wants by its annotations and by its policy, which may be nil. The error names what cannot be
// understood.
func wishOf(pod *corev1.Pod, policy *catalog.Policy) (*rank.Wish, error) {
	w, err := rank.ParseAnnotations(pod.Annotations)
	if err != nil || policy == nil || !policy.Constrained() {
		return w, err
	}
	if policy.ConstraintsErr != nil {
		return nil, fmt.Errorf("constraints of policy %s: %w", policy.Object.Name, policy.ConstraintsErr)
	}
	w.Constraints = w.Constraints.And(policy.Constraints)
	return w, nil
}
