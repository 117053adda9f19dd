// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package manifests has the files that are applied to a cluster, as far as programs read them.
package manifests

import _ "embed"

// SchedulerConfiguration is the KubeSchedulerConfiguration that berth-scheduler is shipped with.
//
//go:embed base/scheduler-config.yaml
var SchedulerConfiguration []byte
