// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
)

// ReplicaRequirements describes what one more replica of a feed needs of a cluster. Its fields are
// those of Clusternet's FeedInventory.
type ReplicaRequirements struct {
	// nodeSelector holds the labels that a node must have for a replica to run there.
	// +optional
	// +mapType=atomic
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`

	// tolerations are the taints that a replica tolerates.
	// +optional
	// +listType=atomic
	Tolerations []corev1.Toleration `json:"tolerations,omitempty"`

	// affinity says near which nodes and pods a replica must or should run, and which it must or
	// should avoid.
	// +optional
	Affinity *corev1.Affinity `json:"affinity,omitempty"`

	// resources are the requests and limits of one replica as the scheduler counts them: all
	// containers together, with init containers, sidecars, overhead and resources of the pod as a
	// whole. A limit without a request counts as a request. Claims are not recorded.
	// +optional
	Resources corev1.ResourceRequirements `json:"resources,omitzero"`
}
