// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package subscriptions_test

import (
	"context"
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// ends are how a Deployment that was promised room stops wanting it.
var ends = map[string]func(ctx context.Context, s *site, name string){
	"is scaled to 0": func(ctx context.Context, s *site, name string) { s.scale(ctx, name, 0) },
	"is deleted": func(ctx context.Context, s *site, name string) {
		GinkgoHelper()
		Expect(client.AppsV1().Deployments(s.namespace).Delete(ctx, name, metav1.DeleteOptions{})).To(Succeed())
	},
}

var _ = Describe("A promise", func() {
	for end, happens := range ends {
		for kind, change := range map[string]func(*berthv1alpha1.SubscriptionSpec){"a feed": nil, "a bundle": bundled} {
			It(fmt.Sprintf("to %s ends when its Deployment %s", kind, end), func(ctx SpecContext) {
				s := newSite(ctx)
				s.cluster(ctx, "a", "4")
				s.subscribe(ctx, "shop", []string{"web"}, change)
				web := newDeployment("web", 4)
				web.Spec.Paused = true // Nobody makes pods of it.
				_, err := client.AppsV1().Deployments(s.namespace).Create(ctx, web, metav1.CreateOptions{})
				Expect(err).NotTo(HaveOccurred())
				until(ctx, s.placement("shop"), "web a=4")

				s.subscribe(ctx, "other", []string{"db"}, change)
				s.deploy(ctx, "db", 3)
				until(ctx, s.placement("other"), "db")
				until(ctx, s.where("db"), "-=3")
				happens(ctx, s, "web")
				until(ctx, s.where("db"), "a=3")
			})
		}
	}
})
