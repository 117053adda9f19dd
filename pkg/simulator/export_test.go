// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package simulator

import (
	"context"

	corev1 "k8s.io/api/core/v1"
)

// Place puts a pod where an outcome says, until the fork is reverted.
func (s *Snapshot) Place(ctx context.Context, pod *corev1.Pod, outcome *Outcome) (*corev1.Pod, error) {
	return s.assume(ctx, pod, outcome)
}
