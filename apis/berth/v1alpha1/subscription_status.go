// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// SubscriptionStatus is what Berth observed of a Subscription.
type SubscriptionStatus struct {
	// observedGeneration is the generation of the spec by which the feeds were divided last.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// ready tells how many of the pods that the feeds want are ready, "3/5" for instance. Those of
	// copies count, and of what has no number of replicas, such as a DaemonSet, all pods there are.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	Ready string `json:"ready,omitempty"`

	// bindingClusters names the Clusters that take the feeds, in ascending order.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=1000
	BindingClusters []string `json:"bindingClusters,omitempty"`

	// feeds tells for each feed how it is divided, in the order of the spec. In place of a Helm
	// release there are its objects, as far as they are no other feeds; with helmRelease alone the
	// message says what is wrong with the release.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=350
	Feeds []FeedPlacement `json:"feeds,omitempty"`

	// helmReleases tells which objects the Helm releases have that feeds name.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=100
	HelmReleases []HelmRelease `json:"helmReleases,omitempty"`

	// pledge tells since when a bundle is admitted, and until when room is kept for it. Absent while
	// the bundle waits, and for Subscriptions that are not admitted as a bundle.
	// +optional
	Pledge *Pledge `json:"pledge,omitempty"`

	// failedOver are the Clusters that were left because they were offline for spec.failover.after,
	// until they have been online for returnAfter, by name. Copies stay there.
	// +optional
	// +listType=map
	// +listMapKey=cluster
	// +kubebuilder:validation:MaxItems=1000
	FailedOver []FailedOverCluster `json:"failedOver,omitempty"`

	// observedRebalance is the value of the annotation berth.dev/rebalance that was carried out last.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	ObservedRebalance string `json:"observedRebalance,omitempty"`

	// conditions: Parsed reports whether it is known of all feeds what they need, Scheduled whether a
	// share is decided for all replicas, Available whether all pods that the feeds want run, Degraded
	// whether something that was placed has lost its place.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// HelmRelease tells which objects a Helm release has.
type HelmRelease struct {
	// name of the release.
	Name string `json:"name"`

	// objects are those that Helm installed with the release, by kind and name.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=250
	Objects []Feed `json:"objects,omitempty"`

	// message says why not all objects of the release are known. Empty if they are.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Message string `json:"message,omitempty"`
}

// Pledge is the promise of room to a bundle.
type Pledge struct {
	// admissionTime is when everything fitted.
	AdmissionTime metav1.Time `json:"admissionTime"`

	// expirationTime is when the admission is withdrawn if no pod of the bundle has a node by then.
	ExpirationTime metav1.Time `json:"expirationTime"`
}

// FeedPlacement tells how one feed is divided.
type FeedPlacement struct {
	Feed `json:",inline"`

	// replicas is the number of replicas that the feed wants. Absent for objects that are copied
	// whole.
	// +optional
	Replicas *int32 `json:"replicas,omitempty"`

	// clusters tells the replicas of each cluster that has any, or in which the scheduler finds no
	// node for them, by name.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=1000
	Clusters []FeedClusterReplicas `json:"clusters,omitempty"`

	// unplaced is the number of replicas that find no room.
	// +optional
	Unplaced int32 `json:"unplaced,omitempty"`

	// expirationTime is until when room is kept for replicas of which nobody has made a pod. Each pod
	// that is made puts it off. Afterwards these replicas are unplaced until pods are made. Absent
	// while all have a pod, and if no room is promised.
	// +optional
	ExpirationTime *metav1.Time `json:"expirationTime,omitempty"`

	// message says why replicas are unplaced.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Message string `json:"message,omitempty"`
}

// FeedClusterReplicas tells how many replicas of a feed a cluster has.
type FeedClusterReplicas struct {
	// name of the cluster.
	Name string `json:"name"`

	// replicas that the cluster was given.
	Replicas int32 `json:"replicas"`

	// room is the number of further replicas for which there seemed to be room when the scheduler
	// found no node for them; a larger one ends the limit. Present only while replicas is limited to
	// what runs.
	// +optional
	Room *int32 `json:"room,omitempty"`

	// limitedBy is why the scheduler finds no node in the cluster, in its own words. Present while
	// pods have waited there for giveUpAfter.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	LimitedBy string `json:"limitedBy,omitempty"`

	// retryTime is when the cluster is given replicas again although its room has not grown. Absent if
	// replicas is not limited, as by Static.
	// +optional
	RetryTime *metav1.Time `json:"retryTime,omitempty"`
}
