// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	. "github.com/onsi/ginkgo/v2"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

var _ = Describe("Rebalancing", func() {
	It("moves exactly the misplaced pods when the weights change, with no more missing than allowed", func(ctx SpecContext) {
		namespace := newNamespace(ctx)
		bj, hz := twoClusters(ctx, namespace, 2)
		newPolicy(ctx, namespace, "policy", "web", weights{bj: 2, hz: 3})
		newDeployment(ctx, namespace, "web", 5)
		untilSpread(ctx, namespace, map[string]int{bj: 2, hz: 3})
		untilCondition(ctx, namespace, "policy", berthv1alpha1.PolicyPlaced, "True AsDesired")
		before := uids(ctx, namespace)

		stop := during(ctx, atLeast(namespace, 4))
		reweigh(ctx, namespace, "policy", weights{bj: 4, hz: 1})
		untilSpread(ctx, namespace, map[string]int{bj: 4, hz: 1})
		untilCondition(ctx, namespace, "policy", berthv1alpha1.PolicyPlaced, "True AsDesired")
		stop()
		expectStayed(ctx, namespace, before, 3)
	})
})
