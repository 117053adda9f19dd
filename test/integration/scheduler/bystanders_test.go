// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package scheduler_test

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/localplane"
)

var _ = Describe("what no policy concerns", func() {
	var s *site

	BeforeEach(func(ctx SpecContext) {
		s = newSiteWith(ctx, "beijing", "hangzhou")
	})

	expectUnstamped := func(ctx context.Context, app string, count int) {
		GinkgoHelper()
		s.expectRunning(ctx, app, count)
		for _, pod := range s.pods(ctx, app) {
			Expect(pod.Annotations).To(Equal(mark(&pod)), pod.Name)
		}
	}

	It("is placed with nothing but the mark that Berth bound it", func(ctx SpecContext) {
		By("having no policy in the namespace")
		s.createDeployment(ctx, s.deployment("free", 3))
		expectUnstamped(ctx, "free", 3)
		By("having a policy for another workload")
		policy := s.policy("nginx", "Deployment", twoToThree()...)
		policy.Spec.ResourceSelectors[0].Name = "nginx"
		s.createPolicy(ctx, policy)
		s.createDeployment(ctx, s.deployment("nginx", 5))
		s.expectShares(ctx, "nginx", map[string]int{"beijing": 2, "hangzhou": 3})
		s.createDeployment(ctx, s.deployment("other", 3))
		expectUnstamped(ctx, "other", 3)
	})

	It("and asks to be left alone is placed anywhere", func(ctx SpecContext) {
		s.createPolicy(ctx, s.policy("nginx", "Deployment", weight{cluster: "nowhere", weight: 1}))
		deployment := s.deployment("free", 3)
		deployment.Spec.Template.Annotations = map[string]string{berthv1alpha1.PolicyAnnotation: berthv1alpha1.PolicyNone}
		s.createDeployment(ctx, deployment)
		s.expectRunning(ctx, "free", 3)
		for _, pod := range s.pods(ctx, "free") {
			want := mark(&pod)
			want[berthv1alpha1.PolicyAnnotation] = berthv1alpha1.PolicyNone
			Expect(pod.Annotations).To(Equal(want))
		}
	})

	It("because it uses another scheduler is not touched", func(ctx SpecContext) {
		s.createPolicy(ctx, s.policy("nginx", "Deployment", twoToThree()...))
		foreign := s.deployment("foreign", 2)
		foreign.Spec.Template.Spec.SchedulerName = corev1.DefaultSchedulerName
		s.createDeployment(ctx, foreign)
		s.createDeployment(ctx, s.deployment("nginx", 5))
		s.expectShares(ctx, "nginx", map[string]int{"beijing": 2, "hangzhou": 3})
		Eventually(s.placed).WithContext(ctx).WithArguments("foreign").WithTimeout(timeout).WithPolling(poll).
			Should(Equal(map[string]int{"waiting": 2}))
		Consistently(s.placed).WithContext(ctx).WithArguments("foreign").WithTimeout(settle).WithPolling(poll).
			Should(Equal(map[string]int{"waiting": 2}))
		for _, pod := range s.pods(ctx, "foreign") {
			Expect(pod.Annotations).To(BeEmpty())
			Expect(pod.Status.Conditions).To(BeEmpty())
		}
	})
})

// mark is what a pod carries that Berth bound without giving it anything.
func mark(pod *corev1.Pod) map[string]string {
	return map[string]string{berthv1alpha1.PlacedByAnnotation: string(pod.UID) + "/" + pod.Spec.NodeName}
}

var _ = Describe("a pod of high priority", func() {
	var s *site

	BeforeEach(func(ctx SpecContext) {
		s = newSite(ctx)
		for _, cluster := range []string{"beijing", "hangzhou"} {
			Expect(localplane.CreateNodes(ctx, client, s.full(cluster), 1, s.label(cluster), corev1.ResourceList{
				corev1.ResourceCPU: resource.MustParse("2"), corev1.ResourceMemory: resource.MustParse("8Gi"),
				corev1.ResourcePods: resource.MustParse("10"),
			})).To(Succeed())
			s.createCluster(ctx, cluster)
		}
		class := &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: "high-" + s.suffix}, Value: 1000}
		_, err := client.SchedulingV1().PriorityClasses().Create(ctx, class, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(func(ctx SpecContext) {
			Expect(client.SchedulingV1().PriorityClasses().Delete(ctx, class.Name, metav1.DeleteOptions{})).To(Succeed())
		})
	})

	important := func(pod *corev1.Pod) *corev1.Pod {
		pod.Spec.PriorityClassName = "high-" + s.suffix
		return pod
	}
	// large fills half a node.
	large := func(pod *corev1.Pod) *corev1.Pod {
		pod.Spec.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}
		return pod
	}

	It("does not kill a sibling for its place in the share", func(ctx SpecContext) {
		s.createPolicy(ctx, s.policy("bare", "Pod",
			weight{cluster: "beijing", weight: 1, max: 1}, weight{cluster: "hangzhou", weight: 1, max: 1}))
		s.createPod(ctx, s.pod("bare", 0))
		s.createPod(ctx, s.pod("bare", 1))
		s.expectShares(ctx, "bare", map[string]int{"beijing": 1, "hangzhou": 1})
		stop := s.record(ctx, "bare")
		s.createPod(ctx, important(s.pod("bare", 2)))
		s.expectWaiting(ctx, "bare", 1, "2 "+shareUsedUp)
		Consistently(s.placed).WithContext(ctx).WithArguments("bare").WithTimeout(settle).WithPolling(poll).
			Should(Equal(map[string]int{"beijing": 1, "hangzhou": 1, "waiting": 1}))
		Expect(stop().Gone).To(BeEmpty())
	})

	It("makes room only in the cluster where its share is", func(ctx SpecContext) {
		for i := range 4 {
			filler := large(s.pod("filler", i))
			filler.Spec.NodeName = s.node([]string{"beijing", "hangzhou"}[i%2], 0)
			s.createPod(ctx, filler)
		}
		s.expectShares(ctx, "filler", map[string]int{"beijing": 2, "hangzhou": 2})
		s.createPolicy(ctx, s.policy("nginx", "Deployment", weight{cluster: "beijing", weight: 1}))
		deployment := s.deployment("nginx", 1)
		deployment.Spec.Template.Spec = large(important(s.pod("nginx", 0))).Spec
		s.createDeployment(ctx, deployment)
		s.expectShares(ctx, "nginx", map[string]int{"beijing": 1})
		s.expectShares(ctx, "filler", map[string]int{"beijing": 1, "hangzhou": 2})
	})
})
