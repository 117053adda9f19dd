// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package scheduler_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

var _ = Describe("where claims meet", func() {
	var s *site

	BeforeEach(func(ctx SpecContext) {
		s = newSiteWith(ctx, "beijing", "hangzhou")
	})

	It("a policy that names the workload wins over one that names its kind", func(ctx SpecContext) {
		s.createPolicy(ctx, s.policy("kind", "Deployment", weight{cluster: "beijing", weight: 1}))
		named := s.policy("named", "Deployment", weight{cluster: "hangzhou", weight: 1})
		named.Spec.ResourceSelectors[0].Name = "nginx"
		s.createPolicy(ctx, named)
		s.createDeployment(ctx, s.deployment("nginx", 3))
		s.createDeployment(ctx, s.deployment("other", 3))
		s.expectShares(ctx, "nginx", map[string]int{"hangzhou": 3})
		s.expectShares(ctx, "other", map[string]int{"beijing": 3})
		Expect(s.seats(ctx, "nginx", "named")).To(Equal(map[string][]int{"hangzhou": {0, 1, 2}}))
	})

	It("a pod that asks for a policy gets that one", func(ctx SpecContext) {
		named := s.policy("named", "Deployment", weight{cluster: "hangzhou", weight: 1})
		named.Spec.ResourceSelectors[0].Name = "nginx"
		s.createPolicy(ctx, named)
		s.createPolicy(ctx, s.policy("asked", "StatefulSet", weight{cluster: "beijing", weight: 1}))
		deployment := s.deployment("nginx", 3)
		deployment.Spec.Template.Annotations = map[string]string{berthv1alpha1.PolicyAnnotation: "asked"}
		s.createDeployment(ctx, deployment)
		s.expectShares(ctx, "nginx", map[string]int{"beijing": 3})
	})

	It("a policy selects nothing in other namespaces", func(ctx SpecContext) {
		other := newSite(ctx)
		reaching := s.policy("reaching", "Deployment", weight{cluster: "nowhere", weight: 1})
		reaching.Spec.ResourceSelectors[0].Namespace = other.namespace
		s.createPolicy(ctx, reaching)
		for _, where := range []*site{other, s} {
			where.createDeployment(ctx, where.deployment("nginx", 2))
			where.expectRunning(ctx, "nginx", 2)
		}
	})

	It("a node is in the cluster that names it rather than in one that matches its labels", func(ctx SpecContext) {
		s.createClusterOf(ctx, "naming", berthv1alpha1.ClusterSpec{Nodes: []string{s.node("beijing", 1)}})
		s.createPolicy(ctx, s.policy("nginx", "Deployment", weight{cluster: "beijing", weight: 1}, weight{cluster: "naming", weight: 1}))
		s.createDeployment(ctx, s.deployment("nginx", 8))
		s.expectRunning(ctx, "nginx", 8)
		byNode := map[string]int{}
		for _, node := range s.placements(ctx, "nginx") {
			byNode[node]++
		}
		Expect(byNode).To(HaveKeyWithValue(s.node("beijing", 1), 4))
	})

	It("a policy that goes leaves what it placed where it is", func(ctx SpecContext) {
		s.createPolicy(ctx, s.policy("nginx", "Deployment", twoToThree()...))
		s.createDeployment(ctx, s.deployment("nginx", 5))
		s.expectShares(ctx, "nginx", map[string]int{"beijing": 2, "hangzhou": 3})
		earlier := s.placements(ctx, "nginx")
		stop := s.record(ctx, "nginx")
		Expect(berth.BerthV1alpha1().PropagationPolicies(s.namespace).Delete(ctx, "nginx", metav1.DeleteOptions{})).To(Succeed())
		s.scale(ctx, "nginx", 7)
		s.expectRunning(ctx, "nginx", 7)
		for name, node := range earlier {
			Expect(s.placements(ctx, "nginx")).To(HaveKeyWithValue(name, node))
		}
		Expect(stop().Gone).To(BeEmpty())
	})
})
