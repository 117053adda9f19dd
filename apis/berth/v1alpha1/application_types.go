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
// +kubebuilder:printcolumn:name="Score",type=number,JSONPath=`.status.score`
// +kubebuilder:printcolumn:name="Scheduled",type=date,JSONPath=`.status.scheduled`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.ready`
// +kubebuilder:printcolumn:name="Moving",type=string,JSONPath=`.status.conditions[?(@.type=="Moving")].reason`
// +kubebuilder:printcolumn:name="Since",type=date,priority=1,JSONPath=`.status.conditions[?(@.type=="Moving")].lastTransitionTime`
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
	// lists the metric. Empty means the weights of the clusters.
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
	// schedule is when the window opens, as of a CronJob: minute, hour, day of the month, month, day
	// of the week, "0 2 * * 6" for instance.
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

	// move is the move that is under way.
	// +optional
	Move *ApplicationMoveStatus `json:"move,omitempty"`

	// leftOut are the clusters that moves to have failed, and until when they are not tried again.
	// +optional
	// +listType=map
	// +listMapKey=cluster
	// +kubebuilder:validation:MaxItems=20
	LeftOut []LeftOutCluster `json:"leftOut,omitempty"`

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
	// and their pods are ready, Moving whether a move is under way, with its step as the reason; when
	// it has ended the reason is how.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// MoveStep is how far a move has come.
//
// +kubebuilder:validation:Enum=Prepare;Start;Available;Shrink;Done
type MoveStep string

const (
	// MovePrepare means that room is promised, and the policies are made known.
	MovePrepare MoveStep = "Prepare"

	// MoveStart means that the new pods are being started.
	MoveStart MoveStep = "Start"

	// MoveAvailable means that the new pods run and are not all available yet.
	MoveAvailable MoveStep = "Available"

	// MoveShrink means that the old pods go.
	MoveShrink MoveStep = "Shrink"

	// MoveDone means that everything has moved.
	MoveDone MoveStep = "Done"
)

// ApplicationMoveStatus is a move that is under way.
type ApplicationMoveStatus struct {
	// from is the cluster that is left.
	// +kubebuilder:validation:MaxLength=63
	From string `json:"from"`

	// to is the cluster that it moves to.
	// +kubebuilder:validation:MaxLength=63
	To string `json:"to"`

	// step is how far the workload is that has come least far: Prepare, Start, Available, Shrink.
	Step MoveStep `json:"step"`

	// startTime is when the move began.
	StartTime metav1.Time `json:"startTime"`

	// deadline is when it is given up unless all new pods are available by then.
	Deadline metav1.Time `json:"deadline"`

	// message says what it waits for.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Message string `json:"message,omitempty"`

	// replicas are how many replicas the workloads are to have when they have moved whose manifests
	// leave that to others.
	// +optional
	// +listType=map
	// +listMapKey=policy
	// +kubebuilder:validation:MaxItems=100
	Replicas []MovedReplicas `json:"replicas,omitempty"`
}

// MovedReplicas is how many replicas a workload had when its move began.
type MovedReplicas struct {
	// policy is the PropagationPolicy of the workload.
	// +kubebuilder:validation:MaxLength=253
	Policy string `json:"policy"`

	// replicas is their number.
	Replicas int64 `json:"replicas"`
}

// LeftOutCluster is a cluster that a move has failed to reach.
type LeftOutCluster struct {
	// cluster is its name.
	// +kubebuilder:validation:MaxLength=63
	Cluster string `json:"cluster"`

	// until is when it may be chosen again.
	Until metav1.Time `json:"until"`

	// failures is how many moves there have failed one after the other.
	Failures int32 `json:"failures"`

	// message is why the last one failed.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Message string `json:"message,omitempty"`
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
