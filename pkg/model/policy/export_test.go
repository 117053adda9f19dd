// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

// Unplaced is what limits of clusters leave without a place.
func (p *Policy) Unplaced(limits map[string]int64, n int32) int64 { return p.unplaced(limits, n) }
