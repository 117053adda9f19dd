// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// NodeGroupPolicyArgs holds the arguments of the plugin NodeGroupPolicy.
type NodeGroupPolicyArgs struct {
	metav1.TypeMeta `json:",inline"`

	// firstReadTimeout is how long pods are held back without a reason while Clusters and PropagationPolicies cannot be
	// read for the first time. After that they are told why they wait. Positive, at most 10m. Default 10s.
	FirstReadTimeout *metav1.Duration `json:"firstReadTimeout,omitempty"`
}
