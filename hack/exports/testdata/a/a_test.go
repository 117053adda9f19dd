// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package a_test

import (
	"testing"

	"berth.dev/berth/hack/exports/testdata/a"
)

func TestTested(*testing.T) {
	for range a.Limit {
		a.Tested()
	}
}
