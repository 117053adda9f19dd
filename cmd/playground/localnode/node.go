// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package localnode

import (
	"context"
	"fmt"
	"os"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth.dev/berth/pkg/localplane"
)

// NodeName is the name of the node that stands for this machine. It exists once a pod runs on it,
// and is tainted, so that no other pod is placed there.
const NodeName = "berth-playground"

// loopback is where the processes listen.
const loopback = "127.0.0.1"

// node is not driven by kwok, which would say that pods run although nobody has started anything.
func node() *corev1.Node {
	labels := map[string]string{}
	if host, err := os.Hostname(); err == nil {
		labels[corev1.LabelHostname] = host
	}
	n := localplane.FakeNode(NodeName, labels, nil)
	n.Annotations = nil
	n.Spec.Taints = []corev1.Taint{{Key: "berth.dev/playground", Effect: corev1.TaintEffectNoSchedule}}
	n.Status.Conditions[0].Reason = "LocalNode"
	n.Status.Conditions[0].Message = "this machine, which runs the pods of Berth as processes"
	return n
}

// bind places a pod on this machine. No scheduler does: its schedulerName is that of the default
// scheduler, which does not run here.
func (r *Runner) bind(ctx context.Context, k key) error {
	if _, err := r.client.CoreV1().Nodes().Create(ctx, node(), metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("creating node %s: %w", NodeName, err)
	}
	err := r.client.CoreV1().Pods(k.name.Namespace).Bind(ctx, &corev1.Binding{
		ObjectMeta: metav1.ObjectMeta{Namespace: k.name.Namespace, Name: k.name.Name, UID: k.uid},
		Target:     corev1.ObjectReference{Kind: "Node", Name: NodeName},
	}, metav1.CreateOptions{})
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		return fmt.Errorf("binding pod %s to node %s: %w", k.name, NodeName, err)
	}
	return nil
}
