// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package scheduler_test

import (
	. "github.com/onsi/ginkgo/v2"
	"k8s.io/utils/ptr"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

var _ = Describe("a policy with numbers of replicas", func() {
	It("gives exactly those, first, and shares what is left by weight", func(ctx SpecContext) {
		s := newSiteWith(ctx, "store", "beijing", "hangzhou")
		policy := s.policy("nginx", "Deployment", twoToThree()...)
		policy.Spec.Placement.StaticWeightList = append(policy.Spec.Placement.StaticWeightList,
			berthv1alpha1.StaticClusterWeight{ClusterNames: []string{s.full("store")}, Replicas: ptr.To[int32](2)})
		s.createPolicy(ctx, policy)
		s.createDeployment(ctx, s.deployment("nginx", 7))
		s.expectShares(ctx, "nginx", map[string]int{"store": 2, "beijing": 2, "hangzhou": 3})
		s.scale(ctx, "nginx", 12)
		s.expectShares(ctx, "nginx", map[string]int{"store": 2, "beijing": 4, "hangzhou": 6})
		s.scale(ctx, "nginx", 3)
		s.expectShares(ctx, "nginx", map[string]int{"store": 2, "hangzhou": 1})
	})
})
