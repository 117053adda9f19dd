// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"fmt"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/topology"
	"berth.dev/berth/pkg/placement/names"
)

const (
	// maxContainedNodes bounds the list of nodes in the status; the CRD allows no more.
	maxContainedNodes = 5000
	// maxNamedLosses bounds the nodes that the message of the condition Conflicted names.
	maxNamedLosses = 5
)

func setStatus(object *berthv1alpha1.Cluster, c *topology.Cluster) {
	status := &object.Status
	status.ObservedGeneration = object.Generation
	status.NodeCount = int32(len(c.Nodes))
	status.ReadyNodeCount = int32(c.ReadyNodes)
	status.ContainedNodes = nil
	for _, node := range c.Nodes[:min(len(c.Nodes), maxContainedNodes)] {
		status.ContainedNodes = append(status.ContainedNodes, node.Name)
	}
	for _, condition := range []metav1.Condition{ready(c), conflicted(c)} {
		condition.ObservedGeneration = object.Generation
		apimeta.SetStatusCondition(&status.Conditions, condition)
	}
}

func ready(c *topology.Cluster) metav1.Condition {
	condition := metav1.Condition{Type: berthv1alpha1.ClusterReady, Status: metav1.ConditionFalse}
	switch {
	case len(c.Nodes) == 0:
		condition.Reason = berthv1alpha1.ReasonNoNodes
		condition.Message = "no existing node is named in spec.nodes or carries the labels of spec.matchLabels"
		if len(c.Object.Spec.Nodes) == 0 && len(c.Object.Spec.MatchLabels) == 0 {
			condition.Message = "spec.nodes and spec.matchLabels are both empty, which selects no node"
		} else if len(c.Lost) > 0 {
			condition.Message = "all nodes that the cluster claims belong to other clusters"
		}
	case !c.Runs():
		condition.Reason = berthv1alpha1.ReasonNoReadyNodes
		condition.Message = "no node of the cluster is ready and schedulable"
	default:
		condition.Status = metav1.ConditionTrue
		condition.Reason = berthv1alpha1.ReasonNodesReady
		condition.Message = fmt.Sprintf("%d of %d nodes are ready and schedulable", c.ReadyNodes, len(c.Nodes))
	}
	return condition
}

func conflicted(c *topology.Cluster) metav1.Condition {
	if len(c.Lost) == 0 {
		return metav1.Condition{
			Type: berthv1alpha1.ClusterConflicted, Status: metav1.ConditionFalse, Reason: berthv1alpha1.ReasonNoConflict,
			Message: "no other cluster holds a node that this one claims",
		}
	}
	var losses []string
	for _, loss := range c.Lost {
		losses = append(losses, fmt.Sprintf("node %s belongs to cluster %s", loss.Node, loss.Holder))
	}
	return metav1.Condition{
		Type: berthv1alpha1.ClusterConflicted, Status: metav1.ConditionTrue,
		Reason: berthv1alpha1.ReasonNodesHeldByOthers, Message: names.First(losses, maxNamedLosses, ", "),
	}
}
