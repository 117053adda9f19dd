// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package scheduler_test

import (
	"context"
	"maps"
	"math/rand/v2"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/cmd/playground/podwatch"
)

// record watches the pods of an app, of all apps if it is empty, until the returned function is
// called, which tells what was seen.
func (s *site) record(ctx context.Context, app string) func() podwatch.Seen {
	GinkgoHelper()
	selector := ""
	if app != "" {
		selector = "app=" + app
	}
	recorder, err := podwatch.Start(ctx, client, s.namespace, selector)
	Expect(err).NotTo(HaveOccurred())
	return func() podwatch.Seen {
		GinkgoHelper()
		seen, err := recorder.Stop(ctx)
		Expect(err).NotTo(HaveOccurred())
		return seen
	}
}

var _ = Describe("a Deployment with a policy", func() {
	It("has its share of replicas in every cluster", func(ctx SpecContext) {
		s := newSiteWith(ctx, "beijing", "hangzhou")
		s.createPolicy(ctx, s.policy("nginx", "Deployment", twoToThree()...))
		s.createDeployment(ctx, s.deployment("nginx", 5))
		s.expectShares(ctx, "nginx", map[string]int{"beijing": 2, "hangzhou": 3})
		Expect(s.seats(ctx, "nginx", "nginx")).To(Equal(map[string][]int{"beijing": {1, 3}, "hangzhou": {0, 2, 4}}))
	})

	It("has exactly its shares at every size, and no pod moves", func(ctx SpecContext) {
		s := newSiteWith(ctx, "beijing", "hangzhou")
		s.createPolicy(ctx, s.policy("nginx", "Deployment", twoToThree()...))
		s.createDeployment(ctx, s.deployment("nginx", 5))
		s.expectShares(ctx, "nginx", map[string]int{"beijing": 2, "hangzhou": 3})
		stop := s.record(ctx, "nginx")

		steps := []struct {
			replicas    int
			want        map[string]int
			wantSeats   map[string][]int
			wantDeleted int
		}{
			{
				10, map[string]int{"beijing": 4, "hangzhou": 6},
				map[string][]int{"beijing": {1, 3, 6, 8}, "hangzhou": {0, 2, 4, 5, 7, 9}}, 0,
			},
			{4, map[string]int{"beijing": 2, "hangzhou": 2}, map[string][]int{"beijing": {1, 3}, "hangzhou": {0, 2}}, 6},
			{
				10, map[string]int{"beijing": 4, "hangzhou": 6},
				map[string][]int{"beijing": {1, 3, 6, 8}, "hangzhou": {0, 2, 4, 5, 7, 9}}, 6,
			},
		}
		for _, step := range steps {
			earlier := s.placements(ctx, "nginx")
			s.scale(ctx, "nginx", step.replicas)
			s.expectShares(ctx, "nginx", step.want)
			Expect(s.seats(ctx, "nginx", "nginx")).To(Equal(step.wantSeats))
			now := s.placements(ctx, "nginx")
			kept := min(len(earlier), step.replicas)
			maps.DeleteFunc(earlier, func(name, node string) bool { return now[name] != node })
			Expect(earlier).To(HaveLen(kept), "pods of before that run where they ran")
		}
		seen := stop()
		Expect(seen.Evicted).To(BeZero(), seen.String())
		Expect(seen.Gone).To(HaveLen(6), "the pods that the one step down deleted")
	})

	It("has exactly its shares after edits that come faster than pods start", func(ctx SpecContext) {
		s := newSiteWith(ctx, "beijing", "hangzhou")
		s.createPolicy(ctx, s.policy("nginx", "Deployment", twoToThree()...))
		s.createDeployment(ctx, s.deployment("nginx", 1))
		random := rand.New(rand.NewPCG(uint64(GinkgoRandomSeed()), 0))
		for range 25 {
			s.scale(ctx, "nginx", random.IntN(40))
		}
		// A size above all others: nothing that was placed for one of them is misplaced now.
		stop := s.record(ctx, "nginx")
		s.scale(ctx, "nginx", 47)
		s.expectShares(ctx, "nginx", webster(47, twoToThree()...))
		Expect(stop().Evicted).To(BeZero())
		s.expectOrder(ctx, "nginx", "nginx", 47, twoToThree()...)

		By("ending at any size, where the controller manager may have to move what was placed for another")
		for range 25 {
			s.scale(ctx, "nginx", random.IntN(40))
		}
		s.scale(ctx, "nginx", 13)
		s.expectShares(ctx, "nginx", webster(13, twoToThree()...))
		s.expectOrder(ctx, "nginx", "nginx", 13, twoToThree()...)
	})

	It("keeps the deletion cost that its template sets", func(ctx SpecContext) {
		s := newSiteWith(ctx, "beijing", "hangzhou")
		s.createPolicy(ctx, s.policy("nginx", "Deployment", twoToThree()...))
		deployment := s.deployment("nginx", 2)
		deployment.Spec.Template.Annotations = map[string]string{corev1.PodDeletionCost: "7"}
		s.createDeployment(ctx, deployment)
		s.expectShares(ctx, "nginx", map[string]int{"beijing": 1, "hangzhou": 1})
		for _, pod := range s.pods(ctx, "nginx") {
			Expect(pod.Annotations).To(And(
				HaveKeyWithValue(corev1.PodDeletionCost, "7"), HaveKeyWithValue("berth.dev/policy", "nginx")))
		}
	})

	It("is served in the clusters that exist while another does not", func(ctx SpecContext) {
		s := newSiteWith(ctx, "beijing", "hangzhou")
		weights := append(twoToThree(), weight{cluster: "nowhere", weight: 5})
		s.createPolicy(ctx, s.policy("nginx", "Deployment", weights...))
		s.createDeployment(ctx, s.deployment("nginx", 10))
		s.expectShares(ctx, "nginx", map[string]int{"beijing": 2, "hangzhou": 3, "waiting": 5})
	})

	It("gets the nodes of a Cluster that names them", func(ctx SpecContext) {
		s := newSiteWith(ctx, "hangzhou")
		s.createNodes(ctx, "beijing", 2)
		s.createClusterOf(ctx, "beijing", berthv1alpha1.ClusterSpec{Nodes: []string{s.node("beijing", 0), s.node("beijing", 1)}})
		s.createPolicy(ctx, s.policy("nginx", "Deployment", twoToThree()...))
		s.createDeployment(ctx, s.deployment("nginx", 5))
		s.expectShares(ctx, "nginx", map[string]int{"beijing": 2, "hangzhou": 3})
	})
})
