// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package subscriptions_test

import (
	"context"
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// cordon sets whether the node of a Cluster takes pods. If it does not the Cluster is offline.
func (s *site) cordon(ctx context.Context, cluster string, is bool) {
	GinkgoHelper()
	_, err := client.CoreV1().Nodes().Patch(ctx, cluster+"-"+s.suffix, types.MergePatchType,
		fmt.Appendf(nil, `{"spec":{"unschedulable":%t}}`, is), metav1.PatchOptions{})
	Expect(err).NotTo(HaveOccurred())
}

// failover changes the failover of the Subscription shop.
func (s *site) failover(ctx context.Context, fields string) {
	GinkgoHelper()
	_, err := berth.BerthV1alpha1().Subscriptions(s.namespace).Patch(ctx, "shop", types.MergePatchType,
		fmt.Appendf(nil, `{"spec":{"failover":{%s}}}`, fields), metav1.PatchOptions{})
	Expect(err).NotTo(HaveOccurred())
}

// failedOver names the Clusters that a Subscription has left.
func (s *site) failedOver(name string) func(context.Context) string {
	return s.status(name, func(status *berthv1alpha1.SubscriptionStatus) string {
		var left []string
		for _, l := range status.FailedOver {
			left = append(left, strings.TrimSuffix(l.Cluster, "-"+s.suffix))
		}
		return strings.Join(left, " ")
	})
}

var _ = Describe("A Cluster that goes offline", func() {
	never := berthv1alpha1.FailoverNever

	DescribeTable("is left when the failover says, and comes into question again when that says",
		func(ctx SpecContext, change func(*site, *berthv1alpha1.SubscriptionSpec), before, waiting, after string) {
			s := newSite(ctx)
			s.cluster(ctx, "a", "16")
			s.cluster(ctx, "b", "16")
			s.deploy(ctx, "web", 6)
			s.subscribe(ctx, "shop", []string{"web"}, func(spec *berthv1alpha1.SubscriptionSpec) {
				change(s, spec)
				spec.Failover = &berthv1alpha1.Failover{After: &never}
			})
			until(ctx, s.where("web"), before)
			s.cordon(ctx, "b", true)
			Eventually(ctx, s.told("shop", berthv1alpha1.SubscriptionDegraded)).WithTimeout(timeout).WithPolling(poll).Should(And(
				HavePrefix("True ClusterLost: "), HaveSuffix("b-"+s.suffix+" (offline, and failover.after is Never)")))

			By("deleting the pods there, as Kubernetes would, while nobody leaves it")
			s.deleteIn(ctx, "web", "b")
			until(ctx, s.where("web"), waiting)

			By("leaving it")
			s.failover(ctx, `"after":"1s"`)
			until(ctx, s.placement("shop"), "web a=6")
			until(ctx, s.failedOver("shop"), "b")
			until(ctx, s.where("web"), "a=6")
			until(ctx, s.reason("shop", berthv1alpha1.SubscriptionAvailable), berthv1alpha1.ReasonAllRunning)

			By("waiting until it is healthy again")
			s.cordon(ctx, "b", false)
			s.failover(ctx, `"returnAfter":"1s"`)
			until(ctx, s.failedOver("shop"), "")
			until(ctx, s.placement("shop"), "web "+after)
		},
		Entry("by weight", func(s *site, spec *berthv1alpha1.SubscriptionSpec) {
			s.byWeight(map[string]int32{"a": 1, "b": 2})(spec)
		}, "a=2 b=4", "-=4 a=2", "a=2 b=4"),
		Entry("by room", func(*site, *berthv1alpha1.SubscriptionSpec) {}, "a=3 b=3", "-=3 a=3", "a=6"),
	)
})

// deleteIn deletes the pods of a Deployment in a Cluster.
func (s *site) deleteIn(ctx context.Context, app, cluster string) {
	GinkgoHelper()
	for _, pod := range s.pods(ctx, app) {
		if pod.Spec.NodeName == cluster+"-"+s.suffix {
			Expect(client.CoreV1().Pods(s.namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{})).To(Succeed())
		}
	}
}
