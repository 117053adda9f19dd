// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package adviser

import (
	"context"

	corev1 "k8s.io/api/core/v1"
)

// Admit returns what the API server would make of a pod that is like one of the cache: with the
// defaults of limit ranges, the overhead of its runtime class, its priority and its tolerations.
// The error says why it would refuse it. Webhooks and quotas are not asked. Admit waits until
// everything that there is has been seen once.
func (a *Adviser) Admit(ctx context.Context, pod *corev1.Pod) (*corev1.Pod, error) {
	if err := a.waitUntilReady(ctx); err != nil {
		return nil, err
	}
	admitted, err := a.server.Sample(ctx, pod)
	if err != nil {
		return nil, err
	}
	admitted.UID = pod.UID
	return admitted, nil
}
