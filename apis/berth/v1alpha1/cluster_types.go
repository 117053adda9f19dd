// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Cluster is a group of nodes of this Kubernetes cluster that lie in one place: a site, a region, a
// rack. A node belongs to at most one Cluster: one that names the node wins over one that selects
// it by labels, then the older Cluster wins, then the smaller name. The Cluster that loses says so
// in its condition Conflicted.
//
// +genclient
// +genclient:nonNamespaced
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster,shortName=bcl,categories=berth
// +kubebuilder:selectablefield:JSONPath=`.spec.region.region`
// +kubebuilder:selectablefield:JSONPath=`.spec.geoLocation.country`
// +kubebuilder:selectablefield:JSONPath=`.spec.operator.operator`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Nodes",type=integer,JSONPath=`.status.nodeCount`
// +kubebuilder:printcolumn:name="Ready-Nodes",type=integer,JSONPath=`.status.readyNodeCount`
// +kubebuilder:printcolumn:name="Unschedulable",type=boolean,JSONPath=`.spec.unschedulable`
// +kubebuilder:printcolumn:name="Online",type=string,JSONPath=`.status.conditions[?(@.type=="Online")].status`
// +kubebuilder:printcolumn:name="City",type=string,priority=1,JSONPath=`.spec.geoLocation.city`
// +kubebuilder:printcolumn:name="Home",type=string,priority=1,JSONPath=`.status.homeScheduler`
// +kubebuilder:printcolumn:name="Region",type=string,priority=1,JSONPath=`.spec.region.region`
// +kubebuilder:printcolumn:name="Conflicted",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Conflicted")].status`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="self.metadata.name.size() <= 63 && self.metadata.name.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",message="the name of a Cluster must be a DNS label: at most 63 lower case letters, digits and '-', starting and ending with a letter or digit"
type Cluster struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec says which nodes belong to the cluster and describes the place.
	// +optional
	Spec ClusterSpec `json:"spec,omitempty"`

	// status is what Berth observed. Only Berth's controllers write it.
	// +optional
	Status ClusterStatus `json:"status,omitempty"`
}

// ClusterList is a list of Clusters.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
// +kubebuilder:object:root=true
type ClusterList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// items are the clusters.
	Items []Cluster `json:"items"`
}

// ClusterSpec says which nodes belong to a Cluster and describes the place. Nodes are the union of
// nodes and matchLabels; with both empty the cluster has no node.
//
// +kubebuilder:validation:XValidation:rule="!has(self.drain) || !self.drain || has(self.unschedulable) && self.unschedulable",message="drain needs unschedulable: true",fieldPath=".drain",reason=FieldValueInvalid
type ClusterSpec struct {
	// nodes names nodes that belong to the cluster. Names of nodes that do not exist (yet) do no harm.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=5000
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=253
	Nodes []string `json:"nodes,omitempty"`

	// matchLabels selects the nodes that carry all of these labels. Empty selects no node.
	// +optional
	// +kubebuilder:validation:MaxProperties=16
	MatchLabels map[string]string `json:"matchLabels,omitempty"`

	// unschedulable keeps new pods away from the cluster, as it does on a Node: `berthctl cordon
	// cluster` sets it. What runs there stays, the shares of policies in it go to their other
	// clusters, Applications and Subscriptions choose others. Pods that tolerate the taint
	// node.kubernetes.io/unschedulable and that no policy places still come.
	// +optional
	Unschedulable bool `json:"unschedulable,omitempty"`

	// drain moves what policies, Applications and Subscriptions have placed in the cluster to other
	// clusters, in the usual rounds: `berthctl drain cluster` sets it, and evicts the pods that no
	// policy moves. It needs unschedulable.
	// +optional
	Drain bool `json:"drain,omitempty"`

	ClusterProfile `json:",inline"`

	// homeScheduler pins the cluster to the scheduler of this name. Empty lets Berth choose one.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	HomeScheduler string `json:"homeScheduler,omitempty"`

	// homeDispatcher is carried only: it is kept and given back to callers of the registration API,
	// and decides nothing.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	HomeDispatcher string `json:"homeDispatcher,omitempty"`

	// metrics are the metrics by which the cluster is ranked for applications, with their weights.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=50
	Metrics []MetricReference `json:"metrics,omitempty"`

	// customResources names the custom resources that the cluster offers, as "plural.group".
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=200
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=253
	// +kubebuilder:validation:items:XValidation:rule=`self.matches(r'^[a-z]([a-z0-9-]*[a-z0-9])?([.][a-z0-9]([a-z0-9-]*[a-z0-9])?)+$')`,message="must be a custom resource, plural.group, such as crontabs.stable.example.com"
	CustomResources []string `json:"customResources,omitempty"`

	// provision marks a cluster that does not exist yet and says on which clouds it may be made.
	// +optional
	Provision *ClusterProvision `json:"provision,omitempty"`
}

// MetricReference names a metric that describes a cluster.
type MetricReference struct {
	// name is the name of the metric.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// namespace is where the Metric lies. Empty means a GlobalMetric.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Namespace string `json:"namespace,omitempty"`

	// weight is the share of the metric in the score of the cluster, relative to the other metrics.
	// More than 0.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:ExclusiveMinimum=true
	// +kubebuilder:validation:Maximum=1000000
	Weight float64 `json:"weight"`
}

// ClusterProvision says where a cluster that does not exist yet may be made.
type ClusterProvision struct {
	// cloudNamespace is the namespace of the Clouds that can be chosen beside GlobalClouds. Empty
	// means GlobalClouds alone: a Cloud can be made by whoever may write in its namespace, and a
	// Cluster serves all namespaces.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9]*[a-z0-9])?)?$`
	CloudNamespace string `json:"cloudNamespace,omitempty"`

	// cloudLabels are label constraints that a cloud must meet, such as "location is DE".
	// +optional
	CloudLabels LabelConstraints `json:"cloudLabels,omitempty"`

	// cloudMetrics are metric constraints that a cloud must meet, such as "load < 5".
	// +optional
	CloudMetrics MetricConstraints `json:"cloudMetrics,omitempty"`
}

// HomeTransfer says where a cluster goes.
type HomeTransfer struct {
	// to is the scheduler that gets the cluster. Empty if none does, because the cluster is being
	// deleted for instance.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	To string `json:"to,omitempty"`
}

// ClusterPools is how much there is of a ClusterResource in the pools of a cluster.
type ClusterPools struct {
	// clusterResource is the name of the ClusterResource.
	ClusterResource string `json:"clusterResource"`

	// units is how many units, see spec.unit of the ClusterResource, the pools have together that
	// nodes of the cluster draw on; with mode AllOf it is what the smallest one has. What pods hold of
	// them does not count.
	Units int64 `json:"units"`
}

// ClusterStatus is what Berth observed of a Cluster.
type ClusterStatus struct {
	// observedGeneration is the generation of the spec that this status speaks of.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// containedNodes are the names of the nodes that belong to the cluster, sorted; at most the first
	// 5000.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=5000
	ContainedNodes []string `json:"containedNodes,omitempty"`

	// nodeCount is the number of nodes that belong to the cluster.
	// +optional
	NodeCount int32 `json:"nodeCount"`

	// readyNodeCount is the number of those nodes that are ready and not cordoned.
	// +optional
	ReadyNodeCount int32 `json:"readyNodeCount"`

	// allocatable is what the nodes of the cluster, ready or not, have for pods of each resource, at
	// most 32 of them. Policies weigh clusters by it, so it follows the nodes at most every ten
	// minutes, except for a cluster that is new or whose spec has changed.
	// +optional
	Allocatable corev1.ResourceList `json:"allocatable,omitempty"`

	// allocatableTime is when allocatable has changed.
	// +optional
	AllocatableTime *metav1.Time `json:"allocatableTime,omitempty"`

	// pools is how much there is of ClusterResources in the pools that nodes of the cluster draw on:
	// of at most 32 of them, the first by name. Policies weigh clusters by it, so it follows changes
	// at most every ten minutes, except for a cluster that is new, and where a ClusterResource comes.
	// Of those by which some policy does so it tells 0 where there is none.
	// +optional
	// +listType=map
	// +listMapKey=clusterResource
	// +kubebuilder:validation:MaxItems=32
	Pools []ClusterPools `json:"pools,omitempty"`

	// poolsTime is when pools has changed.
	// +optional
	PoolsTime *metav1.Time `json:"poolsTime,omitempty"`

	// room is what the nodes of the cluster that are not cordoned, ready or not, have beyond what pods
	// there request, without pods that a policy placed which weighs clusters by room: those can go to
	// another cluster. It is told only of resources by which some policy does so, at most 32 of them.
	// It changes when its two highest bits do, and at most every ten minutes, except for a cluster
	// that is new, and where a resource comes.
	// +optional
	Room corev1.ResourceList `json:"room,omitempty"`

	// roomTime is when room has changed.
	// +optional
	RoomTime *metav1.Time `json:"roomTime,omitempty"`

	// homeScheduler is the scheduler that the cluster is bound to. Empty as long as there is none.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	HomeScheduler string `json:"homeScheduler,omitempty"`

	// homeRevision is a number that grows with each change of homeScheduler and homeTransfer.
	// +optional
	HomeRevision int64 `json:"homeRevision,omitempty"`

	// homeTransfer is present while homeScheduler is asked to give the cluster up. It places no
	// further pods there, says so in its own status, and only then the cluster moves.
	// +optional
	HomeTransfer *HomeTransfer `json:"homeTransfer,omitempty"`

	// metrics are the last values of the metrics of the cluster.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=50
	Metrics []MetricSample `json:"metrics,omitempty"`

	// scheduledTo is the cloud that was chosen for a cluster that is to be made.
	// +optional
	ScheduledTo *CloudReference `json:"scheduledTo,omitempty"`

	// conditions: Ready reports whether at least one node can take pods, Online whether enough of them
	// can for applications to be sent there, MetricsAvailable whether all metrics could be read, Bound
	// whether the cluster is bound to a scheduler, CloudBound whether a cloud is chosen for a cluster
	// that is to be made, Conflicted whether another Cluster holds a node that this one claims.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}
