// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build !race

package simulation_test

import (
	"cmp"
	"os"
	"testing"
)

// weekVariable says how long Applications are lived with, how many, and in how many Clusters.
const weekVariable = "BERTH_WEEK"

// All programs of Berth live with Applications: with a few for some hours by default, and with many
// for a week if that is asked for.
func TestAWeek(t *testing.T) {
	text := cmp.Or(os.Getenv(weekVariable), "4h:6:4")
	if _, err := weekOf(text); err != nil {
		t.Fatalf("%s: %v", weekVariable, err)
	}
	live(t, text)
}
