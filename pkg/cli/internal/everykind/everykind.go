// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package everykind reaches all objects of all of Berth's kinds, for commands that treat them
// alike.
package everykind

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	berthclient "berth.dev/berth/pkg/generated/clientset/versioned/typed/berth/v1alpha1"
)

// typed is the part of a typed client that is needed: T is the kind, L its list.
type typed[T any, L runtime.Object] interface {
	List(ctx context.Context, o metav1.ListOptions) (L, error)
	Delete(ctx context.Context, name string, o metav1.DeleteOptions) error
	Patch(ctx context.Context, name string, p types.PatchType, data []byte, o metav1.PatchOptions, sub ...string) (T, error)
}

// Access reaches the objects of one of Berth's kinds.
type Access struct {
	// Name is that of the kind, such as Cluster.
	Name string
	// Dependents says what becomes of objects that an object of the kind owns when Berth goes.
	Dependents metav1.DeletionPropagation
	// List reads the objects of all namespaces.
	List func(context.Context) (runtime.Object, error)
	// Remove deletes an object. The namespace is empty for kinds without one.
	Remove func(ctx context.Context, namespace, name string, o metav1.DeleteOptions) error
	// Patch sends a merge patch.
	Patch func(ctx context.Context, namespace, name string, data []byte) error
}

func kindOf[T any, L runtime.Object](name string, in func(namespace string) typed[T, L]) Access {
	return Access{
		Name: name, Dependents: metav1.DeletePropagationOrphan,
		List: func(ctx context.Context) (runtime.Object, error) {
			return in(metav1.NamespaceAll).List(ctx, metav1.ListOptions{})
		},
		Remove: func(ctx context.Context, namespace, name string, o metav1.DeleteOptions) error {
			return in(namespace).Delete(ctx, name, o)
		},
		Patch: func(ctx context.Context, namespace, name string, data []byte) error {
			_, err := in(namespace).Patch(ctx, name, types.MergePatchType, data, metav1.PatchOptions{})
			return err
		},
	}
}

// All lists Berth's kinds. What others are made of comes last.
func All(c berthclient.BerthV1alpha1Interface) []Access {
	schedulers := kindOf("Scheduler", func(string) typed[*berthv1alpha1.Scheduler, *berthv1alpha1.SchedulerList] { return c.Schedulers() })
	// The Deployment of a managed Scheduler is one of Berth's own programs.
	schedulers.Dependents = metav1.DeletePropagationBackground
	return []Access{
		kindOf("Application", func(n string) typed[*berthv1alpha1.Application, *berthv1alpha1.ApplicationList] {
			return c.Applications(n)
		}),
		kindOf("Subscription", func(n string) typed[*berthv1alpha1.Subscription, *berthv1alpha1.SubscriptionList] {
			return c.Subscriptions(n)
		}),
		kindOf("FeedInventory", func(n string) typed[*berthv1alpha1.FeedInventory, *berthv1alpha1.FeedInventoryList] {
			return c.FeedInventories(n)
		}),
		kindOf("ClusterPropagationPolicy",
			func(string) typed[*berthv1alpha1.ClusterPropagationPolicy, *berthv1alpha1.ClusterPropagationPolicyList] {
				return c.ClusterPropagationPolicies()
			}),
		kindOf("PropagationPolicy", func(n string) typed[*berthv1alpha1.PropagationPolicy, *berthv1alpha1.PropagationPolicyList] {
			return c.PropagationPolicies(n)
		}),
		kindOf("ClusterResource", func(string) typed[*berthv1alpha1.ClusterResource, *berthv1alpha1.ClusterResourceList] {
			return c.ClusterResources()
		}),
		kindOf("MagnumCluster", func(n string) typed[*berthv1alpha1.MagnumCluster, *berthv1alpha1.MagnumClusterList] {
			return c.MagnumClusters(n)
		}),
		kindOf("OpenStackProject", func(n string) typed[*berthv1alpha1.OpenStackProject, *berthv1alpha1.OpenStackProjectList] {
			return c.OpenStackProjects(n)
		}),
		kindOf("Cloud", func(n string) typed[*berthv1alpha1.Cloud, *berthv1alpha1.CloudList] { return c.Clouds(n) }),
		kindOf("GlobalCloud", func(string) typed[*berthv1alpha1.GlobalCloud, *berthv1alpha1.GlobalCloudList] {
			return c.GlobalClouds()
		}),
		kindOf("Cluster", func(string) typed[*berthv1alpha1.Cluster, *berthv1alpha1.ClusterList] { return c.Clusters() }),
		schedulers,
		kindOf("FeedParser", func(string) typed[*berthv1alpha1.FeedParser, *berthv1alpha1.FeedParserList] { return c.FeedParsers() }),
		kindOf("Metric", func(n string) typed[*berthv1alpha1.Metric, *berthv1alpha1.MetricList] { return c.Metrics(n) }),
		kindOf("GlobalMetric", func(string) typed[*berthv1alpha1.GlobalMetric, *berthv1alpha1.GlobalMetricList] {
			return c.GlobalMetrics()
		}),
		kindOf("MetricsProvider", func(n string) typed[*berthv1alpha1.MetricsProvider, *berthv1alpha1.MetricsProviderList] {
			return c.MetricsProviders(n)
		}),
		kindOf("GlobalMetricsProvider", func(string) typed[*berthv1alpha1.GlobalMetricsProvider, *berthv1alpha1.GlobalMetricsProviderList] {
			return c.GlobalMetricsProviders()
		}),
	}
}
