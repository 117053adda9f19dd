// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package whatif

import (
	"cmp"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

func typesName(namespace, name string) types.NamespacedName {
	return types.NamespacedName{Namespace: namespace, Name: name}
}

func compareKeys(a, b types.NamespacedName) int {
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}

// ids returns what objects there are, in order.
func (s *Simulation) ids() []id { return slices.SortedFunc(maps.Keys(s.objects), compare) }

// sortedPods returns all pods in the order of their names.
func (s *Simulation) sortedPods() []*corev1.Pod {
	return slices.SortedFunc(maps.Values(s.pods), func(a, b *corev1.Pod) int { return compareKeys(keyOf(a), keyOf(b)) })
}

// clusterOf returns the Cluster that a pod runs in, empty if there is none.
func (s *Simulation) clusterOf(pod *corev1.Pod) string { return s.clusterOfNode(pod.Spec.NodeName) }

func (s *Simulation) clusterOfNode(name string) string {
	node, _ := s.objects[id{corev1.SchemeGroupVersion.WithKind("Node").GroupKind(), typesName("", name)}].(*corev1.Node)
	if node == nil {
		return ""
	}
	return s.snapshot.ClusterOf(node)
}
