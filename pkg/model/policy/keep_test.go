// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/policy"
	"berth.dev/berth/pkg/model/topology"
	"berth.dev/berth/pkg/model/workload"
	"berth.dev/berth/pkg/placement/rebalance"
)

func clusterOf(cordoned, drained bool) *topology.Cluster {
	return &topology.Cluster{Object: &berthv1alpha1.Cluster{Spec: berthv1alpha1.ClusterSpec{Unschedulable: cordoned, Drain: drained}}}
}

func TestUnwanted(t *testing.T) {
	choosing := &berthv1alpha1.PropagationPolicy{}
	choosing.Spec.Placement.ClusterGroups = []berthv1alpha1.ClusterGroup{{Name: "few", MaxClusters: new(int32(1))}}
	open, drained := clusterOf(false, false), clusterOf(true, true)
	tests := map[string]struct {
		policy  *berthv1alpha1.PropagationPolicy
		cluster *topology.Cluster
		named   bool
		want    bool
	}{
		"where it belongs":                   {policy: object(1, "a"), cluster: open, named: true},
		"in no Cluster":                      {policy: choosing, want: true},
		"in one that is drained":             {policy: object(1, "a"), cluster: drained, named: true, want: true},
		"in one that is not the policy's":    {policy: object(1, "a"), cluster: open, want: true},
		"in one that may be chosen again":    {policy: choosing, cluster: open},
		"in one that is drained, not chosen": {policy: choosing, cluster: drained, want: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := policy.Unwanted(tc.policy, tc.cluster, tc.named); got != tc.want {
				t.Errorf("unwanted: %t, want %t", got, tc.want)
			}
		})
	}
}

func TestPodsStayInAClusterThatDoesNotMeetTheConstraints(t *testing.T) {
	compiled := policy.Compile(constrained(object(1, "a", "b")), sitesOf("a!", "b"))
	node := &corev1.Node{Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}}}
	for name, tc := range map[string]struct {
		cluster string
		drained bool
		want    rebalance.Keep
	}{
		"one that meets them":  {cluster: "b", want: rebalance.Movable},
		"one that does not":    {cluster: "a", want: rebalance.Excluded},
		"one that is drained":  {cluster: "a", drained: true, want: rebalance.Movable},
		"none of the policy's": {cluster: "c", want: rebalance.Movable},
	} {
		t.Run(name, func(t *testing.T) {
			cluster, pod := clusterOf(tc.drained, tc.drained), asking("", compiled.Object.Name)
			cluster.Object.Name = tc.cluster
			pod.OwnerReferences = []metav1.OwnerReference{controller("apps/v1", "ReplicaSet", "rs")}
			if got := compiled.KeepOf(&workload.Workload{}, pod, node, cluster, nil, rebalance.Movable); got != tc.want {
				t.Errorf("%d, want %d", got, tc.want)
			}
		})
	}
}

// TestPodsStayInAClusterThatIsBack has been left by the policy.
func TestPodsStayInAClusterThatIsBack(t *testing.T) {
	object := object(1, "a", "b")
	object.Status.FailedOver = []berthv1alpha1.FailedOverCluster{{Cluster: "a"}}
	compiled := policy.Compile(object, sitesOf("a", "b"))
	node := &corev1.Node{Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}}}
	for name, tc := range map[string]struct {
		cluster string
		online  metav1.ConditionStatus
		drained bool
		refused rebalance.Keep
		want    rebalance.Keep
	}{
		"online again":                {cluster: "a", online: metav1.ConditionTrue, want: rebalance.Returning},
		"offline, with a ready node":  {cluster: "a", online: metav1.ConditionFalse, want: rebalance.Movable},
		"online again and drained":    {cluster: "a", online: metav1.ConditionTrue, drained: true, want: rebalance.Movable},
		"one that was not left":       {cluster: "b", online: metav1.ConditionTrue, want: rebalance.Movable},
		"refused by a budget as well": {cluster: "a", online: metav1.ConditionTrue, refused: rebalance.Refused, want: rebalance.Refused},
	} {
		t.Run(name, func(t *testing.T) {
			cluster, pod := clusterOf(tc.drained, tc.drained), asking("", object.Name)
			cluster.Object.Name = tc.cluster
			cluster.Object.Status.Conditions = []metav1.Condition{{Type: berthv1alpha1.ClusterOnline, Status: tc.online}}
			pod.OwnerReferences = []metav1.OwnerReference{controller("apps/v1", "ReplicaSet", "rs")}
			if got := compiled.KeepOf(&workload.Workload{}, pod, node, cluster, nil, tc.refused); got != tc.want {
				t.Errorf("%d, want %d", got, tc.want)
			}
		})
	}
}

func TestKeepOf(t *testing.T) {
	ready := &corev1.Node{Status: corev1.NodeStatus{
		Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}},
	}}
	cordoned := ready.DeepCopy()
	cordoned.Spec.Unschedulable = true
	annotated := func(key, value string) func(*corev1.Pod) {
		return func(pod *corev1.Pod) { pod.Annotations[key] = value }
	}
	tests := map[string]struct {
		placedBy string
		change   func(*corev1.Pod)
		node     *corev1.Node
		cluster  *topology.Cluster
		refused  rebalance.Keep
		want     rebalance.Keep
	}{
		"placed by the policy":         {placedBy: "web", node: ready, want: rebalance.Movable},
		"on a cordoned node":           {placedBy: "web", node: cordoned, want: rebalance.Movable},
		"of ordinary priority":         {placedBy: "web", node: ready, change: func(p *corev1.Pod) { p.Spec.Priority = new(int32(1_999_999_999)) }},
		"may be evicted":               {placedBy: "web", node: ready, change: annotated(policy.SafeToEvictAnnotation, "true")},
		"not placed by Berth":          {node: ready, want: rebalance.NotOurs},
		"a copied stamp":               {placedBy: "web", change: func(p *corev1.Pod) { p.UID = "another" }, node: ready, want: rebalance.NotOurs},
		"placed by another policy":     {placedBy: "other", node: ready, want: rebalance.TakenOver},
		"critical to the system":       {placedBy: "web", change: func(p *corev1.Pod) { p.Spec.Priority = new(int32(2_000_000_000)) }, node: ready, want: rebalance.Protected},
		"static":                       {placedBy: "web", change: annotated(corev1.MirrorPodAnnotationKey, "x"), node: ready, want: rebalance.Protected},
		"nothing would replace it":     {placedBy: "web", change: func(p *corev1.Pod) { p.OwnerReferences = nil }, node: ready, want: rebalance.Protected},
		"marked by a user":             {placedBy: "web", change: annotated(policy.SafeToEvictAnnotation, "false"), node: ready, want: rebalance.Protected},
		"on a node that is not ready":  {placedBy: "web", node: &corev1.Node{}, want: rebalance.Unreachable},
		"in a cluster":                 {placedBy: "web", node: ready, cluster: clusterOf(false, false), want: rebalance.Movable},
		"in a cordoned cluster":        {placedBy: "web", node: ready, cluster: clusterOf(true, false), want: rebalance.Cordoned},
		"in a cluster that is drained": {placedBy: "web", node: ready, cluster: clusterOf(true, true), want: rebalance.Movable},
		"on a node that has vanished":  {placedBy: "web", want: rebalance.Unreachable},
		"refused by a budget":          {placedBy: "web", node: ready, refused: rebalance.Refused, want: rebalance.Refused},
		"of another policy, refused":   {placedBy: "other", node: ready, refused: rebalance.Refused, want: rebalance.TakenOver},
		"not by Berth, on a dead node": {want: rebalance.NotOurs},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			pod := asking("", tc.placedBy)
			pod.OwnerReferences = []metav1.OwnerReference{controller("apps/v1", "ReplicaSet", "rs")}
			if tc.change != nil {
				tc.change(pod)
			}
			if got := policy.KeepOf(pod, tc.node, tc.cluster, "web", tc.refused); got != tc.want {
				t.Errorf("%d, want %d", got, tc.want)
			}
		})
	}
}
