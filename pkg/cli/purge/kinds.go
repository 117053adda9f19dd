// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package purge

import (
	"context"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	api "berth.dev/berth/apis/berth/v1alpha1"
	berthclient "berth.dev/berth/pkg/generated/clientset/versioned/typed/berth/v1alpha1"
)

// typed is the part of a typed client that purging needs: T is the kind, L its list.
type typed[T any, L runtime.Object] interface {
	List(ctx context.Context, o metav1.ListOptions) (L, error)
	Delete(ctx context.Context, name string, o metav1.DeleteOptions) error
	Patch(ctx context.Context, name string, p types.PatchType, data []byte, o metav1.PatchOptions, sub ...string) (T, error)
}

// kind is a kind of Berth's.
type kind struct {
	name string
	// dependents says what becomes of objects that an object of the kind owns.
	dependents metav1.DeletionPropagation
	list       func(context.Context) (runtime.Object, error)
	remove     func(ctx context.Context, namespace, name string, o metav1.DeleteOptions) error
	patch      func(ctx context.Context, namespace, name string, data []byte) error
}

func kindOf[T any, L runtime.Object](name string, in func(namespace string) typed[T, L]) kind {
	return kind{
		name: name, dependents: metav1.DeletePropagationOrphan,
		list: func(ctx context.Context) (runtime.Object, error) {
			return in(metav1.NamespaceAll).List(ctx, metav1.ListOptions{})
		},
		remove: func(ctx context.Context, namespace, name string, o metav1.DeleteOptions) error {
			return in(namespace).Delete(ctx, name, o)
		},
		patch: func(ctx context.Context, namespace, name string, data []byte) error {
			_, err := in(namespace).Patch(ctx, name, types.MergePatchType, data, metav1.PatchOptions{})
			return err
		},
	}
}

// kindsOf lists Berth's kinds. What others are made of comes last.
func kindsOf(c berthclient.BerthV1alpha1Interface) []kind {
	schedulers := kindOf("Scheduler", func(string) typed[*api.Scheduler, *api.SchedulerList] { return c.Schedulers() })
	// The Deployment of a managed Scheduler is one of Berth's own programs.
	schedulers.dependents = metav1.DeletePropagationBackground
	return []kind{
		kindOf("Application", func(n string) typed[*api.Application, *api.ApplicationList] { return c.Applications(n) }),
		kindOf("Subscription", func(n string) typed[*api.Subscription, *api.SubscriptionList] { return c.Subscriptions(n) }),
		kindOf("FeedInventory", func(n string) typed[*api.FeedInventory, *api.FeedInventoryList] { return c.FeedInventories(n) }),
		kindOf("PropagationPolicy", func(n string) typed[*api.PropagationPolicy, *api.PropagationPolicyList] {
			return c.PropagationPolicies(n)
		}),
		kindOf("ClusterResource", func(string) typed[*api.ClusterResource, *api.ClusterResourceList] { return c.ClusterResources() }),
		kindOf("MagnumCluster", func(n string) typed[*api.MagnumCluster, *api.MagnumClusterList] { return c.MagnumClusters(n) }),
		kindOf("OpenStackProject", func(n string) typed[*api.OpenStackProject, *api.OpenStackProjectList] { return c.OpenStackProjects(n) }),
		kindOf("Cloud", func(n string) typed[*api.Cloud, *api.CloudList] { return c.Clouds(n) }),
		kindOf("GlobalCloud", func(string) typed[*api.GlobalCloud, *api.GlobalCloudList] { return c.GlobalClouds() }),
		kindOf("Cluster", func(string) typed[*api.Cluster, *api.ClusterList] { return c.Clusters() }),
		schedulers,
		kindOf("FeedParser", func(string) typed[*api.FeedParser, *api.FeedParserList] { return c.FeedParsers() }),
		kindOf("Metric", func(n string) typed[*api.Metric, *api.MetricList] { return c.Metrics(n) }),
		kindOf("GlobalMetric", func(string) typed[*api.GlobalMetric, *api.GlobalMetricList] { return c.GlobalMetrics() }),
		kindOf("MetricsProvider", func(n string) typed[*api.MetricsProvider, *api.MetricsProviderList] { return c.MetricsProviders(n) }),
		kindOf("GlobalMetricsProvider", func(string) typed[*api.GlobalMetricsProvider, *api.GlobalMetricsProviderList] {
			return c.GlobalMetricsProviders()
		}),
	}
}

// object is what purging has to know of an object of Berth's.
type object struct {
	kind            *kind
	namespace, name string
	// finalizers are all that it has; those of Berth begin with berth.dev/.
	finalizers []string
}

// objectsOf returns the objects of a list.
func objectsOf(k *kind, read runtime.Object) ([]object, error) {
	var found []object
	err := meta.EachListItem(read, func(item runtime.Object) error {
		m, err := meta.Accessor(item)
		if err != nil {
			return err
		}
		found = append(found, object{kind: k, namespace: m.GetNamespace(), name: m.GetName(), finalizers: m.GetFinalizers()})
		return nil
	})
	return found, err
}

// foreign returns the finalizers that are not Berth's, which stay.
func (o *object) foreign() []string {
	kept := []string{}
	for _, finalizer := range o.finalizers {
		if !strings.HasPrefix(finalizer, api.GroupName+"/") {
			kept = append(kept, finalizer)
		}
	}
	return kept
}

// String names the object.
func (o *object) String() string {
	if o.namespace == "" {
		return o.kind.name + " " + o.name
	}
	return o.kind.name + " " + o.namespace + "/" + o.name
}
