// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package scheduler_test

import (
	"context"
	"strconv"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/localplane"
	"berth.dev/berth/test/integration/internal/installation"
	"berth.dev/berth/test/integration/internal/schedulerproc"
)

// placeLabel on a node names its cluster.
const placeLabel = "example.com/place"

// site is what a spec has to itself: a namespace, and clusters with nodes that no other spec uses.
// Clusters are named by short names that are unique within the site.
type site struct {
	namespace, suffix string
}

// newSite makes a namespace that pods can be created in, and removes it when the spec is over.
func newSite(ctx context.Context) *site {
	GinkgoHelper()
	ns := installation.CreateNamespace(ctx, client, "site-")
	DeferCleanup(func(ctx SpecContext) {
		Expect(client.CoreV1().Namespaces().Delete(ctx, ns, metav1.DeleteOptions{})).To(Succeed())
	})
	return &site{namespace: ns, suffix: strings.TrimPrefix(ns, "site-")}
}

// newSiteWith makes a site with clusters of three nodes each.
func newSiteWith(ctx context.Context, clusters ...string) *site {
	GinkgoHelper()
	s := newSite(ctx)
	for _, name := range clusters {
		s.createNodes(ctx, name, 3)
		s.createCluster(ctx, name)
	}
	return s
}

// full returns the name of a cluster in the API.
func (s *site) full(cluster string) string { return cluster + "-" + s.suffix }

// node returns the name of the i-th node of a cluster.
func (s *site) node(cluster string, i int) string { return s.full(cluster) + "-" + strconv.Itoa(i) }

// label returns the labels that nodes of a cluster carry.
func (s *site) label(cluster string) map[string]string {
	return map[string]string{placeLabel: s.full(cluster)}
}

func (s *site) createCluster(ctx context.Context, name string) {
	GinkgoHelper()
	s.createClusterOf(ctx, name, berthv1alpha1.ClusterSpec{MatchLabels: s.label(name)})
}

func (s *site) createClusterOf(ctx context.Context, name string, spec berthv1alpha1.ClusterSpec) {
	GinkgoHelper()
	_, err := berth.BerthV1alpha1().Clusters().Create(ctx,
		&berthv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: s.full(name)}, Spec: spec}, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
}

// createNodes makes nodes that carry the label of a cluster, whether or not that exists.
func (s *site) createNodes(ctx context.Context, cluster string, count int) {
	GinkgoHelper()
	Expect(localplane.CreateNodes(ctx, client, s.full(cluster), count, s.label(cluster), nil)).To(Succeed())
}

// weight is an entry of a staticWeightList.
type weight struct {
	cluster string
	weight  int64
	// max is the number of replicas at most; 0 means no limit.
	max int32
}

// policy returns a policy for all workloads of a kind, one that moves misplaced pods without delay:
// "no pod was evicted" then says that none was misplaced.
func (s *site) policy(name, kind string, weights ...weight) *berthv1alpha1.PropagationPolicy {
	apiVersion := map[string]string{
		"Deployment": "apps/v1", "StatefulSet": "apps/v1", "ReplicaSet": "apps/v1", "Job": "batch/v1",
		"ReplicationController": "v1", "Pod": "v1", "Lease": "coordination.k8s.io/v1",
	}[kind]
	policy := &berthv1alpha1.PropagationPolicy{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: name},
		Spec: berthv1alpha1.PropagationPolicySpec{
			ResourceSelectors: []berthv1alpha1.ResourceSelector{{APIVersion: apiVersion, Kind: kind}},
			Rebalance:         berthv1alpha1.Rebalance{Cooldown: &metav1.Duration{}, MinPodAge: &metav1.Duration{}},
		},
	}
	for _, w := range weights {
		entry := berthv1alpha1.StaticClusterWeight{ClusterNames: []string{s.full(w.cluster)}, Weight: w.weight}
		if w.max > 0 {
			entry.Max = &w.max
		}
		policy.Spec.Placement.StaticWeightList = append(policy.Spec.Placement.StaticWeightList, entry)
	}
	return policy
}

func (s *site) createPolicy(ctx context.Context, policy *berthv1alpha1.PropagationPolicy) {
	GinkgoHelper()
	_, err := berth.BerthV1alpha1().PropagationPolicies(s.namespace).Create(ctx, policy, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	select {
	case <-main.Done():
	default:
		main.UntilKnows(ctx, berth)
	}
}

// twoToThree is the weights of most specs: with 5 replicas beijing has 2 and hangzhou 3.
func twoToThree() []weight {
	return []weight{{cluster: "beijing", weight: 2}, {cluster: "hangzhou", weight: 3}}
}

// template returns a pod that berth-scheduler is to place.
func template(app string) corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": app}},
		Spec: corev1.PodSpec{
			SchedulerName:                schedulerproc.Name,
			AutomountServiceAccountToken: ptr.To(false),
			Containers:                   []corev1.Container{{Name: "main", Image: "nginx:1.27"}},
		},
	}
}
