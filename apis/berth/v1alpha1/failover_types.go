// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Failover says when a cluster that has gone offline is left, and when it is returned to. A cluster
// is offline while its condition Online is False.
type Failover struct {
	// after is how long a cluster must have been offline before it is left, from 0s to 168h, or Never.
	// It is left only if another cluster is eligible. Default 5m.
	// +optional
	After *FailoverAfter `json:"after,omitempty"`

	// returnAfter is how long a cluster that was left must have been online again before it comes into
	// question again, from 0s to 168h. Default 30m. It does not count while the cluster where an
	// Application runs does not suit, nor for a Subscription or a policy while all others are left.
	// Pods of a policy that are younger are not moved while a cluster is left, nor for as long after
	// one may have been returned to, unless their cluster is drained.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:XValidation:rule="self.size() <= 16 && self.matches('^([0-9]+([.][0-9]+)?(ms|s|m|h))+$') && duration(self) <= duration('168h')",message="must be a duration from 0s to 168h such as 30s, 30m or 1h30m"
	ReturnAfter *metav1.Duration `json:"returnAfter,omitempty"`
}

// FailoverAfter is a duration such as "5m", or Never.
//
// +kubebuilder:validation:MaxLength=16
// +kubebuilder:validation:XValidation:rule="self == 'Never' || self.matches('^([0-9]+([.][0-9]+)?(ms|s|m|h))+$') && duration(self) <= duration('168h')",message="must be Never, or a duration from 0s to 168h such as 30s, 5m or 1h30m"
type FailoverAfter string

// FailoverNever keeps everything in a cluster that is offline.
const FailoverNever FailoverAfter = "Never"
