// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package simulator

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// Takers returns the names of the nodes that take the pod at this moment, in order.
func (s *Snapshot) Takers(ctx context.Context, pod *corev1.Pod) ([]string, error) {
	s.Fork()
	defer s.Revert()
	asked := *pod
	if err := s.lendClaims(&asked); err != nil {
		return nil, fmt.Errorf("giving pod %s/%s its claims: %w", pod.Namespace, pod.Name, err)
	}
	found, _, err := s.feasible(klog.NewContext(ctx, s.logger), framework.NewCycleState(), &asked)
	if err != nil {
		return nil, fmt.Errorf("looking for nodes for pod %s/%s: %w", pod.Namespace, pod.Name, err)
	}
	names := make([]string, len(found))
	for i, node := range found {
		names[i] = node.Node().Name
	}
	return names, nil
}
