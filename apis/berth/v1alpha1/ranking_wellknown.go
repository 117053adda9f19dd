// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

const (
	// ClusterLabelConstraintAnnotation on a pod holds constraints on the labels of the cluster where
	// it runs, such as "location is DE"; several are separated by semicolons or line breaks.
	ClusterLabelConstraintAnnotation = "berth.dev/cluster-label-constraint"

	// ClusterMetricConstraintAnnotation on a pod holds constraints on the metrics of the cluster where
	// it runs, such as "load < 5"; several are separated by semicolons or line breaks.
	ClusterMetricConstraintAnnotation = "berth.dev/cluster-metric-constraint"

	// ClusterResourceConstraintAnnotation on a pod names custom resources that the cluster where it
	// runs must have, each as "plural.group"; several are separated by semicolons or line breaks.
	ClusterResourceConstraintAnnotation = "berth.dev/cluster-resource-constraint"

	// ClusterRankingAnnotation on a pod asks for the best cluster: with the value
	// ClusterRankingMetrics, the one with the best metrics.
	ClusterRankingAnnotation = "berth.dev/cluster-ranking"

	// ClusterRankingMetrics is the only value of ClusterRankingAnnotation.
	ClusterRankingMetrics = "metrics"

	// ApplicationLabel on an object holds the name of the Application of the same namespace that it is
	// a part of. Berth writes it.
	ApplicationLabel = "berth.dev/application"
)

const (
	// ApplicationScheduled is true if a cluster is chosen that still suits the Application.
	ApplicationScheduled = "Scheduled"

	// ApplicationReady is true if all objects are there as the Application has them, and their pods
	// are ready in the chosen cluster.
	ApplicationReady = "Ready"

	// ApplicationMoving is true while an Application is on its way to another cluster; the reason is
	// the step of the move, and after it how it has ended.
	ApplicationMoving = "Moving"
)

const (
	// ReasonMoved says that the last move has reached its cluster.
	ReasonMoved = "Done"

	// ReasonMoveUnschedulable says that the last move was given up because new pods could not be
	// scheduled.
	ReasonMoveUnschedulable = "Unschedulable"

	// ReasonMoveDeadlineExceeded says that the last move was given up because new pods were not
	// available in time.
	ReasonMoveDeadlineExceeded = "DeadlineExceeded"

	// ReasonMoveReturned says that the last move was given up because the cluster that it left became
	// the better one again, or the one it went to did not suit any more.
	ReasonMoveReturned = "Returned"

	// ReasonWindowClosed says that another cluster is better, and the move waits until a window opens.
	ReasonWindowClosed = "WindowClosed"

	// ReasonMovesLimited says that another cluster is better, and the move waits because the
	// controller manager limits how many pods begin to move at a time.
	ReasonMovesLimited = "MovesLimited"

	// ReasonInvalidWindow says that a window cannot be understood or never opens; the message tells
	// which.
	ReasonInvalidWindow = "InvalidWindow"

	// ReasonSuspended says that the Application is suspended.
	ReasonSuspended = "Suspended"
)

const (
	// ReasonClusterChosen says that an Application has the best cluster, or one that is not worth
	// leaving.
	ReasonClusterChosen = "ClusterChosen"

	// ReasonNoClusterMatches says that no cluster can be chosen; the message counts why. A running
	// Application stays where it is.
	ReasonNoClusterMatches = "NoClusterMatches"

	// ReasonClusterOffline says that the cluster of an Application is offline, and is not left yet or
	// never is; the message tells when.
	ReasonClusterOffline = "ClusterOffline"

	// ReasonWaitingForKnowledge says that the first choice for an Application waits until clusters and
	// their metrics have been looked at; the message names what is unknown.
	ReasonWaitingForKnowledge = "WaitingForKnowledge"

	// ReasonInvalidConstraints says that a constraint cannot be understood; the message tells the
	// column.
	ReasonInvalidConstraints = "InvalidConstraints"

	// ReasonInvalidManifests says that a manifest cannot be carried out; nothing was changed.
	ReasonInvalidManifests = "InvalidManifests"

	// ReasonManifestRefused says that the API server refused a manifest, or that Berth may not write
	// it.
	ReasonManifestRefused = "ManifestRefused"

	// ReasonManifestContested says that somebody else changes an object again and again, so that it is
	// not as its manifest has it for most of the time; the message tells which and who.
	ReasonManifestContested = "ManifestContested"

	// ReasonNotAllowed says that the ServiceAccount as which an Application or a Subscription writes
	// does not exist, lacks a right, or may not be impersonated by Berth.
	ReasonNotAllowed = "NotAllowed"

	// ReasonWaitingForCluster says that nothing was made yet because no cluster is chosen.
	ReasonWaitingForCluster = "WaitingForCluster"

	// ReasonPodsNotReady says that the objects are there and pods are not ready yet.
	ReasonPodsNotReady = "PodsNotReady"

	// ReasonMigrating says that new pods are being started in another cluster before the old ones go.
	ReasonMigrating = "Migrating"

	// ReasonRunning says that everything runs in the chosen cluster.
	ReasonRunning = "Running"

	// ReasonCloudChosen says that a cloud or project is chosen.
	ReasonCloudChosen = "CloudChosen"

	// ReasonNoCloudMatches says that no cloud or project can be chosen; the message counts why.
	ReasonNoCloudMatches = "NoCloudMatches"

	// ReasonCloudGone says that the cloud or project that was chosen does not exist any more.
	ReasonCloudGone = "CloudGone"
)
