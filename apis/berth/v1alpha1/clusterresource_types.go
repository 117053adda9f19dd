// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ClusterResource is something that pods use up and that belongs to no node: licences, the
// addresses of a network scope, the storage of a rack, bandwidth. A pod asks for it with the
// extended resource `cluster-resource.berth.dev/NAME` in the requests and limits of a container, or
// for the whole pod with the annotation `pod.alpha.kubernetes.io/cluster-resource-NAME`. It is
// placed only where a pool has enough left, and never are more units given out than are
// allocatable.
//
// +genclient
// +genclient:nonNamespaced
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster,shortName=bcr,categories=berth
// +kubebuilder:printcolumn:name="Pools",type=string,JSONPath=`.status.summary.pools`
// +kubebuilder:printcolumn:name="Capacity",type=string,priority=1,JSONPath=`.status.summary.capacity`
// +kubebuilder:printcolumn:name="Allocatable",type=string,JSONPath=`.status.summary.allocatable`
// +kubebuilder:printcolumn:name="Allocated",type=string,JSONPath=`.status.summary.allocated`
// +kubebuilder:printcolumn:name="Free",type=string,JSONPath=`.status.summary.free`
// +kubebuilder:printcolumn:name="Waiting",type=integer,JSONPath=`.status.waiting`
// +kubebuilder:printcolumn:name="Granted",type=string,priority=1,JSONPath=`.status.summary.granted`
// +kubebuilder:printcolumn:name="Overcommitted",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Overcommitted")].status`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="self.metadata.name.size() <= 46 && !self.metadata.name.contains('.')",message="the name must be a DNS label of at most 46 characters, because it becomes part of a resource name and of an annotation key"
type ClusterResource struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec says what there is. It may be left out: then another program reports status.capacity and
	// status.allocatable, as a kubelet does for a node.
	// +optional
	// +kubebuilder:default={}
	Spec ClusterResourceSpec `json:"spec,omitempty"`

	// status is what can be given out and what is.
	// +optional
	Status ClusterResourceStatus `json:"status,omitempty"`
}

// ClusterResourceList is a list of ClusterResources.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
// +kubebuilder:object:root=true
type ClusterResourceList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// items are the ClusterResources.
	Items []ClusterResource `json:"items"`
}

// ClusterResourceSpec says what there is of a ClusterResource.
type ClusterResourceSpec struct {
	// capacity lists the pools. Lowering one below what is in use evicts nobody; nothing more is given
	// out of it until enough has come back. Empty leaves status.capacity and status.allocatable to
	// another program.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=500
	Capacity []ClusterResourceQuantity `json:"capacity,omitempty"`

	// mode says which of several pools that select a node is charged: AnyOf (the default) charges one
	// of them, the most specific that has enough left, which is the one with the fewest nodes; AllOf
	// charges each of them, for limits within limits such as a rack's within a site's.
	// +optional
	// +kubebuilder:default=AnyOf
	Mode PoolMode `json:"mode,omitempty"`

	// unit is the smallest amount that is given out, 1 by default. Requests and pools are multiples of
	// it; what is finer is refused. A licence that can be halved has the unit 500m.
	// +optional
	// +kubebuilder:default="1"
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:Pattern=`^[0-9]{1,15}(\.[0-9]{1,9})?([mkMGTPE]|[KMGTPE]i)?$`
	// +kubebuilder:validation:MaxLength=16
	// +kubebuilder:validation:XValidation:rule="type(self) == int ? self > 0 : !self.matches('^[0.]+[^0-9.]*$')",message="unit must be greater than 0"
	Unit *resource.Quantity `json:"unit,omitempty"`
}

// PoolMode says which of several pools that select a node is charged.
//
// +kubebuilder:validation:Enum=AnyOf;AllOf
type PoolMode string

const (
	// AnyOf charges one pool, the most specific that has enough left.
	AnyOf PoolMode = "AnyOf"

	// AllOf charges every pool that selects the node.
	AllOf PoolMode = "AllOf"
)

// ClusterResourceQuantity is a pool: an amount that the pods on some nodes use up together.
type ClusterResourceQuantity struct {
	// name of the pool. It is noted on the pods that are charged to the pool, so a pool that is
	// renamed is another one.
	// +optional
	// +kubebuilder:default=default
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	Name string `json:"name"`

	// quantity is how much there is, for instance 50, 100Gi or 10G.
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:Pattern=`^[0-9]{1,15}(\.[0-9]{1,9})?([mkMGTPE]|[KMGTPE]i)?$`
	// +kubebuilder:validation:MaxLength=16
	// +kubebuilder:validation:XValidation:rule="type(self) == int ? self >= 0 : true",message="quantity must not be negative"
	Quantity resource.Quantity `json:"quantity"`

	// nodeSelector selects the nodes whose pods draw on this pool, by labels that they all must have.
	// Empty selects every node.
	// +optional
	// +kubebuilder:validation:MaxProperties=16
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`
}

// ClusterResourceStatus is what of a ClusterResource can be given out and what is.
type ClusterResourceStatus struct {
	// observedGeneration is the generation of the spec that the status belongs to.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// capacity is how much there is in each pool. It is written from spec.capacity, or by another
	// program if that is empty.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=500
	Capacity []ClusterResourceQuantity `json:"capacity,omitempty"`

	// allocatable is how much of it pods may use up together; what the scheduler goes by.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=500
	Allocatable []ClusterResourceQuantity `json:"allocatable,omitempty"`

	// allocated is what pods hold of each pool, those of pools that no longer exist included.
	// +optional
	// +listType=atomic
	Allocated []PoolAllocation `json:"allocated,omitempty"`

	// grants are what each of several Schedulers may have given out of each pool. Together they are
	// never more than is allocatable. Absent while there is one Scheduler, or none: it may give out
	// everything.
	// +optional
	// +listType=map
	// +listMapKey=scheduler
	// +listMapKey=pool
	// +kubebuilder:validation:MaxItems=5000
	Grants []PoolGrant `json:"grants,omitempty"`

	// grantsRevision grows with each change of grants.
	// +optional
	GrantsRevision int64 `json:"grantsRevision,omitempty"`

	// topNamespaces are the namespaces that hold most, at most ten of them.
	// +optional
	// +listType=atomic
	TopNamespaces []NamespaceAllocation `json:"topNamespaces,omitempty"`

	// waiting is the number of pods that ask for the resource and have no node yet.
	// +optional
	Waiting int32 `json:"waiting,omitempty"`

	// summary is the same in words, for tables.
	// +optional
	Summary ClusterResourceSummary `json:"summary,omitempty"`

	// conditions are Ready, Overcommitted and, while it is being deleted, InUse.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +patchMergeKey=type
	// +patchStrategy=merge
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// PoolAllocation is what pods hold of a pool.
type PoolAllocation struct {
	// name of the pool.
	Name string `json:"name"`

	// quantity is what pods hold.
	Quantity resource.Quantity `json:"quantity"`

	// free is what is left of allocatable; 0 if pods hold more than that.
	Free resource.Quantity `json:"free"`

	// holders is the number of pods that hold some of it.
	// +optional
	Holders int32 `json:"holders,omitempty"`
}

// PoolGrant is how much of a pool the pods that one of several Schedulers has placed may hold.
type PoolGrant struct {
	// scheduler is the name of the Scheduler.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Scheduler string `json:"scheduler"`

	// pool is the name of the pool.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Pool string `json:"pool"`

	// quantity is the grant. What the pods hold that the scheduler has placed counts.
	Quantity resource.Quantity `json:"quantity"`

	// shrinkTo is present while the scheduler is asked to give some of it back: it charges nothing
	// beyond that any more. The grant shrinks when the scheduler has acknowledged it, and never below
	// what its pods hold.
	// +optional
	ShrinkTo *resource.Quantity `json:"shrinkTo,omitempty"`

	// revision is the grantsRevision at which this grant changed last.
	Revision int64 `json:"revision"`
}

// NamespaceAllocation is what the pods of a namespace hold of all pools together.
type NamespaceAllocation struct {
	// namespace of the pods.
	Namespace string `json:"namespace"`

	// quantity is what they hold; with mode AllOf a unit counts once, whatever the number of pools
	// that are charged for it.
	Quantity resource.Quantity `json:"quantity"`

	// holders is the number of the pods.
	Holders int32 `json:"holders"`
}

// ClusterResourceSummary tells the amounts of all pools in one line each, such as "rack-a=40Gi
// rack-b=100Gi". Of a single pool it tells the amount alone, of more than four pools the first
// three and how many more there are.
type ClusterResourceSummary struct {
	// pools are the names of the pools.
	// +optional
	Pools string `json:"pools,omitempty"`

	// capacity of the pools.
	// +optional
	Capacity string `json:"capacity,omitempty"`

	// allocatable of the pools.
	// +optional
	Allocatable string `json:"allocatable,omitempty"`

	// allocated of the pools.
	// +optional
	Allocated string `json:"allocated,omitempty"`

	// free in the pools.
	// +optional
	Free string `json:"free,omitempty"`

	// granted to all Schedulers together; absent while one may give out everything.
	// +optional
	Granted string `json:"granted,omitempty"`
}
