// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

const (
	shop = "shop"
	// shopWeb and shopDB are the feeds of the bundle.
	shopWeb, shopDB             = "shop-web", "shop-db"
	shopWebReplicas, shopDBSize = 6, 2
)

// divideBundle is step 10: what two workloads need is read from their manifests, and their replicas
// are divided by free room.
func (d *demo) divideBundle(ctx context.Context) (string, error) {
	d.printf("applying Subscription %s: %s and %s, divided by free room, all of them or none", shop, shopWeb, shopDB)
	if _, err := d.berth.BerthV1alpha1().Subscriptions(namespace).Create(ctx, subscription(), metav1.CreateOptions{}); err != nil {
		return "", fmt.Errorf("creating Subscription %s: %w", shop, err)
	}
	// Pods that come before the Subscription is known would run anywhere, and stay there.
	if _, err := d.awaitSubscription(ctx, told); err != nil {
		return "", err
	}
	d.printf("applying Deployment %s: %d replicas, and StatefulSet %s: %d", shopWeb, shopWebReplicas, shopDB, shopDBSize)
	web, db := shopWorkloads()
	if _, err := d.client.AppsV1().Deployments(namespace).Create(ctx, web, metav1.CreateOptions{}); err != nil {
		return "", fmt.Errorf("creating Deployment %s: %w", shopWeb, err)
	}
	if _, err := d.client.AppsV1().StatefulSets(namespace).Create(ctx, db, metav1.CreateOptions{}); err != nil {
		return "", fmt.Errorf("creating StatefulSet %s: %w", shopDB, err)
	}
	placed, err := d.awaitSubscription(ctx, available)
	if err != nil {
		return "", err
	}
	if err := d.printBundle(ctx, placed); err != nil {
		return "", err
	}
	total := int32(0)
	for i := range placed.Status.Feeds {
		if err := d.checkFeed(ctx, &placed.Status.Feeds[i]); err != nil {
			return "", err
		}
		for _, cluster := range placed.Status.Feeds[i].Clusters {
			total += cluster.Replicas
		}
	}
	if total != shopWebReplicas+shopDBSize {
		return "", fmt.Errorf("%d replicas were divided, not %d", total, shopWebReplicas+shopDBSize)
	}
	return fmt.Sprintf("all %d pods of the bundle run where the Subscription says: %s",
		total, strings.Join(placed.Status.BindingClusters, " and ")), nil
}

// told reports whether the Subscription has been looked at.
func told(s *berthv1alpha1.Subscription) bool {
	return meta.FindStatusCondition(s.Status.Conditions, berthv1alpha1.SubscriptionScheduled) != nil
}

// available reports whether all pods of the bundle run.
func available(s *berthv1alpha1.Subscription) bool {
	return meta.IsStatusConditionTrue(s.Status.Conditions, berthv1alpha1.SubscriptionAvailable) && len(s.Status.Feeds) == 2
}

// awaitSubscription waits until the Subscription is as is wanted.
func (d *demo) awaitSubscription(
	ctx context.Context, wanted func(*berthv1alpha1.Subscription) bool,
) (*berthv1alpha1.Subscription, error) {
	var found *berthv1alpha1.Subscription
	err := d.await(ctx, func(ctx context.Context) error {
		live, err := d.berth.BerthV1alpha1().Subscriptions(namespace).Get(ctx, shop, metav1.GetOptions{})
		if err != nil {
			return fmt.Errorf("reading Subscription %s: %w", shop, err)
		}
		if !wanted(live) {
			return fmt.Errorf("the conditions of Subscription %s are %v", shop, live.Status.Conditions)
		}
		found = live
		return nil
	})
	return found, err
}

// checkFeed compares where the pods of a feed run with what the Subscription says.
func (d *demo) checkFeed(ctx context.Context, feed *berthv1alpha1.FeedPlacement) error {
	list, err := d.client.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{LabelSelector: "app=" + feed.Name})
	if err != nil {
		return fmt.Errorf("listing the pods of %s: %w", feed.Name, err)
	}
	running, want := map[string]int32{}, map[string]int32{}
	for i := range list.Items {
		running[d.clusterOf[list.Items[i].Spec.NodeName]]++
	}
	for _, cluster := range feed.Clusters {
		if cluster.Replicas > 0 {
			want[cluster.Name] = cluster.Replicas
		}
	}
	if !maps.Equal(running, want) {
		return fmt.Errorf("%s runs as %v, and the Subscription says %v", feed.Name, running, want)
	}
	return nil
}

// printBundle shows what the feeds need, from the inventory, and where they run.
func (d *demo) printBundle(ctx context.Context, placed *berthv1alpha1.Subscription) error {
	inventory, err := d.berth.BerthV1alpha1().FeedInventories(namespace).Get(ctx, shop, metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("reading FeedInventory %s: %w", shop, err)
	}
	table := tabwriter.NewWriter(d.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "\n   FEED\tREPLICAS\tCPU EACH\tRUNS IN")
	for i := range inventory.Spec.Feeds {
		feed := &inventory.Spec.Feeds[i]
		at := slices.IndexFunc(placed.Status.Feeds, func(f berthv1alpha1.FeedPlacement) bool { return f.Name == feed.Name })
		if at < 0 || feed.DesiredReplicas == nil {
			return fmt.Errorf("FeedInventory %s lists %s, which was not divided", shop, feed.Name)
		}
		var where []string
		for _, cluster := range placed.Status.Feeds[at].Clusters {
			where = append(where, fmt.Sprintf("%s: %d", cluster.Name, cluster.Replicas))
		}
		cpu := feed.ReplicaRequirements.Resources.Requests[corev1.ResourceCPU]
		fmt.Fprintf(table, "   %s\t%d\t%s\t%s\n", feed.Name, *feed.DesiredReplicas, cpu.String(), strings.Join(where, ", "))
	}
	fmt.Fprintln(table)
	return table.Flush()
}

func subscription() *berthv1alpha1.Subscription {
	return &berthv1alpha1.Subscription{
		ObjectMeta: metav1.ObjectMeta{Name: shop},
		Spec: berthv1alpha1.SubscriptionSpec{
			SchedulingStrategy: berthv1alpha1.DividingStrategy,
			DividingScheduling: &berthv1alpha1.DividingScheduling{
				Type: berthv1alpha1.DynamicDividingType, Admission: berthv1alpha1.BundleAdmission,
			},
			Subscribers: []berthv1alpha1.Subscriber{{ClusterAffinity: metav1.LabelSelector{}}},
			Feeds: []berthv1alpha1.Feed{
				{APIVersion: "apps/v1", Kind: "Deployment", Name: shopWeb}, {APIVersion: "apps/v1", Kind: "StatefulSet", Name: shopDB},
			},
		},
	}
}

func shopWorkloads() (*appsv1.Deployment, *appsv1.StatefulSet) {
	web := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: shopWeb},
		Spec: appsv1.DeploymentSpec{
			Replicas: ptr.To[int32](shopWebReplicas), Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": shopWeb}},
			Template: shopTemplate(shopWeb, "500m"),
		},
	}
	db := &appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Name: shopDB},
		Spec: appsv1.StatefulSetSpec{
			Replicas: ptr.To[int32](shopDBSize), Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": shopDB}},
			Template: shopTemplate(shopDB, "1"),
		},
	}
	return web, db
}

func shopTemplate(app, cpu string) corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": app}},
		Spec: corev1.PodSpec{
			SchedulerName: schedulerName,
			Containers: []corev1.Container{{
				Name: "main", Image: "nginx:1",
				Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)}},
			}},
		},
	}
}
