// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Spending is what a scheduler says of its grants of ClusterResources.
type Spending struct {
	// closed is true once the scheduler, which is being deleted, gives out nothing any more and
	// nothing is under way.
	// +optional
	Closed bool `json:"closed,omitempty"`

	// pools tells of those of which the scheduler has something to say: an acknowledgement, or that
	// pods wait.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=5000
	Pools []PoolSpending `json:"pools,omitempty"`
}

// PoolSpending is what a scheduler says of its grant of a pool.
type PoolSpending struct {
	// resource is the name of the ClusterResource.
	// +kubebuilder:validation:MaxLength=63
	Resource string `json:"resource"`

	// pool is the name of the pool.
	// +kubebuilder:validation:MaxLength=63
	Pool string `json:"pool"`

	// revision is that of the grant of which it speaks, 0 if there is none.
	// +optional
	Revision int64 `json:"revision,omitempty"`

	// limit is what its pods hold, and the most that they will hold under this revision. It
	// acknowledges shrinkTo.
	// +optional
	Limit *resource.Quantity `json:"limit,omitempty"`

	// wanted is what pods ask for that wait for this pool and that what is left of it could serve, as
	// far as they have the highest priority of these.
	// +optional
	Wanted *resource.Quantity `json:"wanted,omitempty"`

	// least is the smallest amount that serves one of them.
	// +optional
	Least *resource.Quantity `json:"least,omitempty"`

	// priority is theirs.
	// +optional
	Priority int32 `json:"priority,omitempty"`

	// since is when the first of them was created.
	// +optional
	Since *metav1.Time `json:"since,omitempty"`

	// lower is the same of pods of lower priority, one entry for each priority, the higher first. At
	// most 8.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=8
	Lower []PoolDemand `json:"lower,omitempty"`

	// next are pods that what is left of this pool cannot serve, and that more of it would: the first
	// in line, and some behind it, each of which asks for less. Other schedulers keep what becomes
	// free from pods of lower priority until grants have moved. At most 4.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=4
	Next []PoolDemand `json:"next,omitempty"`
}

// PoolDemand is what pods of one priority want of a pool.
type PoolDemand struct {
	// wanted is what they ask for altogether.
	Wanted resource.Quantity `json:"wanted"`

	// least is the smallest amount that serves one of them.
	Least resource.Quantity `json:"least"`

	// priority is theirs.
	Priority int32 `json:"priority"`

	// since is when the first of them was created.
	Since metav1.Time `json:"since"`
}
