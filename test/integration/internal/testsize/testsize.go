// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package testsize chooses the size of specs that show more the larger they are.
package testsize

import "os"

// FullEnv names the environment variable that makes specs as large as what they promise. A test run
// on two processors has no time for that.
const FullEnv = "BERTH_TEST_FULL"

// Full reports whether specs are to have their full size.
func Full() bool { return os.Getenv(FullEnv) != "" }

// Of returns the full size or the usual one. Both have to be large enough for the spec to fail if
// what it names is broken.
func Of(full, usual int) int {
	if Full() {
		return full
	}
	return usual
}
