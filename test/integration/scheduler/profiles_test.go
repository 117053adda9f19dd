// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package scheduler_test

import (
	"maps"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"berth.dev/berth/test/integration/internal/schedulerproc"
)

// withSecondProfile repeats the profile of a configuration under another name.
func withSecondProfile(configuration []byte, name string) []byte {
	GinkgoHelper()
	var fields map[string]any
	Expect(yaml.Unmarshal(configuration, &fields)).To(Succeed())
	profiles, ok := fields["profiles"].([]any)
	Expect(ok).To(BeTrue())
	Expect(profiles).To(HaveLen(1))
	first, ok := profiles[0].(map[string]any)
	Expect(ok).To(BeTrue())
	second := maps.Clone(first)
	second["schedulerName"] = name
	fields["profiles"] = append(profiles, second)
	text, err := yaml.Marshal(fields)
	Expect(err).NotTo(HaveOccurred())
	return text
}

var _ = Describe("two profiles of one scheduler", Serial, func() {
	It("share the account of replicas", func(ctx SpecContext) {
		s := newSiteWith(ctx, "beijing", "hangzhou")
		replaceMain()
		schedulerproc.Start(ctx, plane, schedulerproc.Options{
			Name: "two-profiles", Configuration: withSecondProfile(schedulerproc.ShippedConfiguration(), "berth-other"),
		}).EndAfterwards()
		s.createPolicy(ctx, s.policy("foreign", "Lease",
			weight{cluster: "beijing", weight: 2, max: 4}, weight{cluster: "hangzhou", weight: 3, max: 4}))
		owner := s.createForeignOwner(ctx, "one")
		for i := range 12 {
			pod := s.pod("one", i)
			pod.OwnerReferences = []metav1.OwnerReference{owner}
			if i%2 == 1 {
				pod.Spec.SchedulerName = "berth-other"
			}
			s.createPod(ctx, pod)
		}
		s.expectShares(ctx, "one", map[string]int{"beijing": 4, "hangzhou": 4, "waiting": 4})
		s.expectWaiting(ctx, "one", 4, shareUsedUp)
		var all []int
		placedBy := map[string]int{}
		for _, seats := range s.seats(ctx, "one", "foreign") {
			all = append(all, seats...)
		}
		for _, pod := range s.pods(ctx, "one") {
			if pod.Spec.NodeName != "" {
				placedBy[pod.Spec.SchedulerName]++
			}
		}
		Expect(all).To(ConsistOf(0, 1, 2, 3, 4, 5, 6, 7))
		Expect(placedBy).To(HaveLen(2), "pods of both profiles are among those placed")
	})
})
