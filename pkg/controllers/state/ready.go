// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package state

import "fmt"

// Count sums up over workloads how many pods they want, and how many of those are ready.
type Count struct{ Ready, Wanted int64 }

// Add adds a workload. Ready pods beyond those that it wants, as there are during a rollout, make
// up for no other workload.
func (c *Count) Add(ready, wanted int64) {
	c.Ready += min(ready, wanted)
	c.Wanted += wanted
}

// String returns what a column READY shows, "3/5" for instance.
func (c Count) String() string { return fmt.Sprintf("%d/%d", c.Ready, c.Wanted) }
