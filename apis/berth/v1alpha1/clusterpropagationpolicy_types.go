// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ClusterPropagationPolicy is a PropagationPolicy for many namespaces. In each namespace that it
// selects it places what no PropagationPolicy of that namespace selects: those always win. Berth
// carries it out by a PropagationPolicy in each namespace, named cluster-NAME, which it keeps as it
// should be. Among several ClusterPropagationPolicies one that names a workload wins over one that
// selects it by labels, and that over one that names only the kind; then the smaller name wins.
//
// +genclient
// +genclient:nonNamespaced
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster,shortName=bcpp,categories=berth
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.ready`
// +kubebuilder:printcolumn:name="Accepted",type=string,JSONPath=`.status.conditions[?(@.type=="Accepted")].status`
// +kubebuilder:printcolumn:name="Placed",type=string,JSONPath=`.status.conditions[?(@.type=="Placed")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Placed")].reason`
// +kubebuilder:printcolumn:name="Namespaces",type=integer,JSONPath=`.status.namespaceCount`
// +kubebuilder:printcolumn:name="Workloads",type=integer,JSONPath=`.status.workloadCount`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="self.metadata.name.size() <= 240",message="the name must have at most 240 characters"
type ClusterPropagationPolicy struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec says which workloads of which namespaces are placed, and how.
	Spec ClusterPropagationPolicySpec `json:"spec"`

	// status is what Berth observed. Only Berth's controllers write it.
	// +optional
	Status ClusterPropagationPolicyStatus `json:"status,omitempty"`
}

// ClusterPropagationPolicyList is a list of ClusterPropagationPolicies.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
// +kubebuilder:object:root=true
type ClusterPropagationPolicyList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// items are the policies.
	Items []ClusterPropagationPolicy `json:"items"`
}

// ClusterPropagationPolicySpec says which workloads of which namespaces a policy places, and how.
type ClusterPropagationPolicySpec struct {
	// namespaceSelector selects namespaces by their labels: those that there are, and each that is
	// made or labelled later. Absent or empty selects all. In resourceSelectors a namespace limits a
	// selector to that one.
	// +optional
	NamespaceSelector *metav1.LabelSelector `json:"namespaceSelector,omitempty"`

	PropagationPolicySpec `json:",inline"`
}

// ClusterPropagationPolicyStatus is what Berth observed of a policy in its namespaces.
type ClusterPropagationPolicyStatus struct {
	// observedGeneration is the generation of the spec that this status speaks of.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// namespaceCount is the number of namespaces that the policy selects.
	// +optional
	NamespaceCount int32 `json:"namespaceCount"`

	// workloadCount is the number of workloads that the policy places in them.
	// +optional
	WorkloadCount int32 `json:"workloadCount"`

	// ready tells how many of the pods that these workloads want are ready, "3/5" for instance.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	Ready string `json:"ready,omitempty"`

	// conditions: Accepted reports whether the policy is carried out in all of its namespaces, Placed
	// whether the replicas run where it wants them. The messages name the namespaces where it is not
	// so; the PropagationPolicy there tells more.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}
