// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

// Component is component for tests.
var Component = component
