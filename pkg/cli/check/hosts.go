// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth.dev/berth/pkg/cli/internal/client"
)

// hosts are the host names of the nodes whose network pods of Berth have. The programs in such a
// pod call themselves by that name, and not by that of the pod.
type hosts struct {
	byNode map[string]string
	err    error
}

// sharesNetwork reports whether a pod has the network of its node.
func sharesNetwork(pod *corev1.Pod) bool {
	return pod.Spec.HostNetwork || pod.Status.PodIP != "" && pod.Status.PodIP == pod.Status.HostIP
}

func readHosts(ctx context.Context, c client.Clients, pods []corev1.Pod) hosts {
	h := hosts{byNode: map[string]string{}}
	for i := range pods {
		name := pods[i].Spec.NodeName
		if _, known := h.byNode[name]; known || name == "" || !sharesNetwork(&pods[i]) {
			continue
		}
		node, err := c.Kubernetes.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			h.err = client.DescribeError("reading node "+name, err)
			return h
		}
		h.byNode[name] = node.Labels[corev1.LabelHostname]
	}
	return h
}

// named reports whether a pod has the network of the host with the name.
func (h hosts) named(pod *corev1.Pod, name string) bool {
	return sharesNetwork(pod) && h.byNode[pod.Spec.NodeName] == name
}
