// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package client

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// podsAtOnce bounds how many pods one request reads.
const podsAtOnce = 500

// Pods returns the pods of all namespaces that are chosen.
func (c Clients) Pods(ctx context.Context, chosen func(*corev1.Pod) bool) ([]corev1.Pod, error) {
	var found []corev1.Pod
	options := metav1.ListOptions{Limit: podsAtOnce}
	for {
		page, err := c.Kubernetes.CoreV1().Pods(metav1.NamespaceAll).List(ctx, options)
		if err != nil {
			return nil, DescribeError("listing pods", err)
		}
		for i := range page.Items {
			if chosen(&page.Items[i]) {
				found = append(found, page.Items[i])
			}
		}
		if options.Continue = page.Continue; options.Continue == "" {
			return found, nil
		}
	}
}
