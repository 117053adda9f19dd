// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
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
// +kubebuilder:printcolumn:name="Score",type=string,JSONPath=`.status.shownScore`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.ready`
// +kubebuilder:printcolumn:name="Moving",type=string,JSONPath=`.status.conditions[?(@.type=="Moving")].reason`
// +kubebuilder:printcolumn:name="Since",type=date,JSONPath=`.status.conditions[?(@.type=="Moving")].lastTransitionTime`
// +kubebuilder:printcolumn:name="Scheduled",type=date,priority=1,JSONPath=`.status.scheduled`
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

	// metrics are the metrics that clusters are compared by for this Application, with their weights,
	// instead of those that the clusters list for everybody. A cluster has a value of a metric if it
	// lists the metric. Each can be listed once. Empty means the weights of the clusters.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=100
	Metrics []MetricReference `json:"metrics,omitempty"`

	// migration is StartFirst (the default): when another cluster is better, new pods must be
	// available there before the old ones go; StopFirst: the old pods have gone before new ones start,
	// for what must not run twice; or Never: it stays in the cluster that was chosen first.
	// +optional
	// +kubebuilder:default=StartFirst
	Migration MigrationMode `json:"migration,omitempty"`

	// move says how it moves to another cluster.
	// +optional
	Move *ApplicationMove `json:"move,omitempty"`

	// failover says when the cluster is left after it has gone offline, and when the Application may
	// return to it. Without it the cluster is left at the next review, and returned to as to any
	// other.
	// +optional
	Failover *Failover `json:"failover,omitempty"`

	// suspend leaves the Application as it is: no cluster is chosen and nothing moves, and a move
	// under way rests where it is. Objects stay. Default false.
	// +optional
	Suspend bool `json:"suspend,omitempty"`

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
// +kubebuilder:validation:Enum=StartFirst;StopFirst;Never
type MigrationMode string

const (
	// MigrationStartFirst starts new pods before the old ones go.
	MigrationStartFirst MigrationMode = "StartFirst"

	// MigrationStopFirst starts new pods when the old ones have gone.
	MigrationStopFirst MigrationMode = "StopFirst"

	// MigrationNever leaves an application where it is.
	MigrationNever MigrationMode = "Never"
)

// ApplicationMove says how an application moves to another cluster.
type ApplicationMove struct {
	// deadline is how long a move may take until all new pods are available, from 1s to 24h. After
	// that it is given up: the new pods go, and the cluster is left out for a time that doubles with
	// each failure. Default 10m.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:XValidation:rule="self.size() <= 16 && self.matches('^([0-9]+([.][0-9]+)?(ms|s|m|h))+$') && duration(self) >= duration('1s') && duration(self) <= duration('24h')",message="must be a duration from 1s to 24h such as 30s, 10m or 1h30m"
	Deadline *metav1.Duration `json:"deadline,omitempty"`

	// maxSurge is how many replicas of a workload there may be beyond those wanted, as a number or a
	// percentage of them, rounded up; at least 1. Below 100% the workload moves in steps. Default
	// 100%.
	// +optional
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:XValidation:rule="type(self) == string ? self.matches('^([1-9][0-9]?|100)%$') : self >= 1 && self <= 2147483647",message="must be a percentage from 1% to 100%, or a number of at least 1"
	MaxSurge *intstr.IntOrString `json:"maxSurge,omitempty"`

	// windows are when a move to a better cluster may begin. Empty means at any time. A cluster that
	// does not suit any more is left at any time.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=20
	Windows []MoveWindow `json:"windows,omitempty"`
}

// MoveWindow is a time that comes again and again.
type MoveWindow struct {
	// schedule is when the window opens, as a CronJob has it: minute, hour, day of the month, month
	// and day of the week, "0 2 * * 6" for instance.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	Schedule string `json:"schedule"`

	// timeZone is the name of the time zone of the schedule, "Europe/Berlin" for instance. Default
	// Etc/UTC.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	TimeZone string `json:"timeZone,omitempty"`

	// duration is how long the window stays open, from 1m to 168h.
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=16
	// +kubebuilder:validation:XValidation:rule="self.size() <= 16 && self.matches('^([0-9]+([.][0-9]+)?(ms|s|m|h))+$') && duration(self) >= duration('1m') && duration(self) <= duration('168h')",message="must be a duration from 1m to 168h such as 30m or 2h"
	Duration metav1.Duration `json:"duration"`
}

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
