// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package grants

// Ceiling is the most that the scheduler may have charged.
func (g Grant) Ceiling() int64 { return g.ceiling() }
