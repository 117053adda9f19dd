// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// PropagationPolicyStatus is what Berth observed of a policy and its workloads.
type PropagationPolicyStatus struct {
	// observedGeneration is the generation of the spec that this status speaks of.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// workloadCount is the number of workloads that this policy places.
	// +optional
	WorkloadCount int32 `json:"workloadCount"`

	// ready tells how many of the pods that these workloads want are ready, "3/5" for instance.
	// Of what has no number of replicas all pods there are count.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	Ready string `json:"ready,omitempty"`

	// workloads tells for each workload how its replicas are shared out: those that differ from the
	// wish first, then by kind and name; at most the first 100, and no more than fit into a status of
	// 64 KiB.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=100
	Workloads []WorkloadPlacement `json:"workloads,omitempty"`

	// failedOver are the clusters that have been offline for longer than spec.failover.after, so that
	// the others have their seats: the first 50 by name. The others are in failedOverMore.
	// +optional
	// +listType=map
	// +listMapKey=cluster
	// +kubebuilder:validation:MaxItems=1000
	FailedOver []FailedOverCluster `json:"failedOver,omitempty"`

	// failedOverMore are the clusters that failedOver has no room for, at most 950: of each the first
	// eight bytes of the SHA-256 of its name.
	// +optional
	// +kubebuilder:validation:MaxLength=12000
	FailedOverMore []byte `json:"failedOverMore,omitempty"`

	// limited are the workloads that get no more in some clusters than these run and have room for,
	// because pods have found no node there for giveUpAfter: at most 50 of them, in 200 clusters
	// together.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=50
	Limited []LimitedWorkload `json:"limited,omitempty"`

	// conditions: Accepted reports whether the spec can be carried out, ClustersResolved whether all
	// named clusters exist and have nodes, Placed whether the replicas run where the policy wants
	// them, Conflicted whether another policy places a workload that this one selects. With scaling
	// mode FollowClusters Scaled reports whether the workloads have as many replicas as their clusters
	// want.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// WorkloadPlacement tells how the replicas of one workload are shared out.
type WorkloadPlacement struct {
	// ref is the workload.
	Ref WorkloadReference `json:"ref"`

	// replicas is the number of replicas that the workload wants at present. Absent if Berth cannot
	// know it.
	// +optional
	Replicas *int32 `json:"replicas,omitempty"`

	// pending is the number of pods of the workload that are not bound to a node yet: PENDING in the
	// columns of berthctl. Under clusters and groups the field means something else, SHORT.
	// +optional
	Pending int32 `json:"pending"`

	// misplaced is the number of pods that run outside their share: in no cluster of the policy, or
	// above the share of their cluster.
	// +optional
	Misplaced int32 `json:"misplaced"`

	// groups tells what each group of clusters gets, if the policy has groups.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=100
	Groups []GroupPlacement `json:"groups,omitempty"`

	// clusters tells the share of each cluster, by name. Of more than 100 clusters it tells of 50:
	// those that differ most from their share.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=1000
	Clusters []ClusterPlacement `json:"clusters,omitempty"`
}

// WorkloadReference names a workload of the policy's namespace.
type WorkloadReference struct {
	// apiVersion of the workload.
	APIVersion string `json:"apiVersion"`

	// kind of the workload.
	Kind string `json:"kind"`

	// name of the workload.
	Name string `json:"name"`

	// component is the part of the workload, such as "headgroup". Empty unless a FeedParser says that
	// objects of the kind have several parts, which are shared out each for itself.
	// +optional
	Component string `json:"component,omitempty"`
}

// GroupPlacement tells how many replicas of a workload a group of clusters should have, and has.
type GroupPlacement struct {
	// name of the group.
	Name string `json:"name"`

	// clusters is the number of clusters in the group.
	// +optional
	Clusters int32 `json:"clusters"`

	// desired is the part of the group in the replicas of the workload.
	// +optional
	Desired int32 `json:"desired"`

	// current is the number of pods of the workload that are bound to nodes of the group and not being
	// deleted.
	// +optional
	Current int32 `json:"current"`

	// pending is the number of replicas by which clusters of the group are short of their shares:
	// SHORT in the columns of berthctl. It counts no pods.
	// +optional
	Pending int32 `json:"pending"`
}

// LimitedWorkload tells in which clusters a workload gets no more than it runs and has room for.
type LimitedWorkload struct {
	// ref is the workload.
	Ref WorkloadReference `json:"ref"`

	// clusters are those that get no more, by name.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=200
	Clusters []LimitedCluster `json:"clusters,omitempty"`

	// limitedBy is why the scheduler found no node, in its own words.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	LimitedBy string `json:"limitedBy,omitempty"`
}

// LimitedCluster tells how many replicas of a workload a cluster gets at most.
type LimitedCluster struct {
	// name of the cluster.
	Name string `json:"name"`

	// replicas is how many it gets at most at present: those that run there, and those for which there
	// is room that there was not when the limit began.
	Replicas int32 `json:"replicas"`

	// room is for how many further replicas there seemed to be room when the scheduler found no node
	// for them. Only a larger one counts.
	// +optional
	Room int32 `json:"room"`
}

// ClusterPlacement tells how many replicas of a workload a cluster should have, and has.
type ClusterPlacement struct {
	// name of the cluster.
	Name string `json:"name"`

	// desired is the share of the cluster in the replicas of the workload.
	// +optional
	Desired int32 `json:"desired"`

	// current is the number of pods of the workload that are bound to nodes of the cluster and not
	// being deleted.
	// +optional
	Current int32 `json:"current"`

	// pending is the number of replicas by which the cluster is short of its share: SHORT in the
	// columns of berthctl. It counts no pods.
	// +optional
	Pending int32 `json:"pending"`
}
