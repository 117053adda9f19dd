// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// FeedInventory tells what each feed of a Subscription needs: how many replicas it wants, what one
// replica requires of a node, and where in the object the number of replicas is written. It has the
// name and the namespace of a Subscription that divides dynamically, belongs to it, and is written
// by a controller, Berth's own or another one.
//
// +genclient
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,shortName=bfi,categories=berth
// +kubebuilder:printcolumn:name="Feeds",type=integer,JSONPath=`.status.feedCount`
// +kubebuilder:printcolumn:name="Complete",type=string,JSONPath=`.status.conditions[?(@.type=="Complete")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Complete")].reason`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type FeedInventory struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec holds what the feeds need.
	Spec FeedInventorySpec `json:"spec"`

	// status tells how far the feeds could be understood.
	// +optional
	Status FeedInventoryStatus `json:"status,omitempty"`
}

// FeedInventoryList is a list of FeedInventories.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
// +kubebuilder:object:root=true
type FeedInventoryList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// items are the inventories.
	Items []FeedInventory `json:"items"`
}

// FeedInventorySpec holds what the feeds of a Subscription need.
type FeedInventorySpec struct {
	// feeds has one entry for each feed of the Subscription, in the same order, and for each object of
	// a Helm release that it names. A feed that could not be understood has an entry that says nothing
	// of it; status says why.
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=350
	Feeds []FeedOrder `json:"feeds"`
}

// FeedOrder tells what a feed needs.
//
// +kubebuilder:validation:XValidation:rule="!has(self.desiredReplicas) || (has(self.replicaJsonPath) && self.replicaJsonPath.startsWith('/'))",message="replicaJsonPath must be a path such as /spec/replicas where desiredReplicas is set"
type FeedOrder struct {
	Feed `json:",inline"`

	// desiredReplicas is the number of replicas that the feed wants, 0 included. Absent for objects
	// that are not divided but copied whole.
	// +optional
	// +kubebuilder:validation:Minimum=0
	DesiredReplicas *int32 `json:"desiredReplicas,omitempty"`

	// replicaRequirements is what one replica needs.
	// +optional
	ReplicaRequirements ReplicaRequirements `json:"replicaRequirements,omitzero"`

	// replicaJsonPath is where the number of replicas is written in the object: a JSON pointer such as
	// /spec/replicas.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	ReplicaJSONPath string `json:"replicaJsonPath,omitempty"`

	// components tells what the parts of an object need that makes pods from several templates. Such
	// an object is copied whole.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	Components []FeedComponent `json:"components,omitempty"`
}

// FeedComponent tells what a part of a feed needs.
//
// +kubebuilder:validation:XValidation:rule="!has(self.desiredReplicas) || (has(self.replicaJsonPath) && self.replicaJsonPath.startsWith('/'))",message="replicaJsonPath must be a path such as /spec/replicas where desiredReplicas is set"
type FeedComponent struct {
	// name of the part.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name"`

	// desiredReplicas is the number of replicas that the part wants.
	// +optional
	// +kubebuilder:validation:Minimum=0
	DesiredReplicas *int32 `json:"desiredReplicas,omitempty"`

	// replicaRequirements is what one replica of the part needs.
	// +optional
	ReplicaRequirements ReplicaRequirements `json:"replicaRequirements,omitzero"`

	// replicaJsonPath is where the number of replicas of the part is written in the object.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	ReplicaJSONPath string `json:"replicaJsonPath,omitempty"`
}

// FeedInventoryStatus tells how far the feeds could be understood.
type FeedInventoryStatus struct {
	// observedGeneration is the generation of the Subscription whose feeds this inventory lists.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// feedCount is the number of feeds.
	// +optional
	FeedCount int32 `json:"feedCount"`

	// feeds tells of each feed whether it could be understood, in the order of the spec.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=350
	Feeds []FeedStatus `json:"feeds,omitempty"`

	// conditions: Complete reports whether it is known of all feeds what they need.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// FeedStatus tells how a feed was understood.
type FeedStatus struct {
	Feed `json:",inline"`

	// parser is the name of the parser, or of the FeedParser, that read the feed; "unknown" if none
	// reads its kind, which is copied whole.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Parser string `json:"parser,omitempty"`

	// conditions: Parsed reports whether it is known what the feed needs.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}
