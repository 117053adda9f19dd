// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package operations_test

import (
	"context"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth.dev/berth/pkg/localplane"
	"berth.dev/berth/test/integration/internal/installation"
	"berth.dev/berth/test/integration/internal/promserver"
)

// forbid takes away what the scheduler may do with a kind.
func forbid(ctx context.Context, kind string) {
	GinkgoHelper()
	roles := plane.Client.RbacV1().ClusterRoles()
	role, err := roles.Get(ctx, localplane.BerthScheduler, metav1.GetOptions{})
	Expect(err).NotTo(HaveOccurred())
	for i := range role.Rules {
		role.Rules[i].Resources = slices.DeleteFunc(role.Rules[i].Resources, func(name string) bool { return name == kind })
	}
	role.Rules = slices.DeleteFunc(role.Rules, func(rule rbacv1.PolicyRule) bool { return len(rule.Resources)+len(rule.NonResourceURLs) == 0 })
	_, err = roles.Update(ctx, role, metav1.UpdateOptions{})
	Expect(err).NotTo(HaveOccurred())
}

var _ = Describe("Faults of the installation", func() {
	It("raise their alerts and no others, and can be found", func(ctx SpecContext) {
		begins(ctx)
		first := run(scheduler(ctx, "berth-scheduler"))
		_, port := controllers(ctx)
		settle(ctx)
		DeferCleanup(func(ctx SpecContext) { installation.ApplyBase(ctx, plane.ControlPlane) })
		server := promserver.StartWith(ctx, GinkgoT(), scrape(map[string][]int{
			"berth-scheduler": {first.port}, "berth-controller-manager": {port},
		}))
		inTurn(ctx, server, []planted{{
			name: "the scheduler may not read policies", alert: "BerthSchedulerBlind", with: []string{"BerthPermissionsMissing", "BerthUnschedulablePods"},
			plant: func(ctx context.Context) {
				forbid(ctx, "propagationpolicies")
				first.again()
				kubectl(ctx, "scale deployment web --replicas=4")
			},
			cause: `(?m)^no$`, page: "waiting", shows: "Clusters and PropagationPolicies cannot be read",
		}})
	})
})
