// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package grouping says which clusters the placement of a policy means, given the Clusters that
// there are, and with which weights and bounds package apportion shares replicas out over them.
package grouping
