// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package scheduler_test

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
)

// newImage is a change that makes a new revision.
const newImage = `{"spec":{"template":{"spec":{"containers":[{"name":"main","image":"nginx:1.28"}]}}}}`

// oneByOne never lets the Deployment drop below its replicas.
func oneByOne(deployment *appsv1.Deployment) *appsv1.Deployment {
	deployment.Spec.Strategy = appsv1.DeploymentStrategy{
		Type: appsv1.RollingUpdateDeploymentStrategyType,
		RollingUpdate: &appsv1.RollingUpdateDeployment{
			MaxSurge: ptr.To(intstr.FromInt32(1)), MaxUnavailable: ptr.To(intstr.FromInt32(0)),
		},
	}
	return deployment
}

// imagesOf counts the pods of an app that are not being deleted by their image.
func (s *site) imagesOf(ctx context.Context, app string) map[string]int {
	GinkgoHelper()
	images := map[string]int{}
	for _, pod := range s.pods(ctx, app) {
		images[pod.Spec.Containers[0].Image]++
	}
	return images
}

var _ = Describe("a rollout", func() {
	var s *site

	BeforeEach(func(ctx SpecContext) {
		s = newSiteWith(ctx, "beijing", "hangzhou")
		s.createPolicy(ctx, s.policy("nginx", "Deployment", twoToThree()...))
	})

	It("without a replica to spare completes, and the new revision has the shares", func(ctx SpecContext) {
		s.createDeployment(ctx, oneByOne(s.deployment("nginx", 7)))
		s.expectShares(ctx, "nginx", map[string]int{"beijing": 3, "hangzhou": 4})
		stop := s.record(ctx, "nginx")

		s.patchDeployment(ctx, "nginx", newImage)
		Eventually(s.imagesOf).WithContext(ctx).WithArguments("nginx").WithTimeout(timeout).WithPolling(poll).
			Should(Equal(map[string]int{"nginx:1.28": 7}))
		s.expectShares(ctx, "nginx", map[string]int{"beijing": 3, "hangzhou": 4})
		Expect(s.seats(ctx, "nginx", "nginx")).To(Equal(map[string][]int{"beijing": {1, 3, 6}, "hangzhou": {0, 2, 4, 5}}))
		seen := stop()
		Expect(seen.MinReady).To(BeNumerically(">=", 7), seen.String())
		Expect(seen.Evicted).To(BeZero(), seen.String())
	})

	It("that recreates all pods at once has the shares", func(ctx SpecContext) {
		deployment := s.deployment("nginx", 10)
		deployment.Spec.Strategy.Type = appsv1.RecreateDeploymentStrategyType
		s.createDeployment(ctx, deployment)
		s.expectShares(ctx, "nginx", map[string]int{"beijing": 4, "hangzhou": 6})

		s.patchDeployment(ctx, "nginx", newImage)
		Eventually(s.imagesOf).WithContext(ctx).WithArguments("nginx").WithTimeout(timeout).WithPolling(poll).
			Should(Equal(map[string]int{"nginx:1.28": 10}))
		s.expectShares(ctx, "nginx", map[string]int{"beijing": 4, "hangzhou": 6})
	})

	It("that gets stuck is rolled back, and no pod of before has moved", func(ctx SpecContext) {
		s.createDeployment(ctx, oneByOne(s.deployment("nginx", 5)))
		s.expectShares(ctx, "nginx", map[string]int{"beijing": 2, "hangzhou": 3})
		earlier := s.placements(ctx, "nginx")
		stop := s.record(ctx, "nginx")

		s.patchDeployment(ctx, "nginx", `{"spec":{"template":{"spec":{"nodeSelector":{"no-such":"node"}}}}}`)
		Eventually(s.shares).WithContext(ctx).WithArguments("nginx").WithTimeout(timeout).WithPolling(poll).
			Should(Equal(map[string]int{"beijing": 2, "hangzhou": 3, "waiting": 1}))
		s.patchDeployment(ctx, "nginx", `{"spec":{"template":{"spec":{"nodeSelector":null}}}}`)
		s.expectShares(ctx, "nginx", map[string]int{"beijing": 2, "hangzhou": 3})
		Expect(s.placements(ctx, "nginx")).To(Equal(earlier))
		Expect(stop().Evicted).To(BeZero())
	})

	It("that is paused leaves scaling with exact shares, and so does its end", func(ctx SpecContext) {
		s.createDeployment(ctx, s.deployment("nginx", 5))
		s.expectShares(ctx, "nginx", map[string]int{"beijing": 2, "hangzhou": 3})
		stop := s.record(ctx, "nginx")

		s.patchDeployment(ctx, "nginx", `{"spec":{"paused":true}}`)
		s.patchDeployment(ctx, "nginx", newImage)
		s.scale(ctx, "nginx", 10)
		s.expectShares(ctx, "nginx", map[string]int{"beijing": 4, "hangzhou": 6})
		Expect(s.imagesOf(ctx, "nginx")).To(Equal(map[string]int{"nginx:1.27": 10}))

		s.patchDeployment(ctx, "nginx", `{"spec":{"paused":false}}`)
		Eventually(s.imagesOf).WithContext(ctx).WithArguments("nginx").WithTimeout(timeout).WithPolling(poll).
			Should(Equal(map[string]int{"nginx:1.28": 10}))
		s.expectShares(ctx, "nginx", map[string]int{"beijing": 4, "hangzhou": 6})
		Expect(stop().Evicted).To(BeZero())
	})

	It("of a StatefulSet keeps every ordinal in its cluster", func(ctx SpecContext) {
		s.createPolicy(ctx, s.policy("web", "StatefulSet", twoToThree()...))
		s.createStatefulSet(ctx, s.statefulSet("web", 5))
		s.expectOrdinals(ctx, "web", 5)
		_, err := client.AppsV1().StatefulSets(s.namespace).Patch(ctx, "web", strategicMerge, []byte(newImage), metav1.PatchOptions{})
		Expect(err).NotTo(HaveOccurred())
		Eventually(s.imagesOf).WithContext(ctx).WithArguments("web").WithTimeout(timeout).WithPolling(poll).
			Should(Equal(map[string]int{"nginx:1.28": 5}))
		s.expectOrdinals(ctx, "web", 5)
	})
})
