// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"berth.dev/berth/pkg/placement/rank"
)

// WishOf returns what a pod, by its annotations, and the policy in force for it, which may be nil,
// ask of clusters together; nil if they ask for nothing. A cluster meets it if
// wish.Constraints.Admits says so.
//
// The error names the annotation or the field that cannot be understood. Such a pod is placed
// nowhere until it is corrected. So the scheduler rejects it with the error, and whoever looks for
// room for it finds none. Only the choice of a scheduler for the pod ignores the constraints then,
// because some scheduler has to reject it.
func WishOf(pod *corev1.Pod, policy *Policy) (*rank.Wish, error) {
	constrained := policy != nil && policy.Constrained()
	if !constrained && !rank.HasWish(pod.Annotations) {
		return nil, nil
	}
	wish, err := rank.ParseAnnotations(pod.Annotations)
	if err != nil || !constrained {
		return wish, err
	}
	if policy.ConstraintsErr != nil {
		return nil, fmt.Errorf("constraints of policy %s: %w", policy.Object.Name, policy.ConstraintsErr)
	}
	wish.Constraints = wish.Constraints.And(policy.Constraints)
	return wish, nil
}
