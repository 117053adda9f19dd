// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package scheduler_test

import (
	"context"
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

const (
	// sizeLabel on a Cluster is its weight, and rackLabel is what it is spread by.
	sizeLabel = "example.com/size"
	rackLabel = "example.com/rack"
)

// all returns a group of the clusters, which nothing but their names makes one.
func (s *site) all(clusters ...string) berthv1alpha1.ClusterGroup {
	group := berthv1alpha1.ClusterGroup{Name: "all"}
	for _, name := range clusters {
		group.ClusterNames = append(group.ClusterNames, s.full(name))
	}
	return group
}

// follow makes a policy with groups for a Deployment with so many replicas.
func (s *site) follow(ctx context.Context, replicas int, groups ...berthv1alpha1.ClusterGroup) {
	GinkgoHelper()
	policy := s.policy("nginx", "Deployment")
	policy.Spec.Placement.ClusterGroups = groups
	s.createPolicy(ctx, policy)
	s.createDeployment(ctx, s.deployment("nginx", replicas))
}

// labelCluster gives a cluster a label.
func (s *site) labelCluster(ctx context.Context, name, key, value string) {
	GinkgoHelper()
	s.patchCluster(ctx, name, fmt.Sprintf(`{"metadata":{"labels":{%q:%q}}}`, key, value))
}

// expectResolved waits until the condition ClustersResolved of the policy has a reason and message.
func (s *site) expectResolved(ctx context.Context, reason, message string) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		policy, err := berth.BerthV1alpha1().PropagationPolicies(s.namespace).Get(ctx, "nginx", metav1.GetOptions{})
		g.Expect(err).NotTo(HaveOccurred())
		condition := apimeta.FindStatusCondition(policy.Status.Conditions, berthv1alpha1.PolicyClustersResolved)
		g.Expect(condition).NotTo(BeNil())
		g.Expect(condition.Reason).To(Equal(reason), condition.Message)
		g.Expect(condition.Message).To(Equal(message))
	}, timeout, poll).Should(Succeed())
}

var _ = Describe("the clusters of a group", func() {
	It("share alike with weights Equal, however many nodes they have", func(ctx SpecContext) {
		s := newSiteWith(ctx, "a")
		s.createNodes(ctx, "b", 1)
		s.createCluster(ctx, "b")
		group := s.all("a", "b")
		group.ClusterWeights = &berthv1alpha1.ClusterWeights{Type: berthv1alpha1.WeighEqual}
		s.follow(ctx, 4, group)
		s.expectShares(ctx, "nginx", map[string]int{"a": 2, "b": 2})
	})

	It("share by the numbers in a label, and one whose label is text gets nothing and is told", func(ctx SpecContext) {
		s := newSiteWith(ctx, "a", "b", "c")
		for name, size := range map[string]string{"a": "3", "b": "1", "c": "large"} {
			s.labelCluster(ctx, name, sizeLabel, size)
		}
		group := s.all("a", "b", "c")
		group.ClusterWeights = &berthv1alpha1.ClusterWeights{Type: berthv1alpha1.WeighLabel, LabelKey: sizeLabel}
		s.follow(ctx, 8, group)
		s.expectShares(ctx, "nginx", map[string]int{"a": 6, "b": 2})
		s.expectResolved(ctx, berthv1alpha1.ReasonClustersWithoutWeight, fmt.Sprintf(
			"these clusters of group all get nothing, because their label %s is missing or no number: %s", sizeLabel, s.full("c")))

		By("giving it a number")
		s.labelCluster(ctx, "c", sizeLabel, "4")
		s.expectShares(ctx, "nginx", map[string]int{"a": 3, "b": 1, "c": 4})
		s.expectResolved(ctx, berthv1alpha1.ReasonClustersFound, "all clusters exist and have nodes")
	})

	It("share by what others leave of them", func(ctx SpecContext) {
		s := newSite(ctx)
		for _, name := range []string{"a", "b"} {
			s.createNodes(ctx, name, 1)
			s.createCluster(ctx, name)
		}
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "other"}, Spec: template("other").Spec}
		pod.Spec.SchedulerName, pod.Spec.NodeName = "", s.node("a", 0)
		pod.Spec.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("16")}
		_, err := client.CoreV1().Pods(s.namespace).Create(ctx, pod, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		group := s.all("a", "b")
		group.ClusterWeights = &berthv1alpha1.ClusterWeights{Type: berthv1alpha1.WeighRoom}
		s.follow(ctx, 6, group)
		s.expectShares(ctx, "nginx", map[string]int{"a": 2, "b": 4})
	})

	It("are spread over values of a label first, and it is told where there are too few", func(ctx SpecContext) {
		s := newSiteWith(ctx, "a", "b", "c")
		for name, rack := range map[string]string{"a": "left", "b": "left", "c": "right"} {
			s.labelCluster(ctx, name, rackLabel, rack)
			s.labelCluster(ctx, name, sizeLabel, map[string]string{"a": "50", "b": "49", "c": "1"}[name])
		}
		group := s.all("a", "b", "c")
		group.ClusterWeights = &berthv1alpha1.ClusterWeights{Type: berthv1alpha1.WeighLabel, LabelKey: sizeLabel}
		group.SpreadConstraints = []berthv1alpha1.SpreadConstraint{
			{Field: berthv1alpha1.SpreadByLabel, LabelKey: rackLabel, MinGroups: 3},
		}
		s.follow(ctx, 2, group)
		s.expectShares(ctx, "nginx", map[string]int{"a": 1, "c": 1})
		s.expectResolved(ctx, berthv1alpha1.ReasonSpreadRelaxed, fmt.Sprintf(
			"group all is to be spread over 3 values of %s, and its clusters have 2", rackLabel))
		s.scale(ctx, "nginx", 4)
		s.expectShares(ctx, "nginx", map[string]int{"a": 2, "b": 1, "c": 1})
	})

	It("have no share where they do not meet the constraints, and it is told", func(ctx SpecContext) {
		s := newSite(ctx)
		for name, country := range map[string]string{"a": "US", "b": "DE", "c": ""} {
			s.createNodes(ctx, name, 1)
			s.createClusterOf(ctx, name, berthv1alpha1.ClusterSpec{
				MatchLabels:    s.label(name),
				ClusterProfile: berthv1alpha1.ClusterProfile{GeoLocation: &berthv1alpha1.GeoLocation{Country: country}},
			})
		}
		policy := s.policy("nginx", "Deployment")
		policy.Spec.Placement.ClusterGroups = []berthv1alpha1.ClusterGroup{s.all("a", "b", "c")}
		policy.Spec.Placement.Constraints = &berthv1alpha1.ClusterConstraints{ClusterLabels: []string{"geoLocation.country is US"}}
		s.createPolicy(ctx, policy)
		s.createDeployment(ctx, s.deployment("nginx", 3))
		s.expectShares(ctx, "nginx", map[string]int{"a": 3})
		s.expectResolved(ctx, berthv1alpha1.ReasonClustersFound, fmt.Sprintf(
			"all clusters exist and have nodes; these do not meet the constraints, so they get no share: %s, %s", s.full("b"), s.full("c")))
	})

	It("share by pools that are counted one cluster after the other", func(ctx SpecContext) {
		s := newSiteWith(ctx, "a", "b", "c")
		group := s.all("a", "b", "c")
		group.ClusterWeights = &berthv1alpha1.ClusterWeights{Type: berthv1alpha1.WeighPool, ClusterResource: s.full("licences")}
		policy := s.policy("nginx", "Deployment")
		policy.Spec.Placement.ClusterGroups = []berthv1alpha1.ClusterGroup{group}
		policy.Spec.Rebalance.Mode = berthv1alpha1.RebalanceNever
		s.createPolicy(ctx, policy)
		s.createDeployment(ctx, s.deployment("nginx", 6))
		s.expectShares(ctx, "nginx", map[string]int{"waiting": 6})
		_, err := berth.BerthV1alpha1().ClusterResources().Create(ctx, &berthv1alpha1.ClusterResource{
			ObjectMeta: metav1.ObjectMeta{Name: s.full("licences")},
			Spec: berthv1alpha1.ClusterResourceSpec{Capacity: []berthv1alpha1.ClusterResourceQuantity{
				{Name: "a", Quantity: resource.MustParse("4"), NodeSelector: s.label("a")},
				{Name: "b", Quantity: resource.MustParse("4"), NodeSelector: s.label("b")},
				{Name: "c", Quantity: resource.MustParse("4"), NodeSelector: s.label("c")},
			}},
		}, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		s.expectShares(ctx, "nginx", map[string]int{"a": 2, "b": 2, "c": 2})
	})

	It("belong to the first of several groups, and it is told", func(ctx SpecContext) {
		s := newSiteWith(ctx, "a", "b")
		first, second := s.all("a"), s.all("a", "b")
		first.Name, first.Replicas, second.Name = "first", ptr.To[int32](1), "second"
		s.follow(ctx, 4, first, second)
		s.expectShares(ctx, "nginx", map[string]int{"a": 1, "b": 3})
		s.expectResolved(ctx, berthv1alpha1.ReasonClusterInTwoGroups, fmt.Sprintf(
			"clusters in several groups belong to the first one: %s is in first and in second", s.full("a")))
	})

	It("need not exist yet, and it is told whose shares wait", func(ctx SpecContext) {
		s := newSiteWith(ctx, "a")
		s.follow(ctx, 4, s.all("a", "nowhere"))
		s.expectShares(ctx, "nginx", map[string]int{"a": 2, "waiting": 2})
		s.expectResolved(ctx, berthv1alpha1.ReasonUnknownCluster,
			"these clusters do not exist, so their shares wait: "+s.full("nowhere"))
	})
})

var _ = Describe("a Deployment that follows its clusters", func() {
	It("keeps the replicas of a cluster that is cordoned, and they come back with it", func(ctx SpecContext) {
		s := newSiteWith(ctx, "a", "b")
		group := s.all("a", "b")
		group.ReplicasPerCluster = ptr.To[int32](2)
		policy := s.policy("nginx", "Deployment")
		policy.Spec.Placement.ClusterGroups = []berthv1alpha1.ClusterGroup{group}
		policy.Spec.Scaling = &berthv1alpha1.Scaling{Mode: berthv1alpha1.ScaleFollowClusters}
		s.createPolicy(ctx, policy)
		s.createDeployment(ctx, s.deployment("nginx", 1))
		s.expectShares(ctx, "nginx", map[string]int{"a": 2, "b": 2})

		By("cordoning a cluster and losing a pod there")
		s.patchCluster(ctx, "b", `{"spec":{"unschedulable":true}}`)
		for _, pod := range s.pods(ctx, "nginx") {
			if s.place(&pod) == "b" {
				Expect(client.CoreV1().Pods(s.namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{})).To(Succeed())
				break
			}
		}
		s.expectShares(ctx, "nginx", map[string]int{"a": 2, "b": 1, "waiting": 1})

		By("uncordoning it")
		s.patchCluster(ctx, "b", `{"spec":{"unschedulable":false}}`)
		s.expectShares(ctx, "nginx", map[string]int{"a": 2, "b": 2})
		deployment, err := client.AppsV1().Deployments(s.namespace).Get(ctx, "nginx", metav1.GetOptions{})
		Expect(err).NotTo(HaveOccurred())
		Expect(deployment.Spec.Replicas).To(HaveValue(BeEquivalentTo(4)))
	})
})
