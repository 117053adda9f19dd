// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package config

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// NodeGroupPolicyArgs holds the arguments of the plugin NodeGroupPolicy.
type NodeGroupPolicyArgs struct {
	metav1.TypeMeta

	// FirstReadTimeout is how long pods are held back without a reason while Clusters and
	// PropagationPolicies cannot be read for the first time. After that they are told why they wait.
	// Positive, at most ten minutes.
	FirstReadTimeout metav1.Duration
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// ClusterResourceArgs holds the arguments of the plugin ClusterResource.
type ClusterResourceArgs struct {
	metav1.TypeMeta

	// FirstReadTimeout is how long pods that ask for ClusterResources are held back without a reason
	// while ClusterResources cannot be read for the first time. After that they are told why they
	// wait. Positive, at most ten minutes.
	FirstReadTimeout metav1.Duration

	// ScoringStrategy says which nodes a pod that asks for ClusterResources prefers.
	ScoringStrategy ScoringStrategy
}

// ScoringStrategy says which nodes a pod that asks for ClusterResources prefers.
type ScoringStrategy string

const (
	// LeastAllocated prefers nodes whose pools have the largest part left.
	LeastAllocated ScoringStrategy = "LeastAllocated"

	// MostAllocated prefers nodes whose pools have the smallest part left, and so keeps others whole.
	MostAllocated ScoringStrategy = "MostAllocated"
)
