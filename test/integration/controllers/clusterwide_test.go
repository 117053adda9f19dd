// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"context"
	"fmt"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// label gives a Cluster a label, or takes it away with null.
func label(ctx context.Context, cluster, patch string) {
	GinkgoHelper()
	_, err := berth.BerthV1alpha1().Clusters().Patch(ctx, cluster, types.MergePatchType,
		[]byte(`{"metadata":{"labels":`+patch+`}}`), metav1.PatchOptions{})
	Expect(err).NotTo(HaveOccurred())
}

var _ = Describe("a policy that follows its clusters", func() {
	// store makes a Cluster of the specs' namespace that belongs to the stores.
	store := func(ctx context.Context, namespace, name string) string {
		newCluster(ctx, namespace+"-"+name, 1)
		label(ctx, namespace+"-"+name, `{"test.berth.dev/stores":"`+namespace+`"}`)
		return namespace + "-" + name
	}
	follow := func(namespace string) func(*berthv1alpha1.PropagationPolicySpec) {
		return func(spec *berthv1alpha1.PropagationPolicySpec) {
			spec.Placement = berthv1alpha1.Placement{ClusterGroups: []berthv1alpha1.ClusterGroup{{
				Name: "stores", ReplicasPerCluster: new(int32(1)),
				ClusterSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"test.berth.dev/stores": namespace}},
			}}}
			spec.Scaling = &berthv1alpha1.Scaling{Mode: berthv1alpha1.ScaleFollowClusters}
		}
	}

	It("has a replica for each store, from three to four and back", func(ctx SpecContext) {
		namespace := newNamespace(ctx)
		a, b, c := store(ctx, namespace, "a"), store(ctx, namespace, "b"), store(ctx, namespace, "c")
		newDeployment(ctx, namespace, "web", 1)
		newPolicy(ctx, namespace, "p", "web", nil, follow(namespace))
		untilSpread(ctx, namespace, map[string]int{a: 1, b: 1, c: 1})
		d := store(ctx, namespace, "d")
		untilSpread(ctx, namespace, map[string]int{a: 1, b: 1, c: 1, d: 1})
		label(ctx, d, `{"test.berth.dev/stores":null}`)
		untilSpread(ctx, namespace, map[string]int{a: 1, b: 1, c: 1})
		untilCondition(ctx, namespace, "p", berthv1alpha1.PolicyScaled, "True FollowsClusters")
	})

	DescribeTable("keeps the replica of a store that is offline", func(ctx SpecContext, failover *berthv1alpha1.Failover, left int) {
		namespace := newNamespace(ctx)
		a, b, c := store(ctx, namespace, "a"), store(ctx, namespace, "b"), store(ctx, namespace, "c")
		newDeployment(ctx, namespace, "web", 1)
		newPolicy(ctx, namespace, "p", "web", nil, follow(namespace), func(spec *berthv1alpha1.PropagationPolicySpec) {
			spec.Failover = failover
		})
		untilSpread(ctx, namespace, map[string]int{a: 1, b: 1, c: 1})

		By("taking a store offline")
		cordonNodes(ctx, c, true)
		untilOnline(ctx, c, metav1.ConditionFalse)
		Eventually(func(g Gomega) {
			policy, err := berth.BerthV1alpha1().PropagationPolicies(namespace).Get(ctx, "p", metav1.GetOptions{})
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(policy.Status.FailedOver).To(HaveLen(left))
		}).WithTimeout(timeout).WithPolling(poll).Should(Succeed())
		Consistently(replicasOf).WithContext(ctx).WithArguments(namespace, "web").
			WithTimeout(settle).WithPolling(poll).Should(BeEquivalentTo(3))

		By("opening another one, and closing it")
		d := store(ctx, namespace, "d")
		untilReplicas(ctx, namespace, "web", 4)
		label(ctx, d, `{"test.berth.dev/stores":null}`)
		untilReplicas(ctx, namespace, "web", 3)

		By("bringing it back")
		cordonNodes(ctx, c, false)
		untilOnline(ctx, c, metav1.ConditionTrue)
		untilSpread(ctx, namespace, map[string]int{a: 1, b: 1, c: 1})
		Consistently(replicasOf).WithContext(ctx).WithArguments(namespace, "web").
			WithTimeout(settle).WithPolling(poll).Should(BeEquivalentTo(3))
	},
		Entry("and waits for it", nil, 0),
		Entry("and that was left", &berthv1alpha1.Failover{
			After: new(berthv1alpha1.FailoverAfter("1s")), ReturnAfter: &metav1.Duration{Duration: time.Second},
		}, 1),
	)

	It("leaves alone what a HorizontalPodAutoscaler targets", func(ctx SpecContext) {
		namespace := newNamespace(ctx)
		store(ctx, namespace, "a")
		store(ctx, namespace, "b")
		newDeployment(ctx, namespace, "web", 1)
		_, err := client.AutoscalingV2().HorizontalPodAutoscalers(namespace).Create(ctx, &autoscalingv2.HorizontalPodAutoscaler{
			ObjectMeta: metav1.ObjectMeta{Name: "web"},
			Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
				ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "web"}, MaxReplicas: 9,
			},
		}, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		newPolicy(ctx, namespace, "p", "web", nil, follow(namespace))
		untilCondition(ctx, namespace, "p", berthv1alpha1.PolicyScaled, "False Autoscaled")
		deployment, err := client.AppsV1().Deployments(namespace).Get(ctx, "web", metav1.GetOptions{})
		Expect(err).NotTo(HaveOccurred())
		Expect(*deployment.Spec.Replicas).To(BeEquivalentTo(1))

		By("opening a store and closing it")
		c := store(ctx, namespace, "c")
		untilWanted(ctx, namespace, "p", 3)
		label(ctx, c, `{"test.berth.dev/stores":null}`)
		untilWanted(ctx, namespace, "p", 2)
		Expect(replicasOf(ctx, namespace, "web")).To(BeEquivalentTo(1))
	})
})

// untilWanted waits until a policy that may not set it tells how many replicas its clusters want.
func untilWanted(ctx context.Context, namespace, policy string, want int) {
	GinkgoHelper()
	Eventually(message).WithContext(ctx).WithArguments(namespace, policy, berthv1alpha1.PolicyScaled).
		WithTimeout(timeout).WithPolling(poll).Should(ContainSubstring("its clusters want %d:", want))
}

// replicasOf returns how many replicas a Deployment is to have.
func replicasOf(ctx context.Context, namespace, name string) (int32, error) {
	deployment, err := client.AppsV1().Deployments(namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return 0, err
	}
	return *deployment.Spec.Replicas, nil
}

func untilReplicas(ctx context.Context, namespace, name string, want int) {
	GinkgoHelper()
	Eventually(replicasOf).WithContext(ctx).WithArguments(namespace, name).
		WithTimeout(timeout).WithPolling(poll).Should(BeEquivalentTo(want))
}

// cordonNodes sets whether the nodes of a cluster of newCluster take pods. If they do not it is
// offline.
func cordonNodes(ctx context.Context, cluster string, is bool) {
	GinkgoHelper()
	nodes, err := client.CoreV1().Nodes().List(ctx, metav1.ListOptions{LabelSelector: clusterLabel + "=" + cluster})
	Expect(err).NotTo(HaveOccurred())
	for i := range nodes.Items {
		_, err := client.CoreV1().Nodes().Patch(ctx, nodes.Items[i].Name, types.MergePatchType,
			fmt.Appendf(nil, `{"spec":{"unschedulable":%t}}`, is), metav1.PatchOptions{})
		Expect(err).NotTo(HaveOccurred())
	}
}

func untilOnline(ctx context.Context, cluster string, want metav1.ConditionStatus) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		c, err := berth.BerthV1alpha1().Clusters().Get(ctx, cluster, metav1.GetOptions{})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(c.Online()).To(HaveField("Status", want))
	}).WithTimeout(timeout).WithPolling(poll).Should(Succeed())
}

var _ = Describe("a ClusterPropagationPolicy", func() {
	It("places the workloads of its namespaces, but for those of their own policies", func(ctx SpecContext) {
		one, two := newNamespace(ctx), newNamespace(ctx)
		beijing, hangzhou := twoClusters(ctx, one, 1)
		for _, namespace := range []string{one, two} {
			_, err := client.CoreV1().Namespaces().Patch(ctx, namespace, types.MergePatchType,
				[]byte(`{"metadata":{"labels":{"test.berth.dev/team":"`+one+`"}}}`), metav1.PatchOptions{})
			Expect(err).NotTo(HaveOccurred())
			newDeployment(ctx, namespace, "web", 2)
		}
		newPolicy(ctx, two, "own", "web", weights{beijing: 1})
		wide := &berthv1alpha1.ClusterPropagationPolicy{ObjectMeta: metav1.ObjectMeta{Name: one}}
		wide.Spec.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"test.berth.dev/team": one}}
		wide.Spec.ResourceSelectors = []berthv1alpha1.ResourceSelector{{APIVersion: "apps/v1", Kind: "Deployment", Name: "web"}}
		wide.Spec.Placement.StaticWeightList = weights{hangzhou: 1}.list()
		wide.Spec.Rebalance.Cooldown, wide.Spec.Rebalance.MinPodAge = &metav1.Duration{}, &metav1.Duration{}
		policies := berth.BerthV1alpha1().ClusterPropagationPolicies()
		_, err := policies.Create(ctx, wide, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		untilSpread(ctx, one, map[string]int{hangzhou: 2})
		untilSpread(ctx, two, map[string]int{beijing: 2})
		Eventually(func(g Gomega) {
			object, err := policies.Get(ctx, one, metav1.GetOptions{})
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(object.Status.NamespaceCount).To(BeEquivalentTo(2))
			g.Expect(object.Status.WorkloadCount).To(BeEquivalentTo(1))
			g.Expect(apimeta.IsStatusConditionTrue(object.Status.Conditions, berthv1alpha1.PolicyAccepted)).To(BeTrue())
		}).WithTimeout(timeout).WithPolling(poll).Should(Succeed())

		By("deleting it")
		Expect(policies.Delete(ctx, one, metav1.DeleteOptions{})).To(Succeed())
		Eventually(func() bool {
			_, err := berth.BerthV1alpha1().PropagationPolicies(one).Get(ctx, "cluster-"+one, metav1.GetOptions{})
			return apierrors.IsNotFound(err)
		}).WithTimeout(timeout).WithPolling(poll).Should(BeTrue())
	})
})
