// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Application is a set of Kubernetes objects that runs as a whole in the one Cluster that suits it
// best: online, meeting all constraints, and with the highest score of its metrics. It moves when
// another cluster is better by more than moving costs.
//
// +genclient
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,shortName=bapp,categories=berth
// +kubebuilder:printcolumn:name="Cluster",type=string,JSONPath=`.status.scheduledTo`
// +kubebuilder:printcolumn:name="Score",type=number,JSONPath=`.status.score`
// +kubebuilder:printcolumn:name="Scheduled",type=date,JSONPath=`.status.scheduled`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.ready`
// +kubebuilder:printcolumn:name="Reason",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Scheduled")].reason`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type Application struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec says what runs, and where it may.
	Spec ApplicationSpec `json:"spec"`

	// status is what Berth decided and observed. Only Berth's controllers write it.
	// +optional
	Status ApplicationStatus `json:"status,omitempty"`
}

// ApplicationList is a list of Applications.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
// +kubebuilder:object:root=true
type ApplicationList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// items are the applications.
	Items []Application `json:"items"`
}

// ApplicationSpec says what an application is, and where it may run.
type ApplicationSpec struct {
	// manifests are the objects, each with apiVersion, kind and metadata.name. They must be namespaced
	// and are made in the namespace of the Application.
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	Manifests []Manifest `json:"manifests"`

	// constraints are what the cluster must meet.
	// +optional
	Constraints ClusterConstraints `json:"constraints,omitempty"`

	// migration is StartFirst (the default): when another cluster is better, new pods must be ready
	// there before the old ones go; or Never: it stays in the cluster that was chosen first.
	// +optional
	// +kubebuilder:default=StartFirst
	Migration MigrationMode `json:"migration,omitempty"`

	// whenUnsatisfiable says what becomes of the Application while no cluster that meets the
	// constraints has room for all of its pods: DoNotSchedule (the default) lets it wait, and nothing
	// of it is made; ScheduleAnyway sends it to the best of these clusters, for sites that grow when
	// pods wait there.
	// +optional
	// +kubebuilder:default=DoNotSchedule
	WhenUnsatisfiable UnsatisfiableAction `json:"whenUnsatisfiable,omitempty"`

	// rescheduleAfter is how long a decision stands before it is reviewed, from 1s to 24h. A change of
	// the spec is decided at once. Default: that of the controller manager, 60s unless it was set
	// otherwise.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:XValidation:rule="self.size() <= 16 && self.matches('^([0-9]+([.][0-9]+)?(ms|s|m|h))+$') && duration(self) >= duration('1s') && duration(self) <= duration('24h')",message="must be a duration from 1s to 24h such as 30s, 5m or 1h30m"
	RescheduleAfter *metav1.Duration `json:"rescheduleAfter,omitempty"`

	// stickiness is what the cluster where the application runs gains in comparison with others.
	// +optional
	Stickiness *ApplicationStickiness `json:"stickiness,omitempty"`

	// serviceAccountName is the ServiceAccount of the namespace that the manifests are applied as,
	// with its rights alone. Berth must be allowed to impersonate it: see berthctl allow namespace.
	// Default: that of the controller manager, default unless it was set otherwise.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	ServiceAccountName string `json:"serviceAccountName,omitempty"`
}

// Manifest is any Kubernetes object.
type Manifest struct {
	// +kubebuilder:validation:EmbeddedResource
	// +kubebuilder:pruning:PreserveUnknownFields
	runtime.RawExtension `json:",inline"`
}

// MigrationMode reports whether and how an application moves.
//
// +kubebuilder:validation:Enum=StartFirst;Never
type MigrationMode string

const (
	// MigrationStartFirst starts new pods before the old ones go.
	MigrationStartFirst MigrationMode = "StartFirst"

	// MigrationNever leaves an application where it is.
	MigrationNever MigrationMode = "Never"
)

// ApplicationStickiness is one more metric in the score of a cluster. It has its value in the
// cluster where the application runs and 0 in all others, and stands for what moving costs.
type ApplicationStickiness struct {
	// value counts like the normalised value of a metric. Default: that of the controller manager, 1
	// unless it was set otherwise.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000000
	Value *float64 `json:"value,omitempty"`

	// weight counts like the weight of a metric. Default: that of the controller manager, 0.1 unless
	// it was set otherwise.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000000
	Weight *float64 `json:"weight,omitempty"`
}

// ApplicationStatus is what Berth decided about an application.
type ApplicationStatus struct {
	// observedGeneration is the generation of the spec that was decided about last.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// scheduledTo is the name of the chosen cluster.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	ScheduledTo string `json:"scheduledTo,omitempty"`

	// score is the score of that cluster when it was last compared with others.
	// +optional
	Score *float64 `json:"score,omitempty"`

	// scheduled is when scheduledTo last changed.
	// +optional
	Scheduled *metav1.Time `json:"scheduled,omitempty"`

	// kubeControllerTriggered is when scheduledTo last changed, or when a change of the spec was last
	// decided about, whichever is later.
	// +optional
	KubeControllerTriggered *metav1.Time `json:"kubeControllerTriggered,omitempty"`

	// ranking are the clusters as they were last compared, the best first; at most 20.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=20
	Ranking []RankedPlace `json:"ranking,omitempty"`

	// objects are what Berth made, or is about to make, for the Application. What is in this list and
	// no longer in the spec is deleted.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=200
	Objects []ApplicationObject `json:"objects,omitempty"`

	// ready tells how many of the pods that the objects want are ready, "3/5" for instance.
	// Of what has no number of replicas all pods there are count.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	Ready string `json:"ready,omitempty"`

	// conditions: Scheduled reports whether a cluster is chosen, Ready whether the objects are there
	// and their pods are ready.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// ApplicationObject names an object in the namespace of an Application.
type ApplicationObject struct {
	// apiVersion of the object.
	// +kubebuilder:validation:MaxLength=317
	APIVersion string `json:"apiVersion"`

	// kind of the object.
	// +kubebuilder:validation:MaxLength=63
	Kind string `json:"kind"`

	// name of the object.
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
}

// RankedPlace is what became of a cluster, cloud or project in a decision.
type RankedPlace struct {
	// name of the cluster, cloud or project.
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// eligible is true if it could be chosen.
	Eligible bool `json:"eligible"`

	// reasons are why it could not, or which of its metrics could not be read.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=100
	Reasons []string `json:"reasons,omitempty"`

	// score is what it was compared by, 0 if it could not be chosen.
	Score float64 `json:"score"`

	// parts are the terms of the score.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=101
	Parts []ScorePart `json:"parts,omitempty"`
}

// ScorePart is a term of a score: value times weight, in the weighted mean of all.
type ScorePart struct {
	// name of a metric, or "stickiness".
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// value is the normalised value.
	Value float64 `json:"value"`

	// weight is what it counts.
	Weight float64 `json:"weight"`
}
