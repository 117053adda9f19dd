// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package scheduler_test

import (
	"context"
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// controlled has an object of an operator controlled by another one.
func (s *site) controlled(ctx context.Context, kind, name string, owner metav1.OwnerReference) {
	GinkgoHelper()
	_, err := s.objects(kind).Patch(ctx, name, types.MergePatchType, fmt.Appendf(nil,
		`{"metadata":{"ownerReferences":[{"apiVersion":%q,"kind":%q,"name":%q,"uid":%q,"controller":true}]}}`,
		owner.APIVersion, owner.Kind, owner.Name, owner.UID), metav1.PatchOptions{})
	Expect(err).NotTo(HaveOccurred())
}

// convoys teaches Berth a kind whose parts are in a list.
func convoys(ctx context.Context) {
	GinkgoHelper()
	made, err := berth.BerthV1alpha1().FeedParsers().Create(ctx, &berthv1alpha1.FeedParser{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "convoys-"},
		Spec: berthv1alpha1.FeedParserSpec{Group: operators, Kind: "Convoy", Components: []berthv1alpha1.ComponentRule{{
			Name: "ship", List: &berthv1alpha1.ComponentListRule{Path: "/spec/ships", Name: "/name"},
			Replicas: &berthv1alpha1.ReplicasRule{Path: "/crew"}, PodTemplate: berthv1alpha1.PodTemplateRule{Path: "/pod"},
		}}},
	}, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func(ctx SpecContext) {
		Expect(berth.BerthV1alpha1().FeedParsers().Delete(ctx, made.Name, metav1.DeleteOptions{})).To(Succeed())
	})
}

var _ = Describe("Owners that make no sense", func() {
	var s *site

	BeforeEach(func(ctx SpecContext) {
		s = newSiteWith(ctx, "beijing", "hangzhou")
		s.createPolicy(ctx, s.policy("nginx", "Deployment", twoToThree()...))
	})

	// othersAreDivided has a workload come that is as it should be.
	othersAreDivided := func(ctx context.Context) {
		GinkgoHelper()
		s.createDeployment(ctx, s.deployment("nginx", 5))
		s.expectShares(ctx, "nginx", map[string]int{"beijing": 2, "hangzhou": 3})
	}

	It("in a cycle end the chain, which is told, and the workload below is divided", func(ctx SpecContext) {
		s.createPolicy(ctx, s.operatorPolicy("Ring"))
		below := s.operated(ctx, "Ring", "below", map[string]any{"size": int64(5)})
		s.controlled(ctx, "Ring", "below", s.operated(ctx, "Ring", "above", map[string]any{"size": int64(1)}, below))
		s.operatorPods(ctx, "below", 0, 5, &below)
		s.expectShares(ctx, "below", map[string]int{"beijing": 2, "hangzhou": 3})
		s.told(ctx, "below-0", "it is too far above the pod")
		othersAreDivided(ctx)
	})

	It("in fifty levels end the chain, which is told, and the workload below is divided", func(ctx SpecContext) {
		s.createPolicy(ctx, s.operatorPolicy("Ring"))
		var owner []metav1.OwnerReference
		for level := 50; level > 0; level-- {
			owner = []metav1.OwnerReference{s.operated(ctx, "Ring", fmt.Sprintf("level-%d", level), map[string]any{"size": int64(5)}, owner...)}
		}
		s.operatorPods(ctx, "deep", 0, 5, &owner[0])
		s.expectShares(ctx, "deep", map[string]int{"beijing": 2, "hangzhou": 3})
		s.told(ctx, "deep-0", "level-9 and what is above it do not count for the pod: it is too far above the pod")
		othersAreDivided(ctx)
	})

	It("that are being deleted count until they are gone", func(ctx SpecContext) {
		s.createPolicy(ctx, s.operatorPolicy("Ring"))
		ring := s.operated(ctx, "Ring", "going", map[string]any{"size": int64(5)})
		_, err := s.objects("Ring").Patch(ctx, "going", types.MergePatchType,
			[]byte(`{"metadata":{"finalizers":["example.com/held"]}}`), metav1.PatchOptions{})
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(func(ctx SpecContext) {
			_, err := s.objects("Ring").Patch(ctx, "going", types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
			Expect(err).NotTo(HaveOccurred())
		})
		s.operatorPods(ctx, "going", 0, 3, &ring)
		s.expectRunning(ctx, "going", 3)
		Expect(s.objects("Ring").Delete(ctx, "going", metav1.DeleteOptions{})).To(Succeed())
		s.operatorPods(ctx, "going", 3, 5, &ring)
		s.expectShares(ctx, "going", map[string]int{"beijing": 2, "hangzhou": 3})
		othersAreDivided(ctx)
	})

	It("of whom two control one pod are refused", func(ctx SpecContext) {
		pod := s.pod("two", 0)
		for _, name := range []string{"one", "other"} {
			pod.OwnerReferences = append(pod.OwnerReferences, s.operated(ctx, "Ring", name, map[string]any{"size": int64(1)}))
		}
		pod.Namespace = s.namespace
		_, err := client.CoreV1().Pods(s.namespace).Create(ctx, pod, metav1.CreateOptions{})
		Expect(err).To(MatchError(ContainSubstring("Only one reference can have Controller set to true")))
	})

	It("of a hundred unknown kinds hold up nobody, and are told", func(ctx SpecContext) {
		const kinds = 100
		for i := range kinds {
			s.operatorPods(ctx, fmt.Sprintf("unknown-%d", i), 0, 1, &metav1.OwnerReference{
				APIVersion: fmt.Sprintf("unknown-%d.example.com/v1", i), Kind: "Unknown", Name: "a", UID: "forged", Controller: ptr.To(true),
			})
		}
		othersAreDivided(ctx)
		for i := range kinds {
			s.told(ctx, fmt.Sprintf("unknown-%d-0", i), "is not served")
		}
	})

	DescribeTable("whose number cannot be read have their pods placed in turn, which is told", func(ctx SpecContext, count int, crew any, problem string) {
		convoys(ctx)
		s.createPolicy(ctx, s.operatorPolicy("Convoy"))
		ships := make([]any, count)
		for i := range ships {
			ships[i] = map[string]any{"name": fmt.Sprintf("ship-%d", i), "crew": crew}
		}
		convoy := s.operated(ctx, "Convoy", "armada", map[string]any{"ships": ships})
		s.operatorPods(ctx, "armada", 0, 5, &convoy)
		s.expectShares(ctx, "armada", map[string]int{"beijing": 2, "hangzhou": 3})
		s.policySays(ctx, problem)
		Expect(s.explained(ctx, "armada-0")).To(And(ContainSubstring("nobody can tell how many convoy/armada wants"), ContainSubstring(problem)))
		othersAreDivided(ctx)
	},
		Entry("because it is text", 1, "many",
			`spec.components "ship-0": replicas: /crew: must be a whole number from 0 to 2147483647, not "many"`),
		Entry("because there are ten thousand parts", 10_000, int64(1),
			`spec.components "ship": list: /spec/ships: must have at most 256 elements, not 10000`),
	)
})
