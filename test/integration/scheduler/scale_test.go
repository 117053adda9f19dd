// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package scheduler_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

var _ = Describe("a Deployment with a policy", func() {
	It("has its share of replicas in every cluster", func(ctx SpecContext) {
		s := newSiteWith(ctx, "beijing", "hangzhou")
		s.createPolicy(ctx, s.policy("nginx", "Deployment", twoToThree()...))
		s.createDeployment(ctx, s.deployment("nginx", 5))
		s.expectShares(ctx, "nginx", map[string]int{"beijing": 2, "hangzhou": 3})
		Expect(s.seats(ctx, "nginx", "nginx")).To(Equal(map[string][]int{"beijing": {1, 3}, "hangzhou": {0, 2, 4}}))
	})
})
