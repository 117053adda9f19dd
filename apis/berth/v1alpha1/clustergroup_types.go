// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ClusterGroup is a part of the clusters of a policy, which share what the group gets. A group gets
// a part of the replicas by its weight, or a number of them: replicas for all of its clusters
// together, or replicasPerCluster for each. Numbers are served first, in the order of the groups,
// and weights share what is left. Without any of the three the group has weight 1.
//
// +kubebuilder:validation:XValidation:rule="has(self.clusterSelector) != has(self.clusterNames)",message="give exactly one of clusterSelector and clusterNames"
// +kubebuilder:validation:XValidation:rule="!has(self.replicas) || !has(self.weight)",message="replicas must not be given together with weight: it is a number, not a share",fieldPath=".replicas",reason=FieldValueForbidden
// +kubebuilder:validation:XValidation:rule="!has(self.replicasPerCluster) || !has(self.weight)",message="replicasPerCluster must not be given together with weight: it is a number, not a share",fieldPath=".replicasPerCluster",reason=FieldValueForbidden
// +kubebuilder:validation:XValidation:rule="!has(self.replicasPerCluster) || !has(self.replicas)",message="replicasPerCluster must not be given together with replicas: one is a number for each cluster, the other for all of the group",fieldPath=".replicasPerCluster",reason=FieldValueForbidden
// +kubebuilder:validation:XValidation:rule="!has(self.replicasPerCluster) || !has(self.clusterWeights)",message="clusterWeights must not be given together with replicasPerCluster, which gives all clusters the same",fieldPath=".clusterWeights",reason=FieldValueForbidden
// +kubebuilder:validation:XValidation:rule="!has(self.maxClusters) || !has(self.spreadConstraints) || self.spreadConstraints.all(s, s.minGroups <= self.maxClusters)",message="minGroups must not be greater than maxClusters",fieldPath=".spreadConstraints",reason=FieldValueInvalid
type ClusterGroup struct {
	// name of the group, for messages and the status.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	Name string `json:"name"`

	// clusterSelector selects Clusters by their labels: those that there are, and each that is made or
	// labelled later. The fields of a Cluster count as labels, geoLocation.country for instance. An
	// empty selector selects all Clusters. A Cluster that is in several groups belongs to the first.
	// +optional
	ClusterSelector *metav1.LabelSelector `json:"clusterSelector,omitempty"`

	// clusterNames names the clusters of the group.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=1000
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=63
	// +kubebuilder:validation:items:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	ClusterNames []string `json:"clusterNames,omitempty"`

	// weight of the group as a whole, relative to the weights of the others; from 1 to 2147483647. It
	// does not grow with the number of clusters in the group. Default 1, unless replicas or
	// replicasPerCluster is given.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=2147483647
	Weight *int64 `json:"weight,omitempty"`

	// replicas is the number of replicas that all clusters of the group get together: no fewer, before
	// any weight counts, and no more.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Replicas *int32 `json:"replicas,omitempty"`

	// replicasPerCluster is the number of replicas that each cluster of the group gets: no fewer,
	// before any weight counts, and no more. Where a workload has too few replicas for all of them,
	// groups further up come first.
	// +optional
	// +kubebuilder:validation:Minimum=0
	ReplicasPerCluster *int32 `json:"replicasPerCluster,omitempty"`

	// clusterWeights says how the clusters of the group share what it gets. Default: alike. It must
	// not be given together with replicasPerCluster.
	// +optional
	ClusterWeights *ClusterWeights `json:"clusterWeights,omitempty"`

	// maxClusters is how many clusters of the group get replicas at most. Which ones does not depend
	// on when they came, and without several spread constraints one that comes or goes changes the
	// choice of one at most. Cordoned clusters are not chosen. Absent means all.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10000
	MaxClusters *int32 `json:"maxClusters,omitempty"`

	// spreadConstraints say over how many cities, provinces, countries, regions or values of a label
	// the replicas of the group are spread at least: the first replicas go to different ones, until
	// there are as many. Where the clusters of the group have fewer values, those are all.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=5
	SpreadConstraints []SpreadConstraint `json:"spreadConstraints,omitempty"`

	// tier says after whom the group is served: it gets only what the groups of lower tiers cannot
	// take. From 0, the default, to 100.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	Tier *int32 `json:"tier,omitempty"`

	// giveUpAfter is how long pods may find no node in a cluster of this group, or of a group of a
	// lower tier, before other clusters get their replicas: until there is more room, the cluster gets
	// no more than it runs and has room for. Groups of its own tier come first, then those of later
	// ones. The time does not begin while an autoscaler makes a node for the pods. From 1s to 24h.
	// Where neither a group nor one of a later tier has it, the pods wait.
	// +optional
	// +kubebuilder:validation:MaxLength=16
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:XValidation:rule="self.size() <= 16 && self.matches('^([0-9]+([.][0-9]+)?(ms|s|m|h))+$') && duration(self) >= duration('1s') && duration(self) <= duration('24h')",message="must be a duration from 1s to 24h such as 30s, 5m or 1h30m"
	GiveUpAfter *metav1.Duration `json:"giveUpAfter,omitempty"`
}

// ClusterWeights says how the clusters of a group share what the group gets.
//
// +kubebuilder:validation:XValidation:rule="has(self.labelKey) == (self.type == 'Label')",message="labelKey is required with type Label, and must not be given with any other",fieldPath=".labelKey",reason=FieldValueInvalid
// +kubebuilder:validation:XValidation:rule="self.type == 'Room' || has(self.resource) == (self.type == 'Allocatable')",message="resource is required with type Allocatable, and must not be given with any other but Room",fieldPath=".resource",reason=FieldValueInvalid
// +kubebuilder:validation:XValidation:rule="has(self.clusterResource) == (self.type == 'Pool')",message="clusterResource is required with type Pool, and must not be given with any other",fieldPath=".clusterResource",reason=FieldValueInvalid
type ClusterWeights struct {
	// type is Equal; Allocatable, for what the nodes of the cluster have of a resource, as
	// status.allocatable of the Cluster tells it; Room, for what others leave of that, as status.room
	// tells it; Pool, for what the pools of a ClusterResource have that nodes of the cluster draw on,
	// as status.pools tells it; or Label, for the number that a label of the Cluster has. Allocatable,
	// Room and Pool are rounded down to two significant bits, and change at most every ten minutes. Of
	// clusters where room or pools have not been counted yet the mean of the others is assumed. A
	// cluster without the resource, or with a label that is no number from 0 to 2147483647, gets
	// nothing, and the condition ClustersResolved tells it.
	Type ClusterWeightType `json:"type"`

	// resource is the name of the resource for the types Allocatable and Room, memory for instance.
	// Default for Room: cpu.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Resource string `json:"resource,omitempty"`

	// clusterResource is the name of the ClusterResource for the type Pool.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	ClusterResource string `json:"clusterResource,omitempty"`

	// labelKey is the key of the label for the type Label.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=317
	// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$`
	LabelKey string `json:"labelKey,omitempty"`
}

// ClusterWeightType says what gives the clusters of a group their weights.
//
// +kubebuilder:validation:Enum=Equal;Room;Allocatable;Label;Pool
type ClusterWeightType string

const (
	// WeighEqual lets clusters share alike.
	WeighEqual ClusterWeightType = "Equal"

	// WeighAllocatable weighs clusters by what their nodes have of a resource.
	WeighAllocatable ClusterWeightType = "Allocatable"

	// WeighRoom weighs clusters by what others leave of a resource.
	WeighRoom ClusterWeightType = "Room"

	// WeighLabel weighs clusters by the number in a label.
	WeighLabel ClusterWeightType = "Label"

	// WeighPool weighs clusters by what the pools of a ClusterResource have there.
	WeighPool ClusterWeightType = "Pool"
)

// SpreadConstraint says over how many places the replicas of a group are spread.
//
// +kubebuilder:validation:XValidation:rule="has(self.labelKey) == (self.field == 'Label')",message="labelKey is required with field Label, and must not be given with any other",fieldPath=".labelKey",reason=FieldValueInvalid
type SpreadConstraint struct {
	// field is what makes the difference: City, Province and Country of geoLocation, Region of region,
	// or Label. Clusters without it count in no group.
	Field SpreadField `json:"field"`

	// labelKey is the key of the label for the field Label.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=317
	// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$`
	LabelKey string `json:"labelKey,omitempty"`

	// minGroups is how many different values there are to be among the clusters with replicas.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	MinGroups int32 `json:"minGroups"`
}

// SpreadField is what makes two clusters different in a SpreadConstraint.
//
// +kubebuilder:validation:Enum=City;Province;Country;Region;Label
type SpreadField string

const (
	// SpreadByCity is geoLocation.city.
	SpreadByCity SpreadField = "City"

	// SpreadByProvince is geoLocation.province.
	SpreadByProvince SpreadField = "Province"

	// SpreadByCountry is geoLocation.country.
	SpreadByCountry SpreadField = "Country"

	// SpreadByRegion is region.region.
	SpreadByRegion SpreadField = "Region"

	// SpreadByLabel is a label of the Cluster.
	SpreadByLabel SpreadField = "Label"
)
