// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package applications_test

import (
	"context"
	"encoding/json"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// leastAvailable follows the Deployment of a site until the function that it returns is called,
// which returns the least number of available replicas that its status had meanwhile.
func (s *site) leastAvailable(ctx context.Context) (end func() int32) {
	GinkgoHelper()
	known, err := client.AppsV1().Deployments(s.namespace).Get(ctx, "front", metav1.GetOptions{})
	Expect(err).NotTo(HaveOccurred())
	stream, err := client.AppsV1().Deployments(s.namespace).Watch(ctx, metav1.ListOptions{ResourceVersion: known.ResourceVersion})
	Expect(err).NotTo(HaveOccurred())
	least := known.Status.AvailableReplicas
	ended := follow(stream, func(event watch.Event) {
		if deployment, ok := event.Object.(*appsv1.Deployment); ok {
			least = min(least, deployment.Status.AvailableReplicas)
		}
	})
	return func() int32 {
		ended()
		return least
	}
}

// availableAll waits until all replicas of a site are available.
func (s *site) availableAll(ctx context.Context) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		deployment, err := client.AppsV1().Deployments(s.namespace).Get(ctx, "front", metav1.GetOptions{})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(deployment.Status.AvailableReplicas).To(Equal(int32(replicas)))
	}).WithTimeout(timeout).WithPolling(poll).Should(Succeed())
}

var _ = Describe("A move", func() {
	It("waits until new pods are available, and not only ready", func(ctx SpecContext) {
		s := newSite(ctx, map[string]float64{"berlin": 0.5, "madrid": 0.3})
		s.apply(ctx, func(spec *berthv1alpha1.ApplicationSpec) {
			deployment := &appsv1.Deployment{}
			Expect(json.Unmarshal(spec.Manifests[0].Raw, deployment)).To(Succeed())
			deployment.Spec.MinReadySeconds = 4
			spec.Manifests[0] = manifest(deployment)
		})
		s.runsIn(ctx, "berlin")
		s.availableAll(ctx)
		ended := s.leastAvailable(ctx)
		s.measure(ctx, "madrid", 0.9)
		s.runsIn(ctx, "madrid")
		Expect(ended()).To(Equal(int32(replicas)))
		Eventually(func(g Gomega) {
			moving := apimeta.FindStatusCondition(s.app(ctx).Status.Conditions, berthv1alpha1.ApplicationMoving)
			g.Expect(moving).NotTo(BeNil())
			g.Expect(moving.Reason).To(Equal(berthv1alpha1.ReasonMoved))
		}).WithTimeout(timeout).WithPolling(poll).Should(Succeed())
	})
})
