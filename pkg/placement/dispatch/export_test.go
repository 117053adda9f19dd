// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package dispatch

// How one pod gets its home.
var (
	Choose     = choose
	MatchesGeo = matchesGeo
)
