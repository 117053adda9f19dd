// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package rebalance

// Reason says why misplaced pods stay where they are for now. The empty Reason means that nothing
// holds them back.
type Reason string

// The guards, in the order in which they are asked. All but the last twelve concern the workload as
// a whole.
const (
	// Forbidden: the policy leaves running pods where they are.
	Forbidden Reason = "Forbidden"
	// JobPods: an eviction would count as a failure of the Job and repeat its work.
	JobPods Reason = "JobPods"
	// UnknownWorkload: Berth cannot know how many replicas the workload wants or whether it is
	// being rolled out.
	UnknownWorkload Reason = "UnknownWorkload"
	// Undivided: the policy is about to be divided anew, for another number of replicas. Decide
	// returns it as given.
	Undivided Reason = "Undivided"
	// ClustersNotReady: so many clusters are gone that the fault is more likely with whoever
	// watches them.
	ClustersNotReady Reason = "ClustersNotReady"
	// RolloutUnderWay: the rollout replaces pods anyway.
	RolloutUnderWay Reason = "RolloutUnderWay"
	// PodsPending: a pod of the workload that is not stuck waits for a node, so an evicted one might
	// wait too.
	PodsPending Reason = "PodsPending"
	// ReplicasMissing: the workload's controller has not made all replicas yet.
	ReplicasMissing Reason = "ReplicasMissing"
	// ReplicasTooMany: the workload's controller is about to delete pods.
	ReplicasTooMany Reason = "ReplicasTooMany"
	// Unconfirmed: what the cache says could not be confirmed, or is out of date. Decide never
	// returns it.
	Unconfirmed Reason = "Unconfirmed"
	// Cooldown: the last round was not long enough ago.
	Cooldown Reason = "Cooldown"

	// MovesLimited: as many pods have begun to move of late as may, over everything that moves pods.
	// Decide never returns it.
	MovesLimited Reason = "MovesLimited"

	// MaxUnavailable: as many replicas are missing as the policy allows.
	MaxUnavailable Reason = "MaxUnavailable"
	// NoRoom: no cluster is short of its share, is ready and would take the pod now.
	NoRoom Reason = "NoRoom"
	// EvictionsFail: the API server refuses to evict the pods, and not because of a
	// PodDisruptionBudget, or does not answer.
	EvictionsFail Reason = "EvictionsFail"
	// PodsRefused: a PodDisruptionBudget does not let the pods go.
	PodsRefused Reason = "PodsRefused"
	// PodsTooYoung: the pods have not been running for long enough.
	PodsTooYoung Reason = "PodsTooYoung"
	// PodsMoved: the pods may have moved of late, and are not to move again so soon.
	PodsMoved Reason = "PodsMoved"
	// PodsUnreachable: the pods run on nodes that are not ready.
	PodsUnreachable Reason = "PodsUnreachable"
	// PodsProtected: the pods are critical to the system, or are marked as not safe to evict.
	PodsProtected Reason = "PodsProtected"
	// PodsCordoned: the cluster of the pods is cordoned, and not drained.
	PodsCordoned Reason = "PodsCordoned"
	// PodsExcluded: the cluster of the pods does not meet the constraints.
	PodsExcluded Reason = "PodsExcluded"
	// PodsReturning: the cluster of the pods was left, and is online again.
	PodsReturning Reason = "PodsReturning"
	// PodsTakenOver: the pods were placed by another policy or by none, and are about to carry the
	// name of this one.
	PodsTakenOver Reason = "PodsTakenOver"
	// PodsNotOurs: the pods were not placed by this policy, and it does not take them over.
	PodsNotOurs Reason = "PodsNotOurs"
)

// texts say why the replicas stay.
var texts = map[Reason]string{
	Forbidden:        "spec.rebalance.mode is Never",
	JobPods:          "pods of Jobs are never evicted",
	UnknownWorkload:  "pods of this kind of workload are never evicted",
	Undivided:        "their Subscription has not divided them for this number of replicas yet",
	ClustersNotReady: "more than half of the clusters of the policy are not ready",
	RolloutUnderWay:  "a rollout is not finished",
	PodsPending:      "pods of the workload are pending",
	ReplicasMissing:  "not all replicas of the workload are running",
	ReplicasTooMany:  "the workload is scaling down",
	Unconfirmed:      "their state is being confirmed with the API server",
	Cooldown:         "waiting for spec.rebalance.cooldown",
	MovesLimited:     "waiting for --max-moves-per-minute or --max-moves-per-cluster of the controller manager",
	MaxUnavailable:   "as many replicas are missing as spec.rebalance.maxUnavailable allows",
	NoRoom:           "no cluster is short of its share and has room for the pods",
	EvictionsFail:    "evictions of the pods fail, and not because of a PodDisruptionBudget",
	PodsRefused:      "a PodDisruptionBudget does not let the pods go",
	PodsTooYoung:     "the pods are younger than spec.rebalance.minPodAge",
	PodsMoved:        "clusters have been offline, and the pods are younger than spec.failover.returnAfter",
	PodsUnreachable:  "the pods run on nodes that are not ready",
	PodsProtected:    "the pods are protected from eviction",
	PodsCordoned:     "the pods run in a cluster that is cordoned and not drained",
	PodsExcluded:     "the pods run in a cluster that does not meet the constraints, which are for new pods",
	PodsReturning:    "the pods run in a cluster that is online again, and has its seats back after spec.failover.returnAfter",
	PodsTakenOver:    "the pods are being taken over by this policy",
	PodsNotOurs:      "the pods were not placed by this policy",
}

// String says in the user's words why the pods stay. It holds no numbers and no names, so it stays
// the same while the reason does.
func (r Reason) String() string { return texts[r] }

// keepReasons tells the reason for each kind of pod that is kept.
var keepReasons = map[Keep]Reason{
	NotOurs: PodsNotOurs, TakenOver: PodsTakenOver, Protected: PodsProtected, Unreachable: PodsUnreachable,
	Refused: PodsRefused, Failing: EvictionsFail, Cordoned: PodsCordoned, Excluded: PodsExcluded, Returning: PodsReturning,
}

// podReasons are the reasons of single pods, the one to report first.
var podReasons = [...]Reason{
	MaxUnavailable, NoRoom, EvictionsFail, PodsRefused, PodsTooYoung, PodsMoved, PodsUnreachable, PodsProtected, PodsCordoned,
	PodsExcluded, PodsReturning, PodsNotOurs, PodsTakenOver,
}
