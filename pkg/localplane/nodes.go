// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package localplane

import (
	"context"
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/util/workqueue"
)

const (
	// NodeAnnotation with the value fake marks a node that kwok drives.
	NodeAnnotation      = "kwok.x-k8s.io/node"
	nodeAnnotationValue = "fake"

	nodeWorkers = 16
)

// DefaultCapacity is what a fake node has when the caller asks for nothing
// else: 32 CPUs, 256Gi of memory, 110 pods.
func DefaultCapacity() corev1.ResourceList {
	return corev1.ResourceList{
		corev1.ResourceCPU:    resource.MustParse("32"),
		corev1.ResourceMemory: resource.MustParse("256Gi"),
		corev1.ResourcePods:   resource.MustParse("110"),
	}
}

// FakeNode returns a node driven by kwok. It is Ready from the first moment, so
// that a scheduler can use it at once. A nil capacity means DefaultCapacity.
func FakeNode(name string, labels map[string]string, capacity corev1.ResourceList) *corev1.Node {
	if capacity == nil {
		capacity = DefaultCapacity()
	}
	all := map[string]string{
		corev1.LabelHostname:   name,
		corev1.LabelOSStable:   "linux",
		corev1.LabelArchStable: "amd64",
	}
	maps.Copy(all, labels)
	now := metav1.Now()
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{
			Name:        name,
			Labels:      all,
			Annotations: map[string]string{NodeAnnotation: nodeAnnotationValue},
		},
		Status: corev1.NodeStatus{
			Capacity:    capacity,
			Allocatable: capacity.DeepCopy(),
			Addresses:   []corev1.NodeAddress{{Type: corev1.NodeHostName, Address: name}},
			Conditions: []corev1.NodeCondition{{
				Type: corev1.NodeReady, Status: corev1.ConditionTrue,
				Reason: "FakeNode", Message: "no kubelet runs here",
				LastHeartbeatTime: now, LastTransitionTime: now,
			}},
			NodeInfo: corev1.NodeSystemInfo{OperatingSystem: "linux", Architecture: "amd64", KubeletVersion: "fake"},
		},
	}
}

// CreateNodes creates count fake nodes named PREFIX-0, PREFIX-1 and so on.
// A nil capacity means DefaultCapacity.
func CreateNodes(
	ctx context.Context, client kubernetes.Interface,
	prefix string, count int, labels map[string]string, capacity corev1.ResourceList,
) error {
	errs := make([]error, count)
	workqueue.ParallelizeUntil(ctx, nodeWorkers, count, func(i int) {
		node := FakeNode(fmt.Sprintf("%s-%d", prefix, i), labels, capacity)
		_, errs[i] = client.CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{})
	})
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("creating %d nodes %s: %w", count, prefix, err)
	}
	for i, err := range errs {
		if err != nil {
			return fmt.Errorf("creating node %s-%d: %w", prefix, i, err)
		}
	}
	return nil
}
