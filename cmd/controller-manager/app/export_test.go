// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package app

// PairUp is pairUp, SetUp setUp.
var (
	PairUp = pairUp
	SetUp  = setUp
)
