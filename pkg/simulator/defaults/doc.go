// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package defaults makes of an object what the API server would store, by running the API server's
// own code: the defaults of its types, the admission plugins that change a pod in ways a scheduler
// reads, and its validation.
//
// The plugins are LimitRanger, Priority, DefaultTolerationSeconds and RuntimeClass. Webhooks,
// admission policies, PodSecurity, ServiceAccount and ResourceQuota are not run.
package defaults
