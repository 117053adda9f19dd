// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package schedulerproc

import (
	"context"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// Reasons returns why a pod was not placed, by its FailedScheduling events and by its condition: an
// event that follows another one closely may be counted with it, and its text lost.
func Reasons(ctx context.Context, client kubernetes.Interface, pod *corev1.Pod) []string {
	ginkgo.GinkgoHelper()
	list, err := client.CoreV1().Events(pod.Namespace).List(ctx, metav1.ListOptions{
		FieldSelector: "reason=FailedScheduling,involvedObject.name=" + pod.Name,
	})
	gomega.Expect(err).NotTo(gomega.HaveOccurred())
	reasons := make([]string, 0, len(list.Items)+1)
	for i := range list.Items {
		reasons = append(reasons, list.Items[i].Message)
	}
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse {
			reasons = append(reasons, c.Message)
		}
	}
	return reasons
}
