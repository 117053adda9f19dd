// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package app

// LockLease is lockLease, SetUp setUp.
var (
	LockLease = lockLease
	SetUp     = setUp
)
