// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package apportion

// Seats returns the cluster of each seat.
func (p *Plan) Seats() []int32 { return p.owners }
