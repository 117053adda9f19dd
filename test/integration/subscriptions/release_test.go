// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package subscriptions_test

import (
	"context"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// marks writes what Helm writes on what it installs with the release store.
func (s *site) marks(o *metav1.ObjectMeta) {
	o.Labels = map[string]string{"app.kubernetes.io/managed-by": "Helm"}
	o.Annotations = map[string]string{"meta.helm.sh/release-name": "store", "meta.helm.sh/release-namespace": s.namespace}
}

// install makes a Deployment as part of the release. Its pods have the label, too, as charts
// write it.
func (s *site) install(ctx context.Context, name string, replicas int32) {
	GinkgoHelper()
	d := newDeployment(name, replicas)
	s.marks(&d.ObjectMeta)
	d.Spec.Template.Labels["app.kubernetes.io/managed-by"] = "Helm"
	_, err := client.AppsV1().Deployments(s.namespace).Create(ctx, d, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
}

// listed tells the feeds in the status of a Subscription, "store: Deployment web" for instance.
func (s *site) listed(name string) func(context.Context) string {
	return func(ctx context.Context) string {
		found, err := berth.BerthV1alpha1().Subscriptions(s.namespace).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err.Error()
		}
		var feeds []string
		for i := range found.Status.Feeds {
			feeds = append(feeds, found.Status.Feeds[i].HelmRelease+": "+found.Status.Feeds[i].Describe())
		}
		return strings.Join(feeds, ", ")
	}
}

func listingStore(spec *berthv1alpha1.SubscriptionSpec) {
	spec.Feeds = append(spec.Feeds, berthv1alpha1.Feed{HelmRelease: "store"})
}

var _ = Describe("A Helm release", func() {
	It("is divided, object by object, as upgrades change it", func(ctx SpecContext) {
		s := newSite(ctx)
		s.cluster(ctx, "beijing", "32")
		s.cluster(ctx, "hangzhou", "32")
		weights := s.byWeight(map[string]int32{"beijing": 2, "hangzhou": 3})
		s.subscribe(ctx, "shop", nil, func(spec *berthv1alpha1.SubscriptionSpec) { weights(spec); listingStore(spec) })
		until(ctx, s.reason("shop", berthv1alpha1.SubscriptionScheduled), berthv1alpha1.ReasonFeedsUnknown)
		until(ctx, s.listed("shop"), "store: Helm release store")

		By("installing it")
		s.install(ctx, "web", 5)
		settings := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "settings"}}
		s.marks(&settings.ObjectMeta)
		_, err := client.CoreV1().ConfigMaps(s.namespace).Create(ctx, settings, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		until(ctx, s.where("web"), "beijing=2 hangzhou=3")
		until(ctx, s.listed("shop"), "store: ConfigMap settings, store: Deployment web")
		until(ctx, s.reason("shop", berthv1alpha1.SubscriptionScheduled), berthv1alpha1.ReasonAllPlaced)

		By("upgrading it")
		s.install(ctx, "queue", 10)
		until(ctx, s.where("queue"), "beijing=4 hangzhou=6")
		Expect(client.AppsV1().Deployments(s.namespace).Delete(ctx, "web", metav1.DeleteOptions{})).To(Succeed())
		until(ctx, s.listed("shop"), "store: ConfigMap settings, store: Deployment queue")
	})

	It("can be a bundle, which starts as a whole", func(ctx SpecContext) {
		s := newSite(ctx)
		s.cluster(ctx, "a", "4")
		s.subscribe(ctx, "shop", nil, func(spec *berthv1alpha1.SubscriptionSpec) { bundled(spec); listingStore(spec) })
		s.install(ctx, "web", 3)
		s.install(ctx, "queue", 2)
		until(ctx, s.reason("shop", berthv1alpha1.SubscriptionScheduled), berthv1alpha1.ReasonBundleWaits)
		s.cluster(ctx, "b", "4")
		until(ctx, s.reason("shop", berthv1alpha1.SubscriptionAvailable), berthv1alpha1.ReasonAllRunning)
	})
})
