// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package grants

// What leads to a pass.
var (
	ResourceChanged  = resourceChanged
	SchedulerChanged = schedulerChanged
	Releases         = releases
	Takes            = takes
)
