// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// defaultFirstReadTimeout is longer than a list takes in a large cluster and shorter than a user's
// patience.
const defaultFirstReadTimeout = 10 * time.Second

func addDefaultingFuncs(scheme *runtime.Scheme) error {
	return RegisterDefaults(scheme)
}

// SetDefaults_NodeGroupPolicyArgs fills in what the user left out.
func SetDefaults_NodeGroupPolicyArgs(args *NodeGroupPolicyArgs) { //nolint:revive,staticcheck // the generator wants this name
	if args.FirstReadTimeout == nil {
		args.FirstReadTimeout = &metav1.Duration{Duration: defaultFirstReadTimeout}
	}
}

// SetDefaults_ClusterResourceArgs fills in what the user left out.
func SetDefaults_ClusterResourceArgs(args *ClusterResourceArgs) { //nolint:revive,staticcheck // the generator wants this name
	if args.FirstReadTimeout == nil {
		args.FirstReadTimeout = &metav1.Duration{Duration: defaultFirstReadTimeout}
	}
	if args.ScoringStrategy == "" {
		args.ScoringStrategy = LeastAllocated
	}
}
