// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package simulator

import (
	"context"
	"math"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Bind is Place for good: the pod it returns carries what a Binding would write on it, and is known
// to the snapshot from then on as one that runs. It must not be called within a fork.
func (s *Snapshot) Bind(ctx context.Context, pod *corev1.Pod, outcome *Outcome) (*corev1.Pod, error) {
	assumed, err := s.assume(ctx, pod, outcome)
	if err != nil {
		return nil, err
	}
	bound := assumed.DeepCopy()
	for key, value := range s.state.Annotations(assumed, outcome.Node) {
		metav1.SetMetaDataAnnotation(&bound.ObjectMeta, key, value)
	}
	s.begun++
	claims := bound.Status.ResourceClaimStatuses
	bound.Status = Running(s.begun)
	bound.Status.ResourceClaimStatuses = claims
	if err := s.nodes.remove(s.logger, assumed); err != nil {
		return nil, err
	}
	if err := s.nodes.add(bound); err != nil {
		return nil, err
	}
	// What was reserved is forgotten when the second event has the stamp too.
	for range 2 {
		if err := s.informers.put(bound); err != nil {
			return nil, err
		}
	}
	return bound, nil
}

// ClusterOf returns the Cluster that a node belongs to, empty if it is in none.
func (s *Snapshot) ClusterOf(node *corev1.Node) string { return s.state.ClusterOf(node) }

// Running is the status of a pod that runs and is ready. Those with a higher number have begun
// later, and all of them later than those of any real cluster.
func Running(number int) corev1.PodStatus {
	begun := metav1.Unix(math.MaxInt32+int64(number), 0)
	return corev1.PodStatus{Phase: corev1.PodRunning, StartTime: &begun, Conditions: []corev1.PodCondition{
		{Type: corev1.PodScheduled, Status: corev1.ConditionTrue}, {Type: corev1.PodReady, Status: corev1.ConditionTrue},
	}}
}
