// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package applications_test

import (
	"context"
	"encoding/json"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
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

	It("that does not end in time is given up, and the cluster is left out", func(ctx SpecContext) {
		s := newSite(ctx, map[string]float64{"berlin": 0.5, "madrid": 0.3})
		quota := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: "few"}}
		quota.Spec.Hard = corev1.ResourceList{corev1.ResourcePods: *resource.NewQuantity(replicas+1, resource.DecimalSI)}
		_, err := client.CoreV1().ResourceQuotas(s.namespace).Create(ctx, quota, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		s.apply(ctx, func(spec *berthv1alpha1.ApplicationSpec) {
			spec.Move = &berthv1alpha1.ApplicationMove{Deadline: &metav1.Duration{Duration: 5 * time.Second}}
		})
		s.runsIn(ctx, "berlin")
		s.availableAll(ctx)
		witness := s.watch(ctx)
		s.measure(ctx, "madrid", 0.9)
		Eventually(func(g Gomega) {
			status := s.app(ctx).Status
			g.Expect(status.LeftOut).To(HaveLen(1))
			g.Expect(status.LeftOut[0].Cluster).To(Equal(s.full("madrid")))
			moving := apimeta.FindStatusCondition(status.Conditions, berthv1alpha1.ApplicationMoving)
			g.Expect(moving).NotTo(BeNil())
			g.Expect(moving.Reason).To(Equal(berthv1alpha1.ReasonMoveDeadlineExceeded))
		}).WithTimeout(timeout).WithPolling(poll).Should(Succeed())
		s.runsIn(ctx, "berlin")
		Expect(witness.seen(s.full("berlin"))).To(BeZero(), "old pods that went")
		Expect(witness.faults()).To(BeEmpty())
	})
})
