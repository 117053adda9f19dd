// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package v1alpha1 holds the Berth API, group berth.dev: clusters of nodes and the policies that
// share workloads out over them. The field comments are the user documentation that `kubectl
// explain` prints.
//
// +k8s:deepcopy-gen=package
// +kubebuilder:object:generate=true
// +groupName=berth.dev
package v1alpha1
