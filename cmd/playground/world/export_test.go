// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package world

// ClusterNames is for tests.
var ClusterNames = clusterNames
