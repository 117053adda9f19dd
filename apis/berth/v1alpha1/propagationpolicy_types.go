// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// PropagationPolicy shares the replicas of workloads of its own namespace out over Clusters by
// weight. Pods that use `schedulerName: berth-scheduler` and belong to a selected workload are
// placed by it. Where several policies select a workload, one that names it wins over one that
// selects it by labels, and that over one that names only the kind; then the older policy wins,
// then the smaller name. The policy that loses says so in its condition Conflicted.
//
// +genclient
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,shortName=bpp,categories=berth
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.ready`
// +kubebuilder:printcolumn:name="Accepted",type=string,JSONPath=`.status.conditions[?(@.type=="Accepted")].status`
// +kubebuilder:printcolumn:name="Placed",type=string,JSONPath=`.status.conditions[?(@.type=="Placed")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Placed")].reason`
// +kubebuilder:printcolumn:name="Workloads",type=integer,JSONPath=`.status.workloadCount`
// +kubebuilder:printcolumn:name="Conflicted",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Conflicted")].status`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="self.metadata.name != 'none'",message="no policy can be called none, which as a request of a pod keeps every policy away"
type PropagationPolicy struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec says which workloads are placed, and how.
	Spec PropagationPolicySpec `json:"spec"`

	// status is what Berth observed. Only Berth's controllers write it.
	// +optional
	Status PropagationPolicyStatus `json:"status,omitempty"`
}

// PropagationPolicyList is a list of PropagationPolicies.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
// +kubebuilder:object:root=true
type PropagationPolicyList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// items are the policies.
	Items []PropagationPolicy `json:"items"`
}

// PropagationPolicySpec says which workloads a policy places, and how.
//
// +kubebuilder:validation:XValidation:rule="!has(self.scaling) || !has(self.scaling.mode) || self.scaling.mode != 'FollowClusters' || has(self.placement.clusterGroups) && self.placement.clusterGroups.exists(g, has(g.replicasPerCluster)) && self.placement.clusterGroups.all(g, has(g.replicas) || has(g.replicasPerCluster) || has(g.tier) && g.tier > 0)",message="mode FollowClusters needs clusterGroups with replicasPerCluster or replicas in each group of tier 0: weights do not say how many replicas there should be",fieldPath=".scaling.mode",reason=FieldValueInvalid
type PropagationPolicySpec struct {
	// resourceSelectors select the workloads. A workload that any of them selects is placed by this
	// policy.
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	ResourceSelectors []ResourceSelector `json:"resourceSelectors"`

	// placement says how the replicas are shared out.
	Placement Placement `json:"placement"`

	// rebalance says whether and how fast running pods are moved after a change of the policy or of
	// the clusters.
	// +optional
	// +kubebuilder:default={}
	Rebalance Rebalance `json:"rebalance,omitempty"`

	// failover lets the other clusters have the seats of a cluster that has gone offline, and says
	// when it gets them back. Absent means never: the seats of a cluster wait for it.
	// +optional
	Failover *Failover `json:"failover,omitempty"`

	// scaling says whether Berth sets the number of replicas of the workloads. Absent means no.
	// +optional
	Scaling *Scaling `json:"scaling,omitempty"`
}

// Scaling says who sets the number of replicas of the workloads of a policy.
type Scaling struct {
	// mode is None (the default): users or an autoscaler do, and the condition Placed tells where
	// clusters want another number than there is; or FollowClusters: Berth sets what the groups want
	// together, through the scale subresource, when clusters join or leave them. A cluster that is
	// offline or cordoned has not left. A workload that a HorizontalPodAutoscaler targets is left
	// alone; the condition Scaled tells it.
	// +optional
	// +kubebuilder:default=None
	Mode ScalingMode `json:"mode,omitempty"`
}

// ScalingMode says who sets the number of replicas of a workload.
//
// +kubebuilder:validation:Enum=None;FollowClusters
type ScalingMode string

const (
	// ScaleNone leaves the number of replicas to others.
	ScaleNone ScalingMode = "None"

	// ScaleFollowClusters sets as many replicas as the clusters want.
	ScaleFollowClusters ScalingMode = "FollowClusters"
)

// ResourceSelector selects workloads of the policy's namespace, or what controls them: the CronJob
// of Jobs for instance, or an object of which an operator made a Deployment.
type ResourceSelector struct {
	// apiVersion of the workload, for instance "apps/v1". Only the group counts: a Deployment is the
	// same in each version.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=316
	// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?v[0-9]+((alpha|beta)[0-9]+)?$`
	APIVersion string `json:"apiVersion"`

	// kind of the workload, for instance "Deployment". For pods without an owner it is "Pod".
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[A-Z][A-Za-z0-9]*$`
	Kind string `json:"kind"`

	// namespace may be left out or name the policy's own namespace. A selector with any other
	// namespace selects nothing and makes the condition Accepted false.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Namespace string `json:"namespace,omitempty"`

	// name of the workload. Empty selects by labelSelector, or all workloads of the kind if that is
	// absent too.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name,omitempty"`

	// labelSelector selects workloads by their labels. It is ignored if name is set.
	// +optional
	LabelSelector *metav1.LabelSelector `json:"labelSelector,omitempty"`
}

// Placement says how the replicas of a workload are shared out over clusters.
//
// +kubebuilder:validation:XValidation:rule="has(self.staticWeightList) || has(self.clusterGroups)",message="give staticWeightList or clusterGroups",fieldPath=".staticWeightList",reason=FieldValueRequired
// +kubebuilder:validation:XValidation:rule="!has(self.staticWeightList) || !has(self.clusterGroups)",message="clusterGroups must not be given together with staticWeightList",fieldPath=".clusterGroups",reason=FieldValueForbidden
type Placement struct {
	// staticWeightList gives weights to clusters. Replicas are shared out in proportion to the weights
	// by Webster's method (Sainte-Lague): with as many replicas as the sum of all weights, every
	// cluster gets exactly its weight. An entry may give a number of replicas instead; such numbers
	// are served first, and weights share what is left. A cluster may be listed once. Exactly one of
	// staticWeightList and clusterGroups is given.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=1000
	StaticWeightList []StaticClusterWeight `json:"staticWeightList,omitempty"`

	// clusterGroups gives weights or numbers of replicas to groups of clusters, which may be selected
	// by labels, so that clusters which are made later belong to them. The groups share the replicas
	// by Webster's method as the entries of staticWeightList do, and the clusters of a group share
	// what the group gets.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	ClusterGroups []ClusterGroup `json:"clusterGroups,omitempty"`

	// constraints are what a cluster must meet to take new pods of the policy. Running pods stay. A
	// cluster that does not meet them has no share, and the others have its replicas. Values of
	// metrics are another matter, because they come and go: a cluster keeps its share while a value is
	// against it, and pods wait for it, or go elsewhere after giveUpAfter of its group.
	// +optional
	Constraints *ClusterConstraints `json:"constraints,omitempty"`

	// whenUnsatisfiable says what becomes of a pod for which no cluster has a free place in its share:
	// DoNotSchedule (the default) lets it wait, ScheduleAnyway lets it go to any other node, with the
	// clusters furthest below their share first.
	// +optional
	// +kubebuilder:default=DoNotSchedule
	WhenUnsatisfiable UnsatisfiableAction `json:"whenUnsatisfiable,omitempty"`
}

// UnsatisfiableAction says what becomes of a pod for which no cluster of its policy has a free
// place.
//
// +kubebuilder:validation:Enum=DoNotSchedule;ScheduleAnyway
type UnsatisfiableAction string

const (
	// DoNotSchedule lets the pod wait.
	DoNotSchedule UnsatisfiableAction = "DoNotSchedule"

	// ScheduleAnyway lets the pod go to any node, preferring clusters that are below their share.
	ScheduleAnyway UnsatisfiableAction = "ScheduleAnyway"
)

// StaticClusterWeight gives one weight, and optionally bounds, or a number of replicas to each of
// the named clusters.
//
// +kubebuilder:validation:XValidation:rule="!has(self.min) || !has(self.max) || self.min <= self.max",message="min must not be greater than max"
// +kubebuilder:validation:XValidation:rule="has(self.weight) || has(self.replicas)",message="give weight or replicas",fieldPath=".weight",reason=FieldValueRequired
// +kubebuilder:validation:XValidation:rule="!has(self.replicas) || !has(self.weight)",message="replicas must not be given together with weight: it is a number, not a share",fieldPath=".replicas",reason=FieldValueForbidden
// +kubebuilder:validation:XValidation:rule="!has(self.replicas) || !has(self.min) && !has(self.max)",message="replicas must not be given together with min or max: it is short for both",fieldPath=".replicas",reason=FieldValueForbidden
type StaticClusterWeight struct {
	// clusterNames names the clusters. Each of them gets the weight, or the replicas; they are not
	// divided among them.
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=1000
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=63
	// +kubebuilder:validation:items:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	ClusterNames []string `json:"clusterNames"`

	// weight of each named cluster, relative to the others; from 1 to 2147483647. It is required
	// unless replicas is given.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=2147483647
	Weight int64 `json:"weight,omitempty"`

	// replicas is the number of replicas that each named cluster gets: no fewer, before any weight or
	// min counts, and no more. If a workload has too few replicas for all such numbers, those of
	// entries further up come first. It takes the place of weight, min and max.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Replicas *int32 `json:"replicas,omitempty"`

	// min is the number of replicas that each named cluster gets before weights count. Default 0.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Min *int32 `json:"min,omitempty"`

	// max is the number of replicas that each named cluster gets at most; what exceeds it goes to the
	// other clusters. Absent means no limit.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Max *int32 `json:"max,omitempty"`
}

// Rebalance says whether and how fast running pods are moved to where the policy wants them.
type Rebalance struct {
	// mode is Evict (the default): misplaced pods are evicted through the eviction API, which respects
	// PodDisruptionBudgets, so that their replacements start in the right place; or Never: running
	// pods stay where they are and only new pods follow the policy.
	// +optional
	// +kubebuilder:default=Evict
	Mode RebalanceMode `json:"mode,omitempty"`

	// maxUnavailable is how many replicas of a workload may be missing at once because pods are moved,
	// as a number or as a percentage of the replicas, rounded down but at least 1. Default 25%.
	// +optional
	// +kubebuilder:default="25%"
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:XValidation:rule="type(self) == int ? self >= 1 && self <= 100000 : self.matches('^([1-9][0-9]?|100)%$')",message="must be a number from 1 to 100000 or a percentage from 1% to 100%"
	MaxUnavailable *intstr.IntOrString `json:"maxUnavailable,omitempty"`

	// cooldown is the least time between two rounds of evictions of a workload. At most 24h. Default
	// 10s.
	// +optional
	// +kubebuilder:default="10s"
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:XValidation:rule="self.size() <= 16 && self.matches('^([0-9]+([.][0-9]+)?(ms|s|m|h))+$') && duration(self) <= duration('24h')",message="must be a duration from 0s to 24h such as 30s, 5m or 1h30m"
	Cooldown *metav1.Duration `json:"cooldown,omitempty"`

	// minPodAge protects young pods: a pod is moved only when it has been running for this long. At
	// most 24h. Default 30s.
	// +optional
	// +kubebuilder:default="30s"
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:XValidation:rule="self.size() <= 16 && self.matches('^([0-9]+([.][0-9]+)?(ms|s|m|h))+$') && duration(self) <= duration('24h')",message="must be a duration from 0s to 24h such as 30s, 5m or 1h30m"
	MinPodAge *metav1.Duration `json:"minPodAge,omitempty"`
}

// RebalanceMode says whether misplaced pods are moved.
//
// +kubebuilder:validation:Enum=Evict;Never
type RebalanceMode string

const (
	// RebalanceEvict moves misplaced pods through the eviction API.
	RebalanceEvict RebalanceMode = "Evict"

	// RebalanceNever leaves running pods where they are.
	RebalanceNever RebalanceMode = "Never"
)
