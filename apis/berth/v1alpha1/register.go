// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupName is the API group of every Berth kind.
const GroupName = "berth.dev"

var (
	// SchemeGroupVersion is the group and version of the kinds in this package.
	SchemeGroupVersion = schema.GroupVersion{Group: GroupName, Version: "v1alpha1"}

	// SchemeBuilder collects the functions that register this package's kinds.
	SchemeBuilder = runtime.NewSchemeBuilder(addKnownTypes)

	// AddToScheme registers this package's kinds with a scheme. It is safe to call it more than once
	// for one scheme.
	AddToScheme = SchemeBuilder.AddToScheme
)

// Resource qualifies a plural resource name with the Berth API group.
func Resource(resource string) schema.GroupResource {
	return SchemeGroupVersion.WithResource(resource).GroupResource()
}

func addKnownTypes(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(SchemeGroupVersion,
		&Cluster{}, &ClusterList{},
		&PropagationPolicy{}, &PropagationPolicyList{},
		&ClusterPropagationPolicy{}, &ClusterPropagationPolicyList{},
		&Application{}, &ApplicationList{},
		&GlobalMetric{}, &GlobalMetricList{},
		&GlobalMetricsProvider{}, &GlobalMetricsProviderList{},
		&Metric{}, &MetricList{},
		&MetricsProvider{}, &MetricsProviderList{},
		&Cloud{}, &CloudList{},
		&GlobalCloud{}, &GlobalCloudList{},
		&MagnumCluster{}, &MagnumClusterList{},
		&OpenStackProject{}, &OpenStackProjectList{},
		&ClusterResource{}, &ClusterResourceList{},
		&Subscription{}, &SubscriptionList{},
		&FeedInventory{}, &FeedInventoryList{},
		&FeedParser{}, &FeedParserList{},
		&Scheduler{}, &SchedulerList{},
	)
	metav1.AddToGroupVersion(scheme, SchemeGroupVersion)
	return nil
}
