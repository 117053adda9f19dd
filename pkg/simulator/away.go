// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package simulator

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// FillAway is Fill on the nodes of a Cluster that are not ready, as if they were back. It is for
// pods that wait for them: what a copy takes beside its node, such as units of a ClusterResource,
// is not left for others.
func (s *Snapshot) FillAway(ctx context.Context, cluster string, pod *corev1.Pod, limit int) (Room, error) {
	s.members() // as it is, not as if they were back
	names := map[string]bool{}
	for _, info := range s.nodes.list {
		node := info.Node()
		if !notReady(node) || s.state.ClusterOf(node) != cluster {
			continue
		}
		names[node.Name] = true
		known := s.nodes.byName[node.Name]
		known.SetNode(back(node))
		defer known.SetNode(node) //nolint:gocritic // all of them, once it has been counted
	}
	if len(names) == 0 {
		return Room{}, nil
	}
	return s.fill(ctx, &count{pod: pod, limit: limit, cluster: names, stay: true}, cluster)
}

// back returns the node as it was before it got lost.
func back(node *corev1.Node) *corev1.Node {
	node = node.DeepCopy()
	node.Spec.Taints = slices.DeleteFunc(node.Spec.Taints, func(t corev1.Taint) bool {
		return t.Key == corev1.TaintNodeNotReady || t.Key == corev1.TaintNodeUnreachable
	})
	for i := range node.Status.Conditions {
		if c := &node.Status.Conditions[i]; c.Type == corev1.NodeReady {
			c.Status = corev1.ConditionTrue
		}
	}
	return node
}
