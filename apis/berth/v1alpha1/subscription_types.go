// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Subscription says which objects of its namespace, its feeds, run in which Clusters, and how their
// replicas are divided. It has the shape of Clusternet's Subscription.
//
// +genclient
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,shortName=bsub,categories=berth
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.ready`
// +kubebuilder:printcolumn:name="Strategy",type=string,JSONPath=`.spec.schedulingStrategy`
// +kubebuilder:printcolumn:name="Type",type=string,JSONPath=`.spec.dividingScheduling.type`
// +kubebuilder:printcolumn:name="Parsed",type=string,JSONPath=`.status.conditions[?(@.type=="Parsed")].status`
// +kubebuilder:printcolumn:name="Scheduled",type=string,JSONPath=`.status.conditions[?(@.type=="Scheduled")].status`
// +kubebuilder:printcolumn:name="Available",type=string,JSONPath=`.status.conditions[?(@.type=="Available")].status`
// +kubebuilder:printcolumn:name="Clusters",type=string,priority=1,JSONPath=`.status.bindingClusters`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type Subscription struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec says what runs where.
	Spec SubscriptionSpec `json:"spec"`

	// status is what Berth observed. Only Berth's controllers write it.
	// +optional
	Status SubscriptionStatus `json:"status,omitempty"`
}

// SubscriptionList is a list of Subscriptions.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
// +kubebuilder:object:root=true
type SubscriptionList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// items are the subscriptions.
	Items []Subscription `json:"items"`
}

// SubscriptionSpec says what runs where.
//
// +kubebuilder:validation:XValidation:rule="self.schedulingStrategy != 'Dividing' || (has(self.dividingScheduling) && has(self.dividingScheduling.type))",message="schedulingStrategy Dividing needs dividingScheduling.type: Static or Dynamic"
// +kubebuilder:validation:XValidation:rule="self.schedulingStrategy != 'DynamicDividing' || !has(self.dividingScheduling) || !has(self.dividingScheduling.type) || self.dividingScheduling.type == 'Dynamic'",message="schedulingStrategy DynamicDividing does not go with dividingScheduling.type Static"
// +kubebuilder:validation:XValidation:rule="self.schedulingStrategy != 'Dividing' || !has(self.dividingScheduling) || !has(self.dividingScheduling.type) || self.dividingScheduling.type != 'Static' || self.subscribers.exists(s, s.weight > 0)",message="dividingScheduling.type Static needs a subscriber with a weight above 0"
// +kubebuilder:validation:XValidation:rule="!has(self.schedulingBySubGroup) || !self.schedulingBySubGroup || self.subscribers.all(s, has(s.subGroupStrategy))",message="schedulingBySubGroup needs subGroupStrategy in every subscriber"
type SubscriptionSpec struct {
	// schedulingStrategy says how feeds are spread over the clusters: Replication (the default) runs a
	// full copy in each, Dividing divides the replicas as dividingScheduling says. DynamicDividing is
	// short for Dividing with dividingScheduling.type Dynamic.
	// +optional
	// +kubebuilder:default=Replication
	SchedulingStrategy SchedulingStrategy `json:"schedulingStrategy,omitempty"`

	// dividingScheduling says how replicas are divided. It does not matter to Replication.
	// +optional
	DividingScheduling *DividingScheduling `json:"dividingScheduling,omitempty"`

	// priority orders subscriptions that wait for room: larger ones come first. Default 0.
	// +optional
	Priority *int32 `json:"priority,omitempty"`

	// schedulingBySubGroup limits the feeds to some Clusters of each subscriber, as many as its
	// subGroupStrategy says: the Clusters that a subscriber selects are a group, a region for
	// instance. Default false: all selected Clusters take feeds.
	// +optional
	SchedulingBySubGroup *bool `json:"schedulingBySubGroup,omitempty"`

	// subscribers select the clusters that may take the feeds.
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	Subscribers []Subscriber `json:"subscribers"`

	// feeds are the objects that run in the clusters. Each may be listed once. Besides objects, feeds
	// can name Helm releases.
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	// +kubebuilder:validation:XValidation:rule="self.all(f, !has(f.name) || !has(f.kind) || !has(f.apiVersion) || self.exists_one(g, has(g.name) && g.name == f.name && has(g.kind) && g.kind == f.kind && has(g.apiVersion) && g.apiVersion == f.apiVersion && g.__namespace__ == f.__namespace__))",reason=FieldValueDuplicate,message="each feed may be listed once"
	// +kubebuilder:validation:XValidation:rule="self.all(f, !has(f.helmRelease) || !has(f.apiVersion) && !has(f.kind) && !has(f.name))",message="helmRelease stands for objects: it does not go with apiVersion, kind and name"
	Feeds []Feed `json:"feeds"`

	// failover says when a Cluster that has gone offline loses its shares to the others, or to another
	// one of its subgroup, and when it comes into question again. Absent means that shares by weight
	// wait for it, and that others go elsewhere as soon as their pods are gone. Replication without
	// subgroups has copies in all Clusters anyway: only what runs in one of them, because it is not
	// copied, moves to another.
	// +optional
	Failover *Failover `json:"failover,omitempty"`

	// serviceAccountName is the ServiceAccount of the namespace that copies are written as, with its
	// rights alone. Berth must be allowed to impersonate it: see berthctl allow namespace. Default:
	// that of the controller manager, default unless it was set otherwise.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	ServiceAccountName string `json:"serviceAccountName,omitempty"`
}

// SchedulingStrategy says how feeds are spread over clusters.
//
// +kubebuilder:validation:Enum=Replication;Dividing;DynamicDividing
type SchedulingStrategy string

const (
	// ReplicationStrategy runs a full copy in each cluster.
	ReplicationStrategy SchedulingStrategy = "Replication"

	// DividingStrategy divides the replicas.
	DividingStrategy SchedulingStrategy = "Dividing"

	// DynamicDividingStrategy is DividingStrategy with DynamicDividingType.
	DynamicDividingStrategy SchedulingStrategy = "DynamicDividing"
)

// DividingScheduling says how replicas are divided.
//
// +kubebuilder:validation:XValidation:rule="!has(self.dynamicDividing) || !has(self.type) || self.type == 'Dynamic'",message="dynamicDividing goes with type Dynamic only"
type DividingScheduling struct {
	// type is Static: by the weights of the subscribers; or Dynamic: as dynamicDividing says.
	// +optional
	Type DividingType `json:"type,omitempty"`

	// dynamicDividing says how replicas are divided by free capacity. Absent means Spread.
	// +optional
	DynamicDividing *DynamicDividing `json:"dynamicDividing,omitempty"`

	// admission is Feed (the default): the pods of a feed start as soon as the feed is divided; or
	// Bundle: no pod of any feed starts before all replicas of all feeds fit at once. Bundles are
	// admitted one by one: larger priorities first, then the older ones. What is promised is that
	// everything fitted when the bundle was admitted.
	// +optional
	// +kubebuilder:default=Feed
	Admission AdmissionMode `json:"admission,omitempty"`
}

// AdmissionMode says when the pods of feeds may start.
//
// +kubebuilder:validation:Enum=Feed;Bundle
type AdmissionMode string

const (
	// FeedAdmission lets the pods of a feed start once the feed is divided.
	FeedAdmission AdmissionMode = "Feed"

	// BundleAdmission lets no pod start before all feeds fit at once.
	BundleAdmission AdmissionMode = "Bundle"
)

// DividingType says by what replicas are divided.
//
// +kubebuilder:validation:Enum=Static;Dynamic
type DividingType string

const (
	// StaticDividingType divides by weight.
	StaticDividingType DividingType = "Static"

	// DynamicDividingType divides by free capacity.
	DynamicDividingType DividingType = "Dynamic"
)

// DynamicDividing says how replicas are divided by free capacity.
//
// +kubebuilder:validation:XValidation:rule="!has(self.minClusters) || !has(self.maxClusters) || self.minClusters <= self.maxClusters",message="minClusters must not be greater than maxClusters"
type DynamicDividing struct {
	// strategy is Spread (the default): replicas in proportion to the room that clusters have; or
	// Binpack: replicas in as few clusters as possible.
	// +optional
	// +kubebuilder:default=Spread
	Strategy DynamicStrategy `json:"strategy,omitempty"`

	// minClusters is the number of clusters that get at least one replica of a feed, as far as there
	// are as many replicas, and clusters with room. Default 0.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000
	MinClusters *int32 `json:"minClusters,omitempty"`

	// maxClusters is the number of clusters that hold replicas of a feed at most. Absent means any
	// number.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	MaxClusters *int32 `json:"maxClusters,omitempty"`

	// giveUpAfter is how long pods of a feed may find no node in a cluster before its other replicas
	// go elsewhere: until there is more room, or for a time that begins with giveUpAfter and doubles,
	// up to 10 minutes, the cluster gets no more than it runs. The time does not begin while an
	// autoscaler makes a node for the pods. From 1s to 24h. Default 30s.
	// +optional
	// +kubebuilder:default="30s"
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:XValidation:rule="self.size() <= 16 && self.matches('^([0-9]+([.][0-9]+)?(ms|s|m|h))+$') && duration(self) >= duration('1s') && duration(self) <= duration('24h')",message="must be a duration from 1s to 24h such as 30s, 5m or 1h30m"
	GiveUpAfter *metav1.Duration `json:"giveUpAfter,omitempty"`

	// preferredClusters prefer clusters by their labels, and by the parts of their specs that
	// clusterAffinity knows. The weights, 1 to 100, of all terms that
	// match a cluster add up. Clusters with the largest sum take as many replicas as they can; what is
	// left goes to the next ones.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:XValidation:rule="self.all(t, t.weight >= 1 && t.weight <= 100)",message="the weight of a preferred cluster must be from 1 to 100"
	PreferredClusters []corev1.PreferredSchedulingTerm `json:"preferredClusters,omitempty"`
}

// DynamicStrategy says how free capacity is used.
//
// +kubebuilder:validation:Enum=Spread;Binpack
type DynamicStrategy string

const (
	// SpreadStrategy divides in proportion to free capacity.
	SpreadStrategy DynamicStrategy = "Spread"

	// BinpackStrategy uses as few clusters as possible.
	BinpackStrategy DynamicStrategy = "Binpack"
)

// Subscriber selects clusters and gives each of them a weight.
type Subscriber struct {
	// clusterAffinity selects Clusters by their labels; {} selects all. Parts of the spec of a Cluster
	// are selected like labels: geoLocation.city, geoLocation.province, geoLocation.area,
	// geoLocation.country, region.region, region.availabilityZone and operator.operator.
	ClusterAffinity metav1.LabelSelector `json:"clusterAffinity"`

	// weight of each selected cluster, relative to the others, from 0 to 10000000. The weights of all
	// subscribers that select a cluster add up. A cluster of weight 0 gets no replicas by Static; the
	// other strategies ignore weights. Default 0.
	// +optional
	// +kubebuilder:default=0
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=10000000
	Weight int32 `json:"weight"`

	// subGroupStrategy says how many of the selected clusters take feeds. It counts only with
	// schedulingBySubGroup.
	// +optional
	SubGroupStrategy *SubGroupStrategy `json:"subGroupStrategy,omitempty"`
}

// SubGroupStrategy says how many clusters of a subscriber take feeds.
type SubGroupStrategy struct {
	// minClusters is how many of the selected clusters take feeds: exactly so many, or all if there
	// are fewer. Clusters that take pods come first, then those that hold replicas, then preferred
	// ones, then those with most room. A cluster that several subscribers select counts for each of
	// them. 0, the default, stands for all.
	// +optional
	// +kubebuilder:default=0
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000
	MinClusters int32 `json:"minClusters,omitempty"`
}

// Feed names an object, or a Helm release: all objects of the namespace that it has.
//
// +kubebuilder:validation:XValidation:rule="has(self.apiVersion) || has(self.helmRelease)",fieldPath=".apiVersion",reason=FieldValueRequired,message="a feed has apiVersion, kind and name, or helmRelease"
// +kubebuilder:validation:XValidation:rule="has(self.kind) || has(self.helmRelease)",fieldPath=".kind",reason=FieldValueRequired,message="a feed has apiVersion, kind and name, or helmRelease"
// +kubebuilder:validation:XValidation:rule="has(self.name) || has(self.helmRelease)",fieldPath=".name",reason=FieldValueRequired,message="a feed has apiVersion, kind and name, or helmRelease"
type Feed struct {
	// apiVersion of the object, for instance "apps/v1".
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=316
	// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?v[0-9]+((alpha|beta)[0-9]+)?$`
	APIVersion string `json:"apiVersion,omitempty"`

	// kind of the object, for instance "Deployment".
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[A-Z][A-Za-z0-9]*$`
	Kind string `json:"kind,omitempty"`

	// namespace may be left out or name the namespace of the Subscription. Objects of another
	// namespace are not read.
	// +optional
	// +kubebuilder:default=""
	// +kubebuilder:validation:MaxLength=63
	Namespace string `json:"namespace,omitempty"`

	// name of the object.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name,omitempty"`

	// helmRelease names a release of Helm in the namespace of the Subscription, in place of an object.
	// It stands for all objects of the namespace that Helm installed with the release and that run, or
	// serve what runs: workloads of Kubernetes, kinds that have a FeedParser, ConfigMaps and Services.
	// They are followed as the release changes; status.feeds lists them. Helm marks them with the
	// label app.kubernetes.io/managed-by and the annotations meta.helm.sh/release-name and
	// meta.helm.sh/release-namespace. In a status it says which release an object is part of.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=53
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	HelmRelease string `json:"helmRelease,omitempty"`
}

// Describe names the object or the release, for messages.
func (f *Feed) Describe() string {
	if f.Kind == "" {
		return "Helm release " + f.HelmRelease
	}
	return f.Kind + " " + f.Name
}

// MaxFeeds is how many objects the feeds of a Subscription can be, those of Helm releases included.
const MaxFeeds = 250
