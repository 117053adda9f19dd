// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package scheduler_test

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// strays returns the bound pods of an app that have no seat.
func (s *site) strays(ctx context.Context, app string) []corev1.Pod {
	GinkgoHelper()
	var strays []corev1.Pod
	for _, pod := range s.pods(ctx, app) {
		if _, seated := pod.Annotations[berthv1alpha1.SeatAnnotation]; pod.Spec.NodeName != "" && !seated {
			strays = append(strays, pod)
		}
	}
	return strays
}

var _ = Describe("whenUnsatisfiable: ScheduleAnyway", func() {
	var s *site

	BeforeEach(func(ctx SpecContext) {
		s = newSiteWith(ctx, "beijing", "hangzhou")
		policy := s.policy("nginx", "Deployment", twoToThree()...)
		// What goes elsewhere on purpose must stay there for these specs to see it.
		policy.Spec.Rebalance.Mode = berthv1alpha1.RebalanceNever
		s.createPolicy(ctx, policy)
	})

	cordonBeijing := func(ctx context.Context) {
		GinkgoHelper()
		for i := range 3 {
			s.patchNode(ctx, "beijing", i, `{"spec":{"unschedulable":true}}`)
		}
	}

	It("changes nothing while the shares can be had", func(ctx SpecContext) {
		s.patchPolicy(ctx, "nginx", `{"spec":{"placement":{"whenUnsatisfiable":"ScheduleAnyway"}}}`)
		s.createDeployment(ctx, s.deployment("nginx", 10))
		s.expectShares(ctx, "nginx", map[string]int{"beijing": 4, "hangzhou": 6})
		Expect(s.seats(ctx, "nginx", "nginx")).To(Equal(map[string][]int{"beijing": {1, 3, 6, 8}, "hangzhou": {0, 2, 4, 5, 7, 9}}))
	})

	It("lets pods that wait for a cordoned cluster go elsewhere, the first to be removed", func(ctx SpecContext) {
		cordonBeijing(ctx)
		s.createDeployment(ctx, s.deployment("nginx", 5))
		s.expectWaiting(ctx, "nginx", 2, "3 "+shareUsedUp)
		s.expectWaiting(ctx, "nginx", 2, "3 node(s) were unschedulable")

		s.patchPolicy(ctx, "nginx", `{"spec":{"placement":{"whenUnsatisfiable":"ScheduleAnyway"}}}`)
		s.expectShares(ctx, "nginx", map[string]int{"hangzhou": 5})
		strays := s.strays(ctx, "nginx")
		Expect(strays).To(HaveLen(2))
		for _, pod := range strays {
			Expect(pod.Annotations).To(And(
				HaveKeyWithValue("controller.kubernetes.io/pod-deletion-cost", "-2147483648"),
				HaveKeyWithValue("berth.dev/placed-by", string(pod.UID)+"/"+pod.Spec.NodeName),
				HaveKeyWithValue("berth.dev/cluster", s.full("hangzhou")),
				HaveKeyWithValue("berth.dev/policy", "nginx")))
		}

		By("removing replicas, of which those without a seat go first")
		s.scale(ctx, "nginx", 3)
		s.expectShares(ctx, "nginx", map[string]int{"hangzhou": 3})
		Expect(s.placements(ctx, "nginx")).NotTo(Or(HaveKey(strays[0].Name), HaveKey(strays[1].Name)))
	})

	It("lets pods leave the clusters of the policy if none of them can take them", func(ctx SpecContext) {
		s.createNodes(ctx, "spare", 1)
		cordonBeijing(ctx)
		for i := range 3 {
			s.patchNode(ctx, "hangzhou", i, `{"spec":{"unschedulable":true}}`)
		}
		s.patchPolicy(ctx, "nginx", `{"spec":{"placement":{"whenUnsatisfiable":"ScheduleAnyway"}}}`)
		deployment := s.deployment("nginx", 2)
		deployment.Spec.Template.Spec.NodeSelector = s.label("spare")
		s.createDeployment(ctx, deployment)
		s.expectShares(ctx, "nginx", map[string]int{"spare": 2})
		for _, pod := range s.strays(ctx, "nginx") {
			Expect(pod.Annotations).NotTo(HaveKey("berth.dev/cluster"))
		}
		Expect(s.strays(ctx, "nginx")).To(HaveLen(2))
	})

	It("lets an ordinal whose cluster is cordoned go elsewhere", func(ctx SpecContext) {
		policy := s.policy("web", "StatefulSet", twoToThree()...)
		policy.Spec.Rebalance.Mode = berthv1alpha1.RebalanceNever
		policy.Spec.Placement.WhenUnsatisfiable = berthv1alpha1.ScheduleAnyway
		s.createPolicy(ctx, policy)
		cordonBeijing(ctx)
		s.createStatefulSet(ctx, s.statefulSet("web", 3))
		s.expectShares(ctx, "web", map[string]int{"hangzhou": 3})
		strays := s.strays(ctx, "web")
		Expect(strays).To(HaveLen(1))
		Expect(strays[0].Name).To(Equal("web-1"))
	})

	It("lets pods go elsewhere when only the other plugins find that their cluster cannot take them", func(ctx SpecContext) {
		s.patchPolicy(ctx, "nginx", `{"spec":{"placement":{"whenUnsatisfiable":"ScheduleAnyway"}}}`)
		deployment := s.deployment("nginx", 5)
		// One pod per node at most: hangzhou has a node for each of its 3, and beijing loses one of
		// its nodes.
		deployment.Spec.Template.Spec.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: 80, HostPort: 80}}
		s.createNodes(ctx, "spare", 1)
		for i := range 2 {
			s.patchNode(ctx, "beijing", i, `{"spec":{"unschedulable":true}}`)
		}
		deployment.Spec.Template.Spec.Affinity = s.onlyHere()
		s.createDeployment(ctx, deployment)
		s.expectShares(ctx, "nginx", map[string]int{"beijing": 1, "hangzhou": 3, "spare": 1})
		Expect(s.strays(ctx, "nginx")).To(HaveLen(1))
	})
})

// onlyHere keeps pods on nodes of the site.
func (s *site) onlyHere() *corev1.Affinity {
	return &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
			MatchExpressions: []corev1.NodeSelectorRequirement{{
				Key: placeLabel, Operator: corev1.NodeSelectorOpIn,
				Values: []string{s.full("beijing"), s.full("hangzhou"), s.full("spare")},
			}},
		}}},
	}}
}
