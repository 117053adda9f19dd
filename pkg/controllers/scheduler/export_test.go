// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package scheduler

// DeploymentOf is for tests.
var DeploymentOf = deploymentOf
