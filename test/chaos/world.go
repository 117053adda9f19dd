// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"strconv"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/localplane"
	"berth.dev/berth/test/chaos/judge"
)

const (
	namespace = metav1.NamespaceDefault
	siteLabel = "example.com/site"

	sites, nodesEach = 6, 4
	// each is how many replicas a workload has on average.
	each = 25

	// licence is a ClusterResource of which all sites share one pool, rack one with a pool at each.
	licence, rack = "licence", "rack"
)

func siteName(n int) string { return fmt.Sprintf("site%d", n) }

// between returns a number from low to high, as the seed wants it.
func (c *chaos) between(low, high int) int { return low + c.rng.IntN(high-low+1) }

// populate makes the nodes, Clusters, ClusterResources, and the workloads with their policies.
func (c *chaos) populate(ctx context.Context) error {
	for n := range sites {
		site := siteName(n)
		for range nodesEach {
			if err := c.addNode(ctx, site); err != nil {
				return err
			}
		}
		cluster := &berthv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: site}}
		cluster.Spec.MatchLabels = map[string]string{siteLabel: site}
		if _, err := c.berth.BerthV1alpha1().Clusters().Create(ctx, cluster, metav1.CreateOptions{}); err != nil {
			return fmt.Errorf("creating cluster %s: %w", site, err)
		}
	}
	for _, name := range []string{licence, rack} {
		r := &berthv1alpha1.ClusterResource{ObjectMeta: metav1.ObjectMeta{Name: name}}
		r.Spec.Capacity = c.capacity(name)
		if _, err := c.berth.BerthV1alpha1().ClusterResources().Create(ctx, r, metav1.CreateOptions{}); err != nil {
			return fmt.Errorf("creating cluster resource %s: %w", name, err)
		}
	}
	return nil
}

// capacity returns the pools of a ClusterResource: about two thirds of what is asked for.
func (c *chaos) capacity(name string) []berthv1alpha1.ClusterResourceQuantity {
	units := func(most int) resource.Quantity {
		return *resource.NewQuantity(int64(c.between(most/3, most)), resource.DecimalSI)
	}
	if name == licence {
		return []berthv1alpha1.ClusterResourceQuantity{{Name: judge.Everywhere, Quantity: units(c.pods / 4)}}
	}
	list := make([]berthv1alpha1.ClusterResourceQuantity, sites)
	for n := range sites {
		list[n] = berthv1alpha1.ClusterResourceQuantity{
			Name: siteName(n), Quantity: units(max(6, c.pods/4/sites)), NodeSelector: map[string]string{siteLabel: siteName(n)},
		}
	}
	return list
}

// addNode adds a node that has room for all pods of the chaos.
func (c *chaos) addNode(ctx context.Context, site string) error {
	c.nodes++
	return c.createNode(ctx, fmt.Sprintf("%s-%d", site, c.nodes))
}

func (c *chaos) createNode(ctx context.Context, name string) error {
	capacity := localplane.DefaultCapacity()
	capacity[corev1.ResourcePods] = *resource.NewQuantity(int64(2*c.pods), resource.DecimalSI)
	node := localplane.FakeNode(name, map[string]string{siteLabel: judge.SiteOf(name)}, capacity)
	if _, err := c.client.CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("creating node %s: %w", name, err)
	}
	return nil
}

// deploy makes the workloads. Two of three have a policy; one of three asks for licences, one for
// what a rack has.
func (c *chaos) deploy(ctx context.Context) error {
	for n := range max(3, c.pods/each) {
		name := fmt.Sprintf("app%d", n)
		c.apps = append(c.apps, name)
		if n%3 != 2 {
			if _, err := c.berth.BerthV1alpha1().PropagationPolicies(namespace).Create(ctx, c.policy(name), metav1.CreateOptions{}); err != nil {
				return fmt.Errorf("creating policy %s: %w", name, err)
			}
			c.policies = append(c.policies, name)
		}
	}
	for n, name := range c.apps {
		d := c.deployment(name, []string{"", licence, "", rack, licence, rack}[n%6])
		if _, err := c.client.AppsV1().Deployments(namespace).Create(ctx, d, metav1.CreateOptions{}); err != nil {
			return fmt.Errorf("creating deployment %s: %w", name, err)
		}
	}
	return nil
}

func (c *chaos) deployment(name, asks string) *appsv1.Deployment {
	labels := map[string]string{"app": name}
	template := corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{
		SchedulerName: localplane.BerthScheduler, AutomountServiceAccountToken: ptr.To(false), TerminationGracePeriodSeconds: ptr.To[int64](0),
		Containers: []corev1.Container{{Name: "main", Image: "nginx:1.27"}},
	}}
	if asks != "" {
		template.Annotations = map[string]string{
			berthv1alpha1.ClusterResourceAnnotationPrefix + asks: strconv.Itoa(c.between(1, 2)),
		}
	}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: appsv1.DeploymentSpec{
			Replicas: ptr.To(int32(c.between(1, 2*each-1))), Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: template,
		},
	}
}

func (c *chaos) policy(name string) *berthv1alpha1.PropagationPolicy {
	return &berthv1alpha1.PropagationPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: berthv1alpha1.PropagationPolicySpec{
			ResourceSelectors: []berthv1alpha1.ResourceSelector{{APIVersion: "apps/v1", Kind: "Deployment", Name: name}},
			Placement:         berthv1alpha1.Placement{StaticWeightList: c.weights()},
			Rebalance: berthv1alpha1.Rebalance{
				MaxUnavailable: ptr.To(intstr.FromString("100%")), Cooldown: &metav1.Duration{Duration: time.Second},
				MinPodAge: &metav1.Duration{},
			},
		},
	}
}

// weights returns those of some sites.
func (c *chaos) weights() []berthv1alpha1.StaticClusterWeight {
	first := c.rng.IntN(sites)
	list := make([]berthv1alpha1.StaticClusterWeight, c.between(1, sites))
	for n := range list {
		list[n] = berthv1alpha1.StaticClusterWeight{ClusterNames: []string{siteName((first + n) % sites)}, Weight: int64(c.between(1, 5))}
	}
	return list
}
