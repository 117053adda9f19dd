// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package schedulerproc

import (
	"context"
	"fmt"
	"time"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/generated/clientset/versioned"
)

const (
	knownTimeout = 150 * time.Second
	knownPoll    = 20 * time.Millisecond
)

// UntilKnows waits until the scheduler decides by all Clusters, PropagationPolicies and
// Subscriptions that there are. Pods that come before that go anywhere, as with any policy that is
// made after them.
func (s *Scheduler) UntilKnows(ctx context.Context, berth versioned.Interface) {
	ginkgo.GinkgoHelper()
	gomega.Eventually(func(g gomega.Gomega) {
		policies, err := berth.BerthV1alpha1().PropagationPolicies(metav1.NamespaceAll).List(ctx, metav1.ListOptions{})
		g.Expect(err).NotTo(gomega.HaveOccurred())
		subscriptions, err := berth.BerthV1alpha1().Subscriptions(metav1.NamespaceAll).List(ctx, metav1.ListOptions{})
		g.Expect(err).NotTo(gomega.HaveOccurred())
		clusters, err := berth.BerthV1alpha1().Clusters().List(ctx, metav1.ListOptions{})
		if apierrors.IsNotFound(err) { // The kind is not installed.
			clusters, err = &berthv1alpha1.ClusterList{}, nil
		}
		g.Expect(err).NotTo(gomega.HaveOccurred())
		text, err := s.metrics(ctx)
		g.Expect(err).NotTo(gomega.HaveOccurred())
		known := string(text)
		for kind, n := range map[string]int{
			"Cluster": len(clusters.Items), "PropagationPolicy": len(policies.Items), "Subscription": len(subscriptions.Items),
		} {
			g.Expect(known).To(gomega.ContainSubstring(fmt.Sprintf("berth_catalog_known_objects{kind=%q} %d\n", kind, n)))
		}
	}).WithTimeout(knownTimeout).WithPolling(knownPoll).Should(gomega.Succeed())
}
