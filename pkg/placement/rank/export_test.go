// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package rank

// ErrOutOfRange says that a value is none of those that its metric can have.
var ErrOutOfRange = errOutOfRange

// Score is score for tests.
var Score = score

// Normalize is normalize for tests.
var Normalize = normalize
