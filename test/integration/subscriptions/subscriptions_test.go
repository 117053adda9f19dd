// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package subscriptions_test

import (
	"context"
	"fmt"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/rights"
)

var _ = Describe("A Subscription", func() {
	It("divides by weight", func(ctx SpecContext) {
		s := newSite(ctx)
		s.cluster(ctx, "beijing", "32")
		s.cluster(ctx, "hangzhou", "32")
		s.subscribe(ctx, "shop", []string{"web"}, s.byWeight(map[string]int32{"beijing": 2, "hangzhou": 3}))
		until(ctx, s.reason("shop", berthv1alpha1.SubscriptionScheduled), berthv1alpha1.ReasonFeedsUnknown)
		s.deploy(ctx, "web", 5)
		until(ctx, s.where("web"), "beijing=2 hangzhou=3")
		until(ctx, s.reason("shop", berthv1alpha1.SubscriptionAvailable), berthv1alpha1.ReasonAllRunning)
	})

	It("divides by room, places the difference when it grows and follows the deletion cost when it shrinks", func(ctx SpecContext) {
		s := newSite(ctx)
		s.cluster(ctx, "a", "6")
		s.cluster(ctx, "b", "3")
		s.subscribe(ctx, "shop", []string{"web"}, nil)
		s.deploy(ctx, "web", 6)
		until(ctx, s.where("web"), "a=4 b=2")
		before := s.pods(ctx, "web")

		s.scale(ctx, "web", 8)
		until(ctx, s.where("web"), "a=5 b=3")
		after := s.pods(ctx, "web")
		for _, pod := range before {
			Expect(slices.ContainsFunc(after, func(p corev1.Pod) bool { return p.UID == pod.UID })).To(BeTrue(), "pod %s has moved", pod.Name)
		}
		s.scale(ctx, "web", 11)
		until(ctx, s.where("web"), "-=2 a=6 b=3")
		until(ctx, s.reason("shop", berthv1alpha1.SubscriptionScheduled), berthv1alpha1.ReasonNoRoom)

		By("making room elsewhere")
		s.cluster(ctx, "c", "4")
		until(ctx, s.where("web"), "a=6 b=3 c=2")
		until(ctx, s.reason("shop", berthv1alpha1.SubscriptionScheduled), berthv1alpha1.ReasonAllPlaced)
	})

	It("moves running pods when it is asked to, within a PodDisruptionBudget", func(ctx SpecContext) {
		s := newSite(ctx)
		s.cluster(ctx, "a", "8")
		s.subscribe(ctx, "shop", []string{"web"}, nil)
		s.deploy(ctx, "web", 6)
		until(ctx, s.where("web"), "a=6")
		_, err := client.PolicyV1().PodDisruptionBudgets(s.namespace).Create(ctx, &policyv1.PodDisruptionBudget{
			ObjectMeta: metav1.ObjectMeta{Name: "web"},
			Spec: policyv1.PodDisruptionBudgetSpec{
				MinAvailable: ptr.To(intstr.FromInt32(5)), Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
			},
		}, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		policies := berth.BerthV1alpha1().PropagationPolicies(s.namespace)
		made, err := policies.List(ctx, metav1.ListOptions{})
		Expect(err).NotTo(HaveOccurred())
		Expect(made.Items).To(HaveLen(1))
		_, err = policies.Patch(ctx, made.Items[0].Name, types.MergePatchType,
			[]byte(`{"spec":{"rebalance":{"cooldown":"0s","minPodAge":"0s"}}}`), metav1.PatchOptions{})
		Expect(err).NotTo(HaveOccurred())
		s.cluster(ctx, "b", "8")
		Consistently(ctx, s.where("web")).WithTimeout(settle).WithPolling(poll).Should(Equal("a=6"))

		_, err = berth.BerthV1alpha1().Subscriptions(s.namespace).Patch(ctx, "shop", types.MergePatchType,
			fmt.Appendf(nil, `{"metadata":{"annotations":{%q:"now"}}}`, berthv1alpha1.RebalanceAnnotation), metav1.PatchOptions{})
		Expect(err).NotTo(HaveOccurred())
		Eventually(ctx, func(ctx context.Context) string {
			running := 0
			for _, pod := range s.pods(ctx, "web") {
				if pod.Status.Phase == corev1.PodRunning {
					running++
				}
			}
			if running < 5 {
				StopTrying(fmt.Sprintf("only %d pods run", running)).Now()
			}
			return s.where("web")(ctx)
		}).WithTimeout(timeout).WithPolling(poll).Should(Equal("a=3 b=3"))
	})

	It("admits bundles one by one", func(ctx SpecContext) {
		s := newSite(ctx)
		s.cluster(ctx, "a", "4")
		s.cluster(ctx, "b", "4")
		bundle := func(spec *berthv1alpha1.SubscriptionSpec) {
			spec.DividingScheduling.Admission = berthv1alpha1.BundleAdmission
		}
		s.subscribe(ctx, "first", []string{"web", "db"}, bundle)
		s.deploy(ctx, "web", 3)
		until(ctx, s.where("web"), "-=3")
		Consistently(ctx, s.where("web")).WithTimeout(settle).WithPolling(poll).Should(Equal("-=3"))
		s.deploy(ctx, "db", 3)
		until(ctx, s.reason("first", berthv1alpha1.SubscriptionAvailable), berthv1alpha1.ReasonAllRunning)

		s.subscribe(ctx, "second", []string{"cache", "queue"}, bundle)
		// The first pod that is seen must find its Subscription known; the scheduler reads both on
		// its own.
		until(ctx, s.reason("second", berthv1alpha1.SubscriptionScheduled), berthv1alpha1.ReasonFeedsUnknown)
		s.deploy(ctx, "cache", 3)
		s.deploy(ctx, "queue", 3)
		until(ctx, s.reason("second", berthv1alpha1.SubscriptionScheduled), berthv1alpha1.ReasonBundleWaits)
		until(ctx, s.where("cache"), "-=3")
		until(ctx, s.where("queue"), "-=3")
		Consistently(ctx, func(ctx context.Context) string { return s.where("cache")(ctx) + ", " + s.where("queue")(ctx) }).
			WithTimeout(settle).WithPolling(poll).Should(Equal("-=3, -=3"))

		By("ending the first")
		s.scale(ctx, "web", 0)
		s.scale(ctx, "db", 0)
		until(ctx, s.reason("second", berthv1alpha1.SubscriptionAvailable), berthv1alpha1.ReasonAllRunning)
		Expect(s.where("cache")(ctx)).NotTo(ContainSubstring("-="))
		Expect(s.where("queue")(ctx)).NotTo(ContainSubstring("-="))
	})

	It("runs a copy in each Cluster", func(ctx SpecContext) {
		s := newSite(ctx)
		s.cluster(ctx, "a", "8")
		s.cluster(ctx, "b", "8")
		s.subscribe(ctx, "shop", []string{"web"}, func(spec *berthv1alpha1.SubscriptionSpec) {
			spec.SchedulingStrategy, spec.DividingScheduling = berthv1alpha1.ReplicationStrategy, nil
		})
		s.deploy(ctx, "web", 2)
		until(ctx, s.where("web"), "a=2 b=2")
		until(ctx, s.reason("shop", berthv1alpha1.SubscriptionAvailable), berthv1alpha1.ReasonAllRunning)
		s.scale(ctx, "web", 1)
		until(ctx, s.where("web"), "a=1 b=1")
		Expect(berth.BerthV1alpha1().Clusters().Delete(ctx, "b-"+s.suffix, metav1.DeleteOptions{})).To(Succeed())
		until(ctx, s.where("web"), "a=1")
	})

	It("copies nothing before the namespace has allowed it", func(ctx SpecContext) {
		s := newSite(ctx)
		_, bindings := rights.Objects(s.namespace, rights.DefaultServiceAccount)
		impersonate, bound := bindings[0], client.RbacV1().RoleBindings(s.namespace)
		Expect(bound.Delete(ctx, impersonate.Name, metav1.DeleteOptions{})).To(Succeed())
		s.cluster(ctx, "a", "8")
		s.cluster(ctx, "b", "8")
		s.subscribe(ctx, "shop", []string{"web"}, func(spec *berthv1alpha1.SubscriptionSpec) {
			spec.SchedulingStrategy, spec.DividingScheduling = berthv1alpha1.ReplicationStrategy, nil
		})
		s.deploy(ctx, "web", 2)
		until(ctx, s.reason("shop", berthv1alpha1.SubscriptionScheduled), berthv1alpha1.ReasonNotAllowed)
		until(ctx, s.where("web"), "a=2")
		subscription, err := berth.BerthV1alpha1().Subscriptions(s.namespace).Get(ctx, "shop", metav1.GetOptions{})
		Expect(err).NotTo(HaveOccurred())
		scheduled := apimeta.FindStatusCondition(subscription.Status.Conditions, berthv1alpha1.SubscriptionScheduled)
		Expect(scheduled.Message).To(And(ContainSubstring("impersonate serviceaccounts"),
			ContainSubstring("berthctl allow namespace "+s.namespace)))
		_, err = bound.Create(ctx, impersonate, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		until(ctx, s.where("web"), "a=2 b=2")
	})

	It("puts copies and policies right when somebody edits them, and leaves what an autoscaler scales", func(ctx SpecContext) {
		s := newSite(ctx)
		s.cluster(ctx, "a", "8")
		s.cluster(ctx, "b", "8")
		s.subscribe(ctx, "shop", []string{"web"}, func(spec *berthv1alpha1.SubscriptionSpec) {
			spec.SchedulingStrategy, spec.DividingScheduling = berthv1alpha1.ReplicationStrategy, nil
		})
		s.deploy(ctx, "web", 2)
		until(ctx, s.where("web"), "a=2 b=2")
		replica := "web-b-" + s.suffix
		deployments := client.AppsV1().Deployments(s.namespace)
		patch := func(body string) {
			GinkgoHelper()
			_, err := deployments.Patch(ctx, replica, types.StrategicMergePatchType, []byte(body), metav1.PatchOptions{FieldManager: "kubectl-edit"})
			Expect(err).NotTo(HaveOccurred())
		}
		seen := func(ctx context.Context) string {
			d, err := deployments.Get(ctx, replica, metav1.GetOptions{})
			if err != nil {
				return err.Error()
			}
			return fmt.Sprintf("replicas %d, selector %v, team %q, owners %d", *d.Spec.Replicas, d.Spec.Template.Spec.NodeSelector,
				d.Annotations["team"], len(d.OwnerReferences))
		}
		patch(`{"spec":{"replicas":5,"template":{"spec":{"nodeSelector":{"disk":"ssd"}}}}}`)
		until(ctx, seen, `replicas 2, selector map[], team "", owners 1`)
		patch(`{"metadata":{"ownerReferences":null}}`)
		until(ctx, seen, `replicas 2, selector map[], team "", owners 1`)

		By("annotating what is copied")
		_, err := deployments.Patch(ctx, "web", types.MergePatchType, []byte(`{"metadata":{"annotations":{"team":"shop"}}}`), metav1.PatchOptions{})
		Expect(err).NotTo(HaveOccurred())
		until(ctx, seen, `replicas 2, selector map[], team "shop", owners 1`)
		patch(`{"metadata":{"annotations":{"team":"bank"}}}`)
		until(ctx, seen, `replicas 2, selector map[], team "shop", owners 1`)

		By("scaling by hand and as an autoscaler does")
		scaleAs := func(manager string, replicas int32) {
			GinkgoHelper()
			_, err := deployments.UpdateScale(ctx, replica, &autoscalingv1.Scale{
				ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: replica}, Spec: autoscalingv1.ScaleSpec{Replicas: replicas},
			}, metav1.UpdateOptions{FieldManager: manager})
			Expect(err).NotTo(HaveOccurred())
		}
		scaleAs("kubectl", 5)
		until(ctx, seen, `replicas 2, selector map[], team "shop", owners 1`)
		scaleAs("kube-controller-manager", 3)
		until(ctx, s.where("web"), "a=2 b=3")
		Consistently(ctx, seen).WithTimeout(settle).WithPolling(poll).Should(Equal(`replicas 3, selector map[], team "shop", owners 1`))
		patch(`{"spec":{"template":{"spec":{"nodeSelector":{"disk":"ssd"}}}}}`)
		until(ctx, seen, `replicas 3, selector map[], team "shop", owners 1`)
		until(ctx, s.reason("shop", berthv1alpha1.SubscriptionAvailable), berthv1alpha1.ReasonAllRunning)

		By("writing nothing while nothing differs")
		version := func(ctx context.Context) string {
			d, err := deployments.Get(ctx, replica, metav1.GetOptions{})
			Expect(err).NotTo(HaveOccurred())
			return d.ResourceVersion
		}
		var last string
		Eventually(ctx, func(ctx context.Context) bool {
			before := last
			last = version(ctx)
			return before == last
		}).WithTimeout(timeout).WithPolling(settle).Should(BeTrue())
		Consistently(ctx, version).WithTimeout(settle).WithPolling(poll).Should(Equal(last))

		By("taking the owner and the weights of a policy away")
		policies := berth.BerthV1alpha1().PropagationPolicies(s.namespace)
		list, err := policies.List(ctx, metav1.ListOptions{})
		Expect(err).NotTo(HaveOccurred())
		Expect(list.Items).To(HaveLen(2))
		for i := range list.Items {
			want := &list.Items[i]
			_, err := policies.Patch(ctx, want.Name, types.MergePatchType, []byte(
				`{"metadata":{"ownerReferences":null},"spec":{"placement":{"staticWeightList":[{"clusterNames":["x"],"weight":7}]}}}`), metav1.PatchOptions{})
			Expect(err).NotTo(HaveOccurred())
			Eventually(ctx, func(g Gomega, ctx context.Context) {
				found, err := policies.Get(ctx, want.Name, metav1.GetOptions{})
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(found.Spec).To(Equal(want.Spec))
				g.Expect(found.OwnerReferences).To(Equal(want.OwnerReferences))
			}).WithTimeout(timeout).WithPolling(poll).Should(Succeed())
		}
	})

	It("uses as many Clusters of each subgroup as it says", func(ctx SpecContext) {
		s := newSite(ctx)
		s.cluster(ctx, "a", "4")
		s.cluster(ctx, "b", "8")
		s.cluster(ctx, "x", "8")
		s.subscribe(ctx, "shop", []string{"web"}, func(spec *berthv1alpha1.SubscriptionSpec) {
			one := &berthv1alpha1.SubGroupStrategy{MinClusters: 1}
			spec.SchedulingBySubGroup = new(true)
			spec.Subscribers[0].ClusterAffinity.MatchExpressions = []metav1.LabelSelectorRequirement{
				{Key: nameLabel, Operator: metav1.LabelSelectorOpIn, Values: []string{"a", "b"}},
			}
			spec.Subscribers[0].SubGroupStrategy = one
			spec.Subscribers = append(spec.Subscribers, s.subscriber("x", 0))
			spec.Subscribers[1].SubGroupStrategy = one
		})
		until(ctx, s.reason("shop", berthv1alpha1.SubscriptionScheduled), berthv1alpha1.ReasonFeedsUnknown)
		s.deploy(ctx, "web", 6)
		until(ctx, s.where("web"), "b=3 x=3")
	})

	It("beats a policy of its own, which says so", func(ctx SpecContext) {
		s := newSite(ctx)
		s.cluster(ctx, "a", "8")
		s.cluster(ctx, "b", "8")
		_, err := berth.BerthV1alpha1().PropagationPolicies(s.namespace).Create(ctx, &berthv1alpha1.PropagationPolicy{
			ObjectMeta: metav1.ObjectMeta{Name: "mine"},
			Spec: berthv1alpha1.PropagationPolicySpec{
				ResourceSelectors: []berthv1alpha1.ResourceSelector{{APIVersion: "apps/v1", Kind: "Deployment", Name: "web"}},
				Placement: berthv1alpha1.Placement{StaticWeightList: []berthv1alpha1.StaticClusterWeight{
					{ClusterNames: []string{"b-" + s.suffix}, Weight: 1},
				}},
			},
		}, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		s.subscribe(ctx, "shop", []string{"web"}, func(spec *berthv1alpha1.SubscriptionSpec) {
			spec.Subscribers = []berthv1alpha1.Subscriber{s.subscriber("a", 0)}
		})
		s.deploy(ctx, "web", 3)
		until(ctx, s.where("web"), "a=3")
		until(ctx, func(ctx context.Context) string {
			found, err := berth.BerthV1alpha1().PropagationPolicies(s.namespace).Get(ctx, "mine", metav1.GetOptions{})
			if err != nil {
				return err.Error()
			}
			if c := apimeta.FindStatusCondition(found.Status.Conditions, berthv1alpha1.PolicyConflicted); c != nil {
				return c.Reason
			}
			return "none"
		}, berthv1alpha1.ReasonOtherPolicyWins)
	})
})
