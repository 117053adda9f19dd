// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// FeedParser teaches Berth to read objects of one kind as feeds: where the number of replicas lies,
// and the template of the pods. It comes before what is built in. Of several FeedParsers for a kind
// the oldest counts, then the smaller name; the others say so in their condition Accepted.
//
// +genclient
// +genclient:nonNamespaced
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster,shortName=bfp,categories=berth
// +kubebuilder:printcolumn:name="Group",type=string,JSONPath=`.spec.group`
// +kubebuilder:printcolumn:name="Kind",type=string,JSONPath=`.spec.kind`
// +kubebuilder:printcolumn:name="Accepted",type=string,JSONPath=`.status.conditions[?(@.type=="Accepted")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Accepted")].reason`
// +kubebuilder:printcolumn:name="Conflicted",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Conflicted")].status`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type FeedParser struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is the rule.
	Spec FeedParserSpec `json:"spec"`

	// status tells whether the rule is used. Only Berth's controllers write it.
	// +optional
	Status FeedParserStatus `json:"status,omitempty"`
}

// FeedParserList is a list of FeedParsers.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
// +kubebuilder:object:root=true
type FeedParserList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// items are the parsers.
	Items []FeedParser `json:"items"`
}

// FeedParserSpec says how to read objects of one kind.
//
// +kubebuilder:validation:XValidation:rule="has(self.replicas) || has(self.podTemplate) || has(self.components)",message="at least one of replicas, podTemplate and components must be set"
// +kubebuilder:validation:XValidation:rule="!has(self.components) || (!has(self.replicas) && !has(self.podTemplate))",message="components do not go with replicas and podTemplate"
type FeedParserSpec struct {
	// group of the objects, empty for the core group. All versions of the group are read.
	// +optional
	// +kubebuilder:default=""
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9.]*[a-z0-9])?)?$`
	Group string `json:"group"`

	// kind of the objects, for instance "CloneSet".
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[A-Z][A-Za-z0-9]*$`
	Kind string `json:"kind"`

	// replicas says how many replicas an object wants. Objects of a kind that has no such number are
	// copied whole.
	// +optional
	Replicas *ReplicasRule `json:"replicas,omitempty"`

	// podTemplate says what a replica needs. Without it a replica needs nothing.
	// +optional
	PodTemplate *PodTemplateRule `json:"podTemplate,omitempty"`

	// components are the parts of objects that make pods from several templates. Such objects are
	// copied whole.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	Components []ComponentRule `json:"components,omitempty"`
}

// ComponentRule says how to read a part of an object, or all parts in a list of it. Pods belong to
// the part whose name they have in the first of these labels that they have: berth.dev/component,
// ray.io/group, training.kubeflow.org/replica-type, volcano.sh/task-spec, spark-role. A policy
// divides the pods of each part for itself.
type ComponentRule struct {
	// name of the part, for instance "worker".
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	Name string `json:"name"`

	// list says that the object has such parts in a list, each with a name of its own. The paths in
	// replicas and podTemplate then begin at an element of the list, which expressions know by the
	// name object.
	// +optional
	List *ComponentListRule `json:"list,omitempty"`

	// replicas says how many replicas the part wants; one if it is absent.
	// +optional
	Replicas *ReplicasRule `json:"replicas,omitempty"`

	// podTemplate says what a replica of the part needs. An object without this template does not have
	// the part.
	PodTemplate PodTemplateRule `json:"podTemplate"`
}

// ComponentListRule says where an object has a list of parts.
type ComponentListRule struct {
	// path is a JSON pointer to the list, such as /spec/workerGroupSpecs. An object without it has no
	// such parts.
	// +kubebuilder:validation:MaxLength=256
	// +kubebuilder:validation:Pattern=`^/`
	Path string `json:"path"`

	// name is a JSON pointer to the name of a part. It begins at the element of the list, such as
	// /groupName.
	// +kubebuilder:validation:MaxLength=256
	// +kubebuilder:validation:Pattern=`^/`
	Name string `json:"name"`
}

// ReplicasRule says where the number of replicas lies.
//
// +kubebuilder:validation:XValidation:rule="!has(self.default) || !has(self.expression)",message="a default does not go with an expression, which can have its own"
type ReplicasRule struct {
	// path is a JSON pointer to the field that holds the number, such as /spec/replicas.
	// +kubebuilder:validation:MaxLength=256
	// +kubebuilder:validation:Pattern=`^/`
	Path string `json:"path"`

	// default is the number for objects that leave the field out. Without it such objects are not
	// understood.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Default *int32 `json:"default,omitempty"`

	// expression is a CEL expression for the number, if it is not simply what stands at the path. It
	// knows the object by the name object. It may take a limited number of steps.
	// +optional
	// +kubebuilder:validation:MaxLength=4096
	Expression string `json:"expression,omitempty"`
}

// PodTemplateRule says where the pod template lies.
//
// +kubebuilder:validation:XValidation:rule="has(self.path) != has(self.expression)",message="must have either path or expression"
type PodTemplateRule struct {
	// path is a JSON pointer to a pod template: a map that has a pod's spec in its field spec.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	// +kubebuilder:validation:Pattern=`^/`
	Path string `json:"path,omitempty"`

	// expression is a CEL expression for a pod template. It knows the object by the name object.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=4096
	Expression string `json:"expression,omitempty"`
}

// FeedParserStatus tells whether a FeedParser is used.
type FeedParserStatus struct {
	// observedGeneration is the generation of the spec that this status speaks of.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// conditions: Accepted reports whether the rule is used, Conflicted whether another FeedParser
	// says something else of the same kind.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}
