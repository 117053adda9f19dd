// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"context"
	"fmt"
	"maps"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/cmd/playground/podwatch"
	"berth.dev/berth/pkg/localplane"
	"berth.dev/berth/pkg/placement/apportion"
)

const (
	// sites is how many clusters there are beside beijing and hangzhou, one node each.
	sites = 10
	crowd = "crowd"
)

func siteName(i int) string { return fmt.Sprint("site-", i) }

// siteWeight gives the sites the weights 1, 2 and 3 in turn.
func siteWeight(i int) int64 { return int64(1 + i%3) }

// createSites makes the nodes and registers the clusters over REST, as an administrator does: with
// region and size.
func (d *demo) createSites(ctx context.Context) error {
	for i := range sites {
		name := siteName(i)
		region := map[string]string{corev1.LabelTopologyRegion: name}
		if err := localplane.CreateNodes(ctx, d.client, name, 1, region, nil); err != nil {
			return err
		}
		d.clusterOf[name+"-0"] = name
		cluster := &berthv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: name}}
		cluster.Spec.MatchLabels = region
		cluster.Spec.Region = &berthv1alpha1.Region{Region: fmt.Sprint("region-", i%2+1), AvailabilityZone: fmt.Sprint("az-", i)}
		cluster.Spec.CPUCapacity, cluster.Spec.MemCapacity = 32, 256
		if err := d.world.Register(ctx, cluster); err != nil {
			return err
		}
	}
	return nil
}

// createCrowd makes a Deployment and the policy that shares it out over the sites.
func (d *demo) createCrowd(ctx context.Context, replicas int32) error {
	policy := &berthv1alpha1.PropagationPolicy{ObjectMeta: metav1.ObjectMeta{Name: crowd}}
	policy.Spec.ResourceSelectors = []berthv1alpha1.ResourceSelector{{APIVersion: "apps/v1", Kind: "Deployment", Name: crowd}}
	for i := range sites {
		policy.Spec.Placement.StaticWeightList = append(policy.Spec.Placement.StaticWeightList,
			berthv1alpha1.StaticClusterWeight{ClusterNames: []string{siteName(i)}, Weight: siteWeight(i)})
	}
	if _, err := d.berth.BerthV1alpha1().PropagationPolicies(namespace).Create(ctx, policy, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("creating PropagationPolicy %s: %w", crowd, err)
	}
	app := map[string]string{"app": crowd}
	_, err := d.client.AppsV1().Deployments(namespace).Create(ctx, &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: crowd},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: app},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: app},
				Spec: corev1.PodSpec{
					SchedulerName: schedulerName, Containers: []corev1.Container{{Name: crowd, Image: "nginx"}},
				},
			},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("creating Deployment %s: %w", crowd, err)
	}
	return nil
}

// crowdShares returns what the policy of the crowd wants.
func crowdShares(replicas int64) (shares, error) {
	clusters := make([]apportion.Cluster, sites)
	for i := range clusters {
		clusters[i] = apportion.Cluster{Name: siteName(i), Weight: siteWeight(i)}
	}
	order, err := apportion.NewOrder(clusters)
	if err != nil {
		return nil, err
	}
	want := shares{}
	numbers, _ := order.Shares(replicas)
	for i, n := range numbers {
		want[siteName(i)] = int(n)
	}
	return want, nil
}

// awaitCrowd waits until all pods of the crowd run, each site has exactly its share, and returns
// how many each scheduler placed.
func (d *demo) awaitCrowd(ctx context.Context, replicas int) (placed shares, err error) {
	want, err := crowdShares(int64(replicas))
	if err != nil {
		return nil, err
	}
	err = d.await(ctx, func(ctx context.Context) error {
		list, err := d.client.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{LabelSelector: "app=" + crowd})
		if err != nil {
			return fmt.Errorf("listing pods: %w", err)
		}
		running := shares{}
		placed = shares{}
		for i := range list.Items {
			if pod := &list.Items[i]; podwatch.IsReady(pod) {
				running[d.clusterOf[pod.Spec.NodeName]]++
				placed[pod.Labels[berthv1alpha1.HomeSchedulerLabel]]++
			}
		}
		if len(list.Items) != replicas || !maps.Equal(running, want) {
			return fmt.Errorf("%d pods, of which run: %s, want %s", len(list.Items), running, want)
		}
		return nil
	})
	return placed, err
}
