// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package feeds_test

import (
	"context"
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

var _ = Describe("The inventory of a Subscription", func() {
	It("lists fifty feeds in their order, in one go, and each change is one write", func(ctx SpecContext) {
		const count = 50
		namespace := newNamespace(ctx)
		var feeds []berthv1alpha1.Feed
		var want []string
		for i := range count {
			// Their order is not that of the names.
			name := fmt.Sprintf("web-%02d", (i*7)%count)
			deploy(ctx, namespace, name, int32(i))
			feeds = append(feeds, feed("Deployment", name))
			want = append(want, fmt.Sprintf("Deployment %s %d Parsed", name, i))
		}
		By("waiting until the controller has heard of them all, which it does in their order")
		elsewhere := newNamespace(ctx)
		deploy(ctx, elsewhere, "last", 1)
		subscribe(ctx, elsewhere, feed("Deployment", "last"))
		untilLines(ctx, elsewhere, "Deployment last 1 Parsed")
		writes := countWrites(ctx, namespace)
		subscribe(ctx, namespace, feeds...)
		untilLines(ctx, namespace, want...)
		Eventually(ctx, parsedCondition(namespace)).WithTimeout(timeout).WithPolling(poll).Should(Equal("True AllParsed"))
		Consistently(writes).WithTimeout(settle).WithPolling(poll).Should(BeNumerically("<=", 2), "the object and its status")

		before := writes()
		scale(ctx, namespace, "web-07", 100)
		want[1] = "Deployment web-07 100 Parsed"
		untilLines(ctx, namespace, want...)
		Consistently(writes).WithTimeout(settle).WithPolling(poll).Should(BeNumerically("<=", before+1))
		Expect(writes()).To(Equal(before + 1))
	})

	It("tells what a feed needs, and belongs to its Subscription", func(ctx SpecContext) {
		namespace := newNamespace(ctx)
		deploy(ctx, namespace, "web", 3)
		owner := subscribe(ctx, namespace, feed("Deployment", "web"))
		untilLines(ctx, namespace, "Deployment web 3 Parsed")
		found, err := inventory(ctx, namespace)
		Expect(err).NotTo(HaveOccurred())
		order := found.Spec.Feeds[0]
		Expect(order.ReplicaJSONPath).To(Equal("/spec/replicas"))
		Expect(order.ReplicaRequirements.Resources.Requests.Cpu().String()).To(Equal("250m"))
		Expect(found.Status.Feeds[0].Parser).To(Equal("Deployment"))
		Expect(metav1.IsControlledBy(found, owner)).To(BeTrue())

		Expect(berth.BerthV1alpha1().Subscriptions(namespace).Delete(ctx, name, metav1.DeleteOptions{})).To(Succeed())
		untilGone(ctx, namespace)
	})

	It("follows feeds that come, go and change, and one that is missing holds up no other", func(ctx SpecContext) {
		namespace := newNamespace(ctx)
		deploy(ctx, namespace, "web", 3)
		subscribe(ctx, namespace, feed("Deployment", "late"), feed("Deployment", "web"), feed("ConfigMap", "settings"))
		untilLines(ctx, namespace, "Deployment late - NotFound", "Deployment web 3 Parsed", "ConfigMap settings - NotFound")
		Eventually(ctx, parsedCondition(namespace)).WithTimeout(timeout).WithPolling(poll).Should(Equal("False FeedsMissing"))

		deploy(ctx, namespace, "late", 0)
		_, err := client.CoreV1().ConfigMaps(namespace).Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "settings"}}, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		untilLines(ctx, namespace, "Deployment late 0 Parsed", "Deployment web 3 Parsed", "ConfigMap settings - CopiedWhole")
		Eventually(ctx, parsedCondition(namespace)).WithTimeout(timeout).WithPolling(poll).Should(Equal("True AllParsed"))

		Expect(client.AppsV1().Deployments(namespace).Delete(ctx, "web", metav1.DeleteOptions{})).To(Succeed())
		untilLines(ctx, namespace, "Deployment late 0 Parsed", "Deployment web - NotFound", "ConfigMap settings - CopiedWhole")

		changeSpec(ctx, namespace, func(spec *berthv1alpha1.SubscriptionSpec) { spec.Feeds = spec.Feeds[:1] })
		untilLines(ctx, namespace, "Deployment late 0 Parsed")
	})

	It("goes when the Subscription does not divide dynamically, and comes back", func(ctx SpecContext) {
		namespace := newNamespace(ctx)
		deploy(ctx, namespace, "web", 3)
		subscribe(ctx, namespace, feed("Deployment", "web"))
		untilLines(ctx, namespace, "Deployment web 3 Parsed")
		changeSpec(ctx, namespace, func(spec *berthv1alpha1.SubscriptionSpec) {
			spec.SchedulingStrategy = berthv1alpha1.ReplicationStrategy
		})
		untilGone(ctx, namespace)
		Eventually(ctx, parsedCondition(namespace)).WithTimeout(timeout).WithPolling(poll).Should(Equal("True AllParsed"))
		changeSpec(ctx, namespace, func(spec *berthv1alpha1.SubscriptionSpec) {
			spec.Feeds = append(spec.Feeds, feed("Deployment", "late"))
		})
		Eventually(ctx, parsedCondition(namespace)).WithTimeout(timeout).WithPolling(poll).Should(Equal("False FeedsMissing"))
		deploy(ctx, namespace, "late", 1)
		Eventually(ctx, parsedCondition(namespace)).WithTimeout(timeout).WithPolling(poll).Should(Equal("True AllParsed"))
		changeSpec(ctx, namespace, func(spec *berthv1alpha1.SubscriptionSpec) { spec.Feeds = spec.Feeds[:1] })
		changeSpec(ctx, namespace, func(spec *berthv1alpha1.SubscriptionSpec) {
			spec.SchedulingStrategy = berthv1alpha1.DividingStrategy
			spec.DividingScheduling = &berthv1alpha1.DividingScheduling{Type: berthv1alpha1.DynamicDividingType}
		})
		untilLines(ctx, namespace, "Deployment web 3 Parsed")
		changeSpec(ctx, namespace, func(spec *berthv1alpha1.SubscriptionSpec) {
			spec.DividingScheduling.Type, spec.Subscribers[0].Weight = berthv1alpha1.StaticDividingType, 1
		})
		untilGone(ctx, namespace)
	})

	It("is put right when somebody edits or deletes it; what others note on it stays", func(ctx SpecContext) {
		namespace := newNamespace(ctx)
		deploy(ctx, namespace, "web", 3)
		owner := subscribe(ctx, namespace, feed("Deployment", "web"))
		untilLines(ctx, namespace, "Deployment web 3 Parsed")
		edit := func(change func(*berthv1alpha1.FeedInventory)) {
			GinkgoHelper()
			Eventually(ctx, func(ctx context.Context) error {
				found, err := inventory(ctx, namespace)
				if err != nil {
					return err
				}
				change(found)
				_, err = berth.BerthV1alpha1().FeedInventories(namespace).Update(ctx, found, metav1.UpdateOptions{})
				return err
			}).WithTimeout(timeout).WithPolling(poll).Should(Succeed())
		}
		edit(func(found *berthv1alpha1.FeedInventory) {
			found.Labels = map[string]string{"mine": "yes"}
			found.OwnerReferences = nil
			found.Spec.Feeds[0].DesiredReplicas = ptr.To[int32](99)
		})
		untilLines(ctx, namespace, "Deployment web 3 Parsed")
		found, err := inventory(ctx, namespace)
		Expect(err).NotTo(HaveOccurred())
		Expect(found.Labels).To(HaveKeyWithValue("mine", "yes"))
		Expect(metav1.IsControlledBy(found, owner)).To(BeTrue())

		Expect(berth.BerthV1alpha1().FeedInventories(namespace).Delete(ctx, name, metav1.DeleteOptions{})).To(Succeed())
		Eventually(ctx, func(ctx context.Context) bool {
			again, err := inventory(ctx, namespace)
			return err == nil && again.UID != found.UID
		}).WithTimeout(timeout).WithPolling(poll).Should(BeTrue())
		untilLines(ctx, namespace, "Deployment web 3 Parsed")
	})

	It("tells what Berth does not read, and lists the others", func(ctx SpecContext) {
		namespace := newNamespace(ctx)
		deploy(ctx, namespace, "web", 3)
		foreign := feed("Deployment", "web")
		foreign.Namespace = "kube-system"
		own := feed("Deployment", "web")
		own.Namespace = namespace
		subscribe(ctx, namespace, foreign, feed("Namespace", "default"), feed("Secret", "token"), feed("Deployment", "web"), own)
		untilLines(ctx, namespace, "Deployment web - ForeignNamespace", "Namespace default - ForeignNamespace",
			"Secret token - Forbidden", "Deployment web 3 Parsed", "Deployment web - Duplicate")
	})

	It("belongs to a Subscription with a name of 253 characters", func(ctx SpecContext) {
		namespace := newNamespace(ctx)
		deploy(ctx, namespace, "web", 3)
		long := fmt.Sprintf("%0253d", 1)
		s := subscribe(ctx, namespace, feed("Deployment", "web"))
		s.ObjectMeta = metav1.ObjectMeta{Name: long}
		_, err := berth.BerthV1alpha1().Subscriptions(namespace).Create(ctx, s, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		Eventually(ctx, func(ctx context.Context) error {
			_, err := berth.BerthV1alpha1().FeedInventories(namespace).Get(ctx, long, metav1.GetOptions{})
			return err
		}).WithTimeout(timeout).WithPolling(poll).Should(Succeed())
	})
})
