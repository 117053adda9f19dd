// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Scheduler is one of several instances of berth-scheduler that share the Clusters. Each Cluster is
// bound to one of them, which alone places pods on its nodes. An instance that is started with
// --scheduler-name registers itself.
//
// +genclient
// +genclient:nonNamespaced
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster,shortName=bsched,categories=berth
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Weight",type=integer,JSONPath=`.spec.weight`
// +kubebuilder:printcolumn:name="Clusters",type=integer,JSONPath=`.status.clusterCount`
// +kubebuilder:printcolumn:name="Regions",type=string,JSONPath=`.status.columns.regions`
// +kubebuilder:printcolumn:name="CPU",type=integer,JSONPath=`.status.cpuCapacity.total`
// +kubebuilder:printcolumn:name="Cities",type=string,priority=1,JSONPath=`.status.columns.cities`
// +kubebuilder:printcolumn:name="Operators",type=string,priority=1,JSONPath=`.status.columns.operators`
// +kubebuilder:printcolumn:name="Flavors",type=string,priority=1,JSONPath=`.status.columns.flavors`
// +kubebuilder:printcolumn:name="Storage",type=string,priority=1,JSONPath=`.status.columns.storage`
// +kubebuilder:printcolumn:name="Min-Price",type=integer,priority=1,JSONPath=`.status.serverPrice.min`
// +kubebuilder:printcolumn:name="Max-Price",type=integer,priority=1,JSONPath=`.status.serverPrice.max`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="self.metadata.name.size() <= 40 && self.metadata.name.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",message="the name of a Scheduler must be a DNS label of at most 40 characters: lower case letters, digits and '-', starting and ending with a letter or digit"
type Scheduler struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec says how large a share of the clusters the scheduler takes.
	// +optional
	// +kubebuilder:default={}
	Spec SchedulerSpec `json:"spec,omitempty"`

	// status is what Berth observed. Only Berth writes it.
	// +optional
	Status SchedulerStatus `json:"status,omitempty"`
}

// SchedulerList is a list of Schedulers.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
// +kubebuilder:object:root=true
type SchedulerList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// items are the schedulers.
	Items []Scheduler `json:"items"`
}

// SchedulerSpec says how large a share of the clusters a scheduler takes, and who runs it.
type SchedulerSpec struct {
	// weight is the share of the clusters that the scheduler takes, relative to the weights of the
	// others.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	Weight int32 `json:"weight,omitempty"`

	// managed makes berth-controller-manager run the scheduler. Without it the scheduler has to be
	// started by somebody else.
	// +optional
	Managed *ManagedScheduler `json:"managed,omitempty"`

	// lease is what the running instance holds. Defaults to berth-scheduler-NAME in the namespace
	// berth-schedulers.
	// +optional
	Lease *LeaseReference `json:"lease,omitempty"`
}

// ManagedScheduler says how a scheduler is run. Image, arguments and everything else are those of
// the Deployment berth-scheduler.
type ManagedScheduler struct {
	// replicas is the number of processes, of which one works and the others are ready to take over.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=5
	Replicas int32 `json:"replicas,omitempty"`
}

// LeaseReference names a Lease.
type LeaseReference struct {
	// namespace of the Lease.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Namespace string `json:"namespace"`

	// name of the Lease.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
}

// SchedulerStatus is what Berth observed of a Scheduler.
type SchedulerStatus struct {
	// observedGeneration is the generation of the spec that the conditions speak of.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// clusterCount is the number of clusters that are bound to the scheduler.
	// +optional
	ClusterCount int32 `json:"clusterCount"`

	// clusters are the names of these clusters, sorted; at most the first 5000.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=5000
	Clusters []string `json:"clusters,omitempty"`

	ClusterUnion `json:",inline"`

	// commons is present while the scheduler looks after what belongs to no cluster: nodes outside all
	// clusters. One scheduler does.
	// +optional
	Commons *Commons `json:"commons,omitempty"`

	// drained lists the clusters that the scheduler is to give up and on which it places nothing any
	// more. The scheduler itself writes it; a cluster moves to another scheduler only after that.
	// +optional
	// +listType=map
	// +listMapKey=cluster
	// +kubebuilder:validation:MaxItems=5000
	Drained []Drained `json:"drained,omitempty"`

	// sharing is true while the scheduler places pods only on clusters that are bound to it. One that
	// knows of no other also uses those that are bound to nobody. The scheduler itself writes it, once
	// nothing that it has sent there can arrive any more; only then they are bound to others.
	// +optional
	Sharing bool `json:"sharing,omitempty"`

	// spending is present while the scheduler gives out of ClusterResources only what it was granted.
	// The scheduler itself writes it; nobody is granted anything while one that runs may still give
	// out everything.
	// +optional
	Spending *Spending `json:"spending,omitempty"`

	// conditions: Ready reports whether the lease of the scheduler is held by a running process.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// Commons is what belongs to no cluster.
type Commons struct {
	// revision is a number that grows with each change of who looks after the commons.
	Revision int64 `json:"revision"`

	// draining is true while the scheduler is to give the commons up.
	// +optional
	Draining bool `json:"draining,omitempty"`
}

// Drained says that a scheduler places nothing any more on a cluster that it is to give up.
type Drained struct {
	// cluster is the name of the cluster, "*" for the commons.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Cluster string `json:"cluster"`

	// revision is the homeRevision of the cluster, or the revision of the commons, that asked for it.
	Revision int64 `json:"revision"`
}

// ClusterUnion is what several clusters have together, as their administrators registered them.
type ClusterUnion struct {
	// geoLocations are the different places of the clusters; at most the first 1000.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=1000
	GeoLocations []GeoLocation `json:"geoLocations,omitempty"`

	// regions are the different regions and availability zones of the clusters; at most the first
	// 1000.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=1000
	Regions []Region `json:"regions,omitempty"`

	// operators are the different operators of the clusters; at most the first 1000.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=1000
	Operators []string `json:"operators,omitempty"`

	// flavors are the machine sizes that the clusters offer; at most the first 1000.
	// +optional
	// +listType=map
	// +listMapKey=flavorID
	// +kubebuilder:validation:MaxItems=1000
	Flavors []FlavorUnion `json:"flavors,omitempty"`

	// storage lists the kinds of storage that the clusters offer, in GiB; at most the first 1000.
	// +optional
	// +listType=map
	// +listMapKey=typeID
	// +kubebuilder:validation:MaxItems=1000
	Storage []StorageUnion `json:"storage,omitempty"`

	// eipCapacity is the number of elastic IP addresses.
	// +optional
	EIPCapacity CapacityUnion `json:"eipCapacity,omitempty"`

	// cpuCapacity is the number of CPU cores.
	// +optional
	CPUCapacity CapacityUnion `json:"cpuCapacity,omitempty"`

	// memCapacity is the memory, in GiB.
	// +optional
	MemCapacity CapacityUnion `json:"memCapacity,omitempty"`

	// serverPrice is the range of what a server costs. Absent if no cluster has a price.
	// +optional
	ServerPrice *PriceRange `json:"serverPrice,omitempty"`

	// columns are the lists above as text. A column of kubectl get shows a text, but only the first
	// element of a list.
	// +optional
	Columns UnionColumns `json:"columns,omitempty,omitzero"`
}

// UnionColumns are the lists of a ClusterUnion as text: the different values in order, with a comma
// between them. Each shows the first few, and how many more there are.
type UnionColumns struct {
	// regions of the clusters, without their availability zones.
	// +optional
	Regions string `json:"regions,omitempty"`

	// cities in which the clusters are.
	// +optional
	Cities string `json:"cities,omitempty"`

	// operators of the clusters.
	// +optional
	Operators string `json:"operators,omitempty"`

	// flavors that the clusters offer.
	// +optional
	Flavors string `json:"flavors,omitempty"`

	// storage lists the kinds of storage that the clusters offer.
	// +optional
	Storage string `json:"storage,omitempty"`
}

// CapacityUnion is a capacity of several clusters. A total beyond what the number can hold stays at
// the largest number.
type CapacityUnion struct {
	// total of all clusters.
	// +optional
	Total int64 `json:"total"`

	// max is that of the cluster which has most.
	// +optional
	Max int64 `json:"max"`
}

// FlavorUnion is a machine size in several clusters.
type FlavorUnion struct {
	// flavorID names the size.
	FlavorID string `json:"flavorID"`

	CapacityUnion `json:",inline"`
}

// StorageUnion is a kind of storage in several clusters.
type StorageUnion struct {
	// typeID names the kind.
	TypeID string `json:"typeID"`

	CapacityUnion `json:",inline"`
}

// PriceRange is the range of what a server costs.
type PriceRange struct {
	// min is the lowest price.
	Min int64 `json:"min"`

	// max is the highest price.
	Max int64 `json:"max"`
}
