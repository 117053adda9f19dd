// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ApplicationStatus is what Berth decided about an application.
type ApplicationStatus struct {
	// observedGeneration is the generation of the spec that was looked at last.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// scheduledTo is the name of the chosen cluster.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	ScheduledTo string `json:"scheduledTo,omitempty"`

	// score is the score of that cluster when it was last compared with others.
	// +optional
	Score *float64 `json:"score,omitempty"`

	// shownScore is the score in four digits, as lists show it.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	ShownScore string `json:"shownScore,omitempty"`

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

	// replicasBefore are how many replicas the workloads had before a move that ended early, or before
	// a change of the cluster while none of their pods ran, until they have that many again. It counts
	// for workloads whose manifests leave that to others.
	// +optional
	// +listType=map
	// +listMapKey=policy
	// +kubebuilder:validation:MaxItems=100
	ReplicasBefore []MovedReplicas `json:"replicasBefore,omitempty"`

	// leftOut are the clusters that moves to have failed, and until when they are not tried again.
	// +optional
	// +listType=map
	// +listMapKey=cluster
	// +kubebuilder:validation:MaxItems=20
	LeftOut []LeftOutCluster `json:"leftOut,omitempty"`

	// failedOver are the clusters that were left because they were offline, until they have been
	// online for the returnAfter of the failover.
	// +optional
	// +listType=map
	// +listMapKey=cluster
	// +kubebuilder:validation:MaxItems=20
	FailedOver []FailedOverCluster `json:"failedOver,omitempty"`

	// ranking are the clusters as they were last compared, the best first; at most 20.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=20
	Ranking []RankedPlace `json:"ranking,omitempty"`

	// decisions are the last ten by which a cluster was chosen, the newest first.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=10
	Decisions []ApplicationDecision `json:"decisions,omitempty"`

	// objects are what Berth made, or is about to make, for the Application. What is in this list and
	// no longer in the spec is deleted.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=200
	Objects []ApplicationObject `json:"objects,omitempty"`

	// ready tells how many of the pods that the objects want are ready, "3/5" for instance. Pods
	// beyond those that an object wants, as there are during a move, do not count. Of what has no
	// number of replicas all pods there are count.
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

	// replicas are how many replicas the workloads are to have when they have moved. It counts for
	// workloads whose manifests leave that to others.
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

// DecisionReason is why a cluster was chosen.
//
// +kubebuilder:validation:Enum=FirstChoice;HigherScore;NotEligible;MoveGivenUp
type DecisionReason string

const (
	// DecisionFirstChoice means that no cluster was chosen before.
	DecisionFirstChoice DecisionReason = "FirstChoice"

	// DecisionHigherScore means that another cluster had the higher score.
	DecisionHigherScore DecisionReason = "HigherScore"

	// DecisionNotEligible means that the cluster of before did not suit any more.
	DecisionNotEligible DecisionReason = "NotEligible"

	// DecisionMoveGivenUp means that a move could not be finished.
	DecisionMoveGivenUp DecisionReason = "MoveGivenUp"
)

// ApplicationDecision is a choice of a cluster.
type ApplicationDecision struct {
	// time is when it was made.
	Time metav1.Time `json:"time"`

	// from is the cluster that was chosen before, empty for none.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	From string `json:"from,omitempty"`

	// to is the cluster that was chosen.
	// +kubebuilder:validation:MaxLength=63
	To string `json:"to"`

	// reason is why: FirstChoice, HigherScore, NotEligible or MoveGivenUp.
	Reason DecisionReason `json:"reason"`

	// score is what the cluster that was chosen was compared by.
	// +optional
	Score *float64 `json:"score,omitempty"`

	// fromScore is what the cluster of before was compared by. It is absent if it was not eligible.
	// +optional
	FromScore *float64 `json:"fromScore,omitempty"`

	// message says what the figures do not: why the cluster of before was not eligible, or why the
	// move was given up.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Message string `json:"message,omitempty"`
}

// FailedOverCluster is a cluster that was left because it was offline.
type FailedOverCluster struct {
	// cluster is its name.
	// +kubebuilder:validation:MaxLength=63
	Cluster string `json:"cluster"`

	// time is when it was left.
	Time metav1.Time `json:"time"`
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
