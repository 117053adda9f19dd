// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package subscriptions_test

import (
	"context"
	"fmt"
	"slices"
	"syscall"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/localplane"
	"berth.dev/berth/test/integration/internal/installation"
)

// ends are how a Deployment that was promised room stops wanting it.
var ends = map[string]func(ctx context.Context, s *site, name string){
	"is scaled to 0": func(ctx context.Context, s *site, name string) { s.scale(ctx, name, 0) },
	"is deleted": func(ctx context.Context, s *site, name string) {
		GinkgoHelper()
		Expect(client.AppsV1().Deployments(s.namespace).Delete(ctx, name, metav1.DeleteOptions{})).To(Succeed())
	},
}

// promised are to whom room is promised.
var promised = map[string]func(*berthv1alpha1.SubscriptionSpec){"a feed": nil, "a bundle": bundled}

// obstacles keep the pods of a Deployment from being made. They return how that ends.
var obstacles = map[string]func(ctx context.Context, s *site) (end func(context.Context)){
	"a quota forbids its pods": func(ctx context.Context, s *site) func(context.Context) {
		GinkgoHelper()
		quotas := client.CoreV1().ResourceQuotas(s.namespace)
		none := corev1.ResourceList{corev1.ResourcePods: resource.MustParse("0")}
		quota, err := quotas.Create(ctx, &corev1.ResourceQuota{
			ObjectMeta: metav1.ObjectMeta{Name: "none"}, Spec: corev1.ResourceQuotaSpec{Hard: none},
		}, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		// The controller of quotas does not run here.
		quota.Status = corev1.ResourceQuotaStatus{Hard: none, Used: none}
		_, err = quotas.UpdateStatus(ctx, quota, metav1.UpdateOptions{})
		Expect(err).NotTo(HaveOccurred())
		Eventually(ctx, func(ctx context.Context) error {
			_, err := client.CoreV1().Pods(s.namespace).Create(ctx, &corev1.Pod{
				ObjectMeta: metav1.ObjectMeta{Name: "probe"}, Spec: newDeployment("probe", 1).Spec.Template.Spec,
			}, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
			return err
		}).WithTimeout(timeout).WithPolling(poll).Should(MatchError(ContainSubstring("exceeded quota")))
		return func(ctx context.Context) {
			GinkgoHelper()
			Expect(quotas.Delete(ctx, "none", metav1.DeleteOptions{})).To(Succeed())
		}
	},
	"kube-controller-manager is down": func(context.Context, *site) func(context.Context) {
		GinkgoHelper()
		processes := plane.Processes()
		i := slices.IndexFunc(processes, func(p *localplane.Process) bool { return p.Name() == "kube-controller-manager" })
		Expect(i).NotTo(Equal(-1))
		Expect(processes[i].Kill(syscall.SIGSTOP)).To(Succeed())
		return func(context.Context) {
			GinkgoHelper()
			Expect(processes[i].Kill(syscall.SIGCONT)).To(Succeed())
		}
	},
}

var _ = Describe("A promise", func() {
	for end, happens := range ends {
		for kind, change := range promised {
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

var _ = Describe("A promise that nobody comes for", Serial, Ordered, func() {
	BeforeAll(func(ctx SpecContext) { restartControllers(ctx, "--promise-timeout=20s") })
	AfterAll(func(ctx SpecContext) { restartControllers(ctx) })

	for why, begin := range obstacles {
		for kind, change := range promised {
			It(fmt.Sprintf("to %s ends when %s", kind, why), func(ctx SpecContext) {
				s := newSite(ctx)
				s.cluster(ctx, "a", "4")
				neighbour := &site{namespace: installation.CreateNamespace(ctx, client, "site-"), suffix: s.suffix}
				installation.Allow(ctx, client, neighbour.namespace)
				s.subscribe(ctx, "shop", []string{"web"}, change)
				web := newDeployment("web", 4)
				web.Spec.Paused = true // until its neighbour has pods
				_, err := client.AppsV1().Deployments(s.namespace).Create(ctx, web, metav1.CreateOptions{})
				Expect(err).NotTo(HaveOccurred())
				until(ctx, s.placement("shop"), "web a=4")
				neighbour.subscribe(ctx, "other", []string{"db"}, change)
				neighbour.deploy(ctx, "db", 3)
				Eventually(ctx, func(ctx context.Context) []corev1.Pod { return neighbour.pods(ctx, "db") }).
					WithTimeout(timeout).WithPolling(poll).Should(HaveLen(3))

				end := begin(ctx, s)
				ended := false
				DeferCleanup(func(ctx SpecContext) {
					if !ended {
						end(ctx)
					}
				})
				_, err = client.AppsV1().Deployments(s.namespace).Patch(ctx, "web", types.MergePatchType,
					[]byte(`{"spec":{"paused":false}}`), metav1.PatchOptions{})
				Expect(err).NotTo(HaveOccurred())
				until(ctx, neighbour.where("db"), "a=3")
				until(ctx, s.told("shop", berthv1alpha1.SubscriptionScheduled), map[string]string{
					"a feed":   "False PodsNotMade: nobody has made 4 of the 4 pods of Deployment web for 20s, so no room is kept for them",
					"a bundle": "False BundleWaits: the bundle waits for Deployment web: 4 of 4 pods are not made",
				}[kind])

				By("letting its pods be made")
				end(ctx)
				ended = true
				until(ctx, s.where("web"), map[string]string{"a feed": "-=3 a=1", "a bundle": "-=4"}[kind])
			})
		}
	}
})
