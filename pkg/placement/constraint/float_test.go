// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package constraint_test

import (
	"fmt"
	"math"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"berth.dev/berth/pkg/placement/constraint"
)

func TestAFloatIsComparedAsTheNumberThatItStandsFor(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		middle := rapid.Float64().Draw(t, "middle")
		text := strconv.FormatFloat(middle, 'g', -1, 64)
		if math.Abs(middle) < 1e9 {
			// A number with more digits than a float tells apart.
			text = fmt.Sprintf("%.*f", rapid.IntRange(0, 40).Draw(t, "digits"), middle)
		}
		operator := rapid.SampledFrom([]string{"<", "<=", ">", ">=", "=", "!="}).Draw(t, "operator")
		wanted, err := constraint.Parse(constraint.Metric, "load "+operator+" "+text)
		if err != nil {
			t.Skip(err)
		}
		value := rapid.SampledFrom([]float64{
			middle, math.Nextafter(middle, math.Inf(1)), math.Nextafter(middle, math.Inf(-1)), -middle, 0, math.NaN(), math.Inf(1),
			math.Inf(-1), rapid.Float64().Draw(t, "other"),
		}).Draw(t, "value")
		if got, want := wanted.MatchFloat(value), wanted.MatchNumber(constraint.NumberOf(value)); got != want {
			t.Fatalf("%v meets %v: %t, want %t", value, wanted, got, want)
		}
	})
}

func TestNoFloatMeetsAConstraintOnALabel(t *testing.T) {
	wanted, err := constraint.Parse(constraint.Label, "load is 5")
	if err != nil {
		t.Fatal(err)
	}
	if wanted.MatchFloat(5) || wanted.MatchFloat(4) {
		t.Error("a float meets it")
	}
}
