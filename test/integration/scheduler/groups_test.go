// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package scheduler_test

import (
	"context"
	"fmt"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/localplane"
)

// tierLabel on a Cluster says to which group of these specs it belongs.
const tierLabel = "example.com/tier"

// tier returns the selector of the clusters of the site that have the tier.
func (s *site) tier(tier string) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{tierLabel: s.full(tier)}}
}

// setTier gives a cluster a tier, none if it is empty.
func (s *site) setTier(ctx context.Context, cluster, tier string) {
	GinkgoHelper()
	value := "null"
	if tier != "" {
		value = fmt.Sprintf("%q", s.full(tier))
	}
	_, err := berth.BerthV1alpha1().Clusters().Patch(ctx, s.full(cluster), types.MergePatchType,
		fmt.Appendf(nil, `{"metadata":{"labels":{%q:%s}}}`, tierLabel, value), metav1.PatchOptions{})
	Expect(err).NotTo(HaveOccurred())
}

var _ = Describe("a policy with groups of clusters", func() {
	It("serves sites that are registered, labelled and relabelled later", func(ctx SpecContext) {
		s := newSiteWith(ctx, "store-a", "region-a", "region-b")
		s.setTier(ctx, "region-a", "region")
		s.setTier(ctx, "region-b", "region")
		policy := s.policy("nginx", "Deployment")
		policy.Spec.Placement.ClusterGroups = []berthv1alpha1.ClusterGroup{
			{Name: "stores", ClusterSelector: s.tier("store"), ReplicasPerCluster: ptr.To[int32](1)},
			{Name: "regions", ClusterSelector: s.tier("region"), Weight: ptr.To[int64](3)},
		}
		s.createPolicy(ctx, policy)
		s.createDeployment(ctx, s.deployment("nginx", 6))
		s.expectShares(ctx, "nginx", map[string]int{"region-a": 3, "region-b": 3})

		By("labelling a site that exists")
		s.setTier(ctx, "store-a", "store")
		s.scale(ctx, "nginx", 7)
		s.expectShares(ctx, "nginx", map[string]int{"store-a": 1, "region-a": 3, "region-b": 3})

		By("registering a new one")
		s.createNodes(ctx, "store-b", 1)
		s.createCluster(ctx, "store-b")
		s.setTier(ctx, "store-b", "store")
		s.scale(ctx, "nginx", 8)
		s.expectShares(ctx, "nginx", map[string]int{"store-a": 1, "store-b": 1, "region-a": 3, "region-b": 3})
	})

	It("lets pods wait while there is no cluster in any group, and takes up those that come", func(ctx SpecContext) {
		s := newSiteWith(ctx, "store-a")
		policy := s.policy("nginx", "Deployment")
		policy.Spec.Placement.ClusterGroups = []berthv1alpha1.ClusterGroup{{Name: "stores", ClusterSelector: s.tier("store")}}
		s.createPolicy(ctx, policy)
		s.createDeployment(ctx, s.deployment("nginx", 2))
		s.expectShares(ctx, "nginx", map[string]int{"waiting": 2})
		s.setTier(ctx, "store-a", "store")
		s.expectShares(ctx, "nginx", map[string]int{"store-a": 2})
	})

	It("chooses among clusters, spreads over places and weighs by capacity", func(ctx SpecContext) {
		s := newSite(ctx)
		for name, province := range map[string]string{"a": "north", "b": "north", "c": "north", "d": "south"} {
			nodes := 1
			if name == "d" {
				nodes = 2
			}
			s.createNodes(ctx, name, nodes)
			s.createClusterOf(ctx, name, berthv1alpha1.ClusterSpec{
				MatchLabels:    s.label(name),
				ClusterProfile: berthv1alpha1.ClusterProfile{GeoLocation: &berthv1alpha1.GeoLocation{Province: province}},
			})
			s.setTier(ctx, name, "region")
		}
		Eventually(func(g Gomega) {
			for _, name := range []string{"a", "b", "c", "d"} {
				c, err := berth.BerthV1alpha1().Clusters().Get(ctx, s.full(name), metav1.GetOptions{})
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(c.Status.Allocatable).To(HaveKey(corev1.ResourceCPU))
			}
		}, timeout, poll).Should(Succeed())
		policy := s.policy("nginx", "Deployment")
		policy.Spec.Placement.ClusterGroups = []berthv1alpha1.ClusterGroup{{
			Name: "regions", ClusterSelector: s.tier("region"), MaxClusters: ptr.To[int32](2),
			ClusterWeights:    &berthv1alpha1.ClusterWeights{Type: berthv1alpha1.WeighAllocatable, Resource: "cpu"},
			SpreadConstraints: []berthv1alpha1.SpreadConstraint{{Field: berthv1alpha1.SpreadByProvince, MinGroups: 2}},
		}}
		s.createPolicy(ctx, policy)
		s.createDeployment(ctx, s.deployment("nginx", 6))
		s.expectRunning(ctx, "nginx", 6)
		shares := s.shares(ctx, "nginx")
		Expect(shares).To(HaveLen(2), "clusters with replicas")
		Expect(shares).To(HaveKeyWithValue("d", 4), "twice the cpu of the other one, and the only one in the south")
	})
})

// sites is a policy for sites of three sorts.
const sites = `
placement:
  clusterGroups:
  - name: stores                     # every cluster with the label, now and later
    clusterSelector: {matchLabels: {tier: store}}
    replicasPerCluster: 1
  - name: regions
    clusterSelector: {matchLabels: {tier: region}}
    weight: 3                        # of the group; inside it:
    clusterWeights: {type: Allocatable, resource: cpu}   # Equal | Room | Allocatable | Label (labelKey) | Pool (clusterResource)
    maxClusters: 4
    spreadConstraints: [{field: Province, minGroups: 2}]  # City | Province | Country | Region | Label (labelKey)
  - name: burst
    clusterNames: [cloud-a]
    tier: 1                          # takes only what lower tiers cannot
    giveUpAfter: 1m
failover: {after: 5m, returnAfter: 30m}
`

var _ = Describe("a policy for stores, regions and a cloud", func() {
	It("shares by numbers, then by weights, and leaves the cloud alone", func(ctx SpecContext) {
		s := newSite(ctx)
		s.createNodes(ctx, "store-a", 1)
		s.createNodes(ctx, "store-b", 1)
		s.createNodes(ctx, "region-a", 1)
		s.createNodes(ctx, "region-b", 2)
		for name, province := range map[string]string{"store-a": "", "store-b": "", "region-a": "north", "region-b": "south"} {
			tier, _, _ := strings.Cut(name, "-")
			_, err := berth.BerthV1alpha1().Clusters().Create(ctx, &berthv1alpha1.Cluster{
				ObjectMeta: metav1.ObjectMeta{Name: s.full(name), Labels: map[string]string{"tier": tier}},
				Spec: berthv1alpha1.ClusterSpec{
					MatchLabels:    s.label(name),
					ClusterProfile: berthv1alpha1.ClusterProfile{GeoLocation: &berthv1alpha1.GeoLocation{Province: province}},
				},
			}, metav1.CreateOptions{})
			Expect(err).NotTo(HaveOccurred())
		}
		Eventually(func(g Gomega) {
			for name, cpu := range map[string]string{"region-a": "32", "region-b": "64"} {
				c, err := berth.BerthV1alpha1().Clusters().Get(ctx, s.full(name), metav1.GetOptions{})
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(c.Status.Allocatable.Cpu().String()).To(Equal(cpu), "cpu of "+name)
			}
		}, timeout, poll).Should(Succeed())
		policy := s.policy("nginx", "Deployment")
		Expect(yaml.UnmarshalStrict([]byte(sites), &policy.Spec)).To(Succeed())
		s.createPolicy(ctx, policy)
		s.createDeployment(ctx, s.deployment("nginx", 11))
		s.expectShares(ctx, "nginx", map[string]int{"store-a": 1, "store-b": 1, "region-a": 3, "region-b": 6})
	})

	It("weighs clusters by what there is of a ClusterResource", func(ctx SpecContext) {
		s := newSiteWith(ctx, "a", "b")
		_, err := berth.BerthV1alpha1().ClusterResources().Create(ctx, &berthv1alpha1.ClusterResource{
			ObjectMeta: metav1.ObjectMeta{Name: s.full("licences")},
			Spec: berthv1alpha1.ClusterResourceSpec{Capacity: []berthv1alpha1.ClusterResourceQuantity{
				{Name: "a", Quantity: resource.MustParse("8"), NodeSelector: s.label("a")},
				{Name: "b", Quantity: resource.MustParse("4"), NodeSelector: s.label("b")},
			}},
		}, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		policy := s.policy("nginx", "Deployment")
		policy.Spec.Placement.ClusterGroups = []berthv1alpha1.ClusterGroup{{
			Name: "licensed", ClusterNames: []string{s.full("a"), s.full("b")},
			ClusterWeights: &berthv1alpha1.ClusterWeights{Type: berthv1alpha1.WeighPool, ClusterResource: s.full("licences")},
		}}
		s.createPolicy(ctx, policy)
		s.createDeployment(ctx, s.deployment("nginx", 6))
		s.expectShares(ctx, "nginx", map[string]int{"a": 4, "b": 2})
	})
})

var _ = Describe("a policy with a group that others give up for", func() {
	It("lets a later tier have what finds no node, and brings it back when there is room", func(ctx SpecContext) {
		s := newSiteWith(ctx, "store", "cloud")
		policy := s.policy("nginx", "Deployment")
		policy.Spec.Placement.ClusterGroups = []berthv1alpha1.ClusterGroup{
			{Name: "stores", ClusterNames: []string{s.full("store")}},
			{Name: "burst", ClusterNames: []string{s.full("cloud")}, Tier: ptr.To[int32](1), GiveUpAfter: &metav1.Duration{Duration: 2 * time.Second}},
		}
		s.createPolicy(ctx, policy)
		deployment := s.deployment("nginx", 5)
		deployment.Spec.Template.Spec.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: 80, HostPort: 80}}
		s.createDeployment(ctx, deployment)
		s.expectShares(ctx, "nginx", map[string]int{"store": 3, "cloud": 2})
		Eventually(func(g Gomega) {
			p, err := berth.BerthV1alpha1().PropagationPolicies(s.namespace).Get(ctx, "nginx", metav1.GetOptions{})
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(p.Status.Limited).To(HaveLen(1))
			g.Expect(p.Status.Limited[0].Clusters).To(Equal([]berthv1alpha1.LimitedCluster{{Name: s.full("store"), Replicas: 3}}))
		}, timeout, poll).Should(Succeed())

		By("making room in nodes called more")
		Expect(localplane.CreateNodes(ctx, client, s.full("more"), 2, s.label("store"), nil)).To(Succeed())
		s.expectShares(ctx, "nginx", map[string]int{"store": 3, "more": 2})
	})
})

var _ = Describe("a policy with failover", func() {
	It("gives the seats of a cluster that is offline to the others", func(ctx SpecContext) {
		s := newSiteWith(ctx, "beijing", "hangzhou")
		policy := s.policy("nginx", "Deployment", twoToThree()...)
		policy.Spec.Failover = &berthv1alpha1.Failover{
			After: ptr.To(berthv1alpha1.FailoverAfter("1s")), ReturnAfter: &metav1.Duration{Duration: time.Second},
		}
		s.createPolicy(ctx, policy)
		s.createDeployment(ctx, s.deployment("nginx", 5))
		s.expectShares(ctx, "nginx", map[string]int{"beijing": 2, "hangzhou": 3})
		setNodes := func(unschedulable bool) {
			for i := range 3 {
				_, err := client.CoreV1().Nodes().Patch(ctx, s.node("hangzhou", i), types.MergePatchType,
					fmt.Appendf(nil, `{"spec":{"unschedulable":%t}}`, unschedulable), metav1.PatchOptions{})
				Expect(err).NotTo(HaveOccurred())
			}
		}
		setNodes(true)
		s.expectShares(ctx, "nginx", map[string]int{"beijing": 5})
		setNodes(false)
		s.expectShares(ctx, "nginx", map[string]int{"beijing": 2, "hangzhou": 3})
	})
})
