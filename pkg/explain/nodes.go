// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package explain

import (
	corev1 "k8s.io/api/core/v1"
	schedulinghelpers "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/klog/v2"

	"berth.dev/berth/pkg/model/topology"
)

// NodeCounts counts nodes by what they say to a pod. Each node counts once, under the first of
// NotReady, Cordoned, Tainted and Unmatched that applies.
type NodeCounts struct {
	Total     int `json:"total"`
	Usable    int `json:"usable"`
	NotReady  int `json:"notReady"`
	Cordoned  int `json:"cordoned"`
	Tainted   int `json:"tainted"`
	Unmatched int `json:"unmatched"`
}

func countNodes(pod *corev1.Pod, nodes []*corev1.Node) NodeCounts {
	counts := NodeCounts{Total: len(nodes)}
	affinity := nodeaffinity.GetRequiredNodeAffinity(pod)
	for _, node := range nodes {
		*counts.class(pod, node, affinity)++
	}
	return counts
}

// class returns the count that a node belongs to.
func (n *NodeCounts) class(pod *corev1.Pod, node *corev1.Node, affinity nodeaffinity.RequiredNodeAffinity) *int {
	switch {
	case !topology.Ready(node):
		return &n.NotReady
	case node.Spec.Unschedulable && !tolerates(pod, cordon):
		return &n.Cordoned
	case !tolerates(pod, node.Spec.Taints):
		return &n.Tainted
	}
	if match, err := affinity.Match(node); err != nil || !match {
		return &n.Unmatched
	}
	return &n.Usable
}

// cordon is the taint that stands for a cordoned node.
var cordon = []corev1.Taint{{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule}}

func tolerates(pod *corev1.Pod, taints []corev1.Taint) bool {
	// The logger serves only comparisons that are switched off here.
	_, untolerated := schedulinghelpers.FindMatchingUntoleratedTaint(klog.Background(), taints, pod.Spec.Tolerations,
		func(taint *corev1.Taint) bool {
			return taint.Effect == corev1.TaintEffectNoSchedule || taint.Effect == corev1.TaintEffectNoExecute
		}, false)
	return !untolerated
}
