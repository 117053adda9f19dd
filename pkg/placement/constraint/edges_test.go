// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package constraint_test

import (
	"errors"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"berth.dev/berth/pkg/placement/constraint"
)

func TestKeysOfTheFirstAndLastLetters(t *testing.T) {
	for letter, want := range map[string]bool{
		"a": true, "z": true, "A": true, "Z": true, "0": true, "9": true, "_": true, "@": false, "[": false, "`": false, "{": false, "/": false, ":": false,
	} {
		if _, err := constraint.Parse(constraint.Label, letter+"x"+letter+" is b"); (err == nil) != want {
			t.Errorf("%q: %v, want that it is a key: %t", letter, err, want)
		}
	}
}

func TestCheckCustomResource(t *testing.T) {
	if err := constraint.CheckCustomResource("crontabs.stable.example.com"); err != nil {
		t.Errorf("a custom resource is refused: %v", err)
	}
	err := constraint.CheckCustomResource("crontabs")
	if wrong := new(constraint.SyntaxError); !errors.As(err, &wrong) || wrong.Column != 1 {
		t.Errorf("what is no custom resource is refused with %v, want a mistake in column 1", err)
	}
}

// TestOperatorsAtTheLimit asks about 0, 1 and 2, and both infinities, where the constraint says 1.
func TestOperatorsAtTheLimit(t *testing.T) {
	values := []float64{math.Inf(-1), 0, 1, 2, math.Inf(1)}
	got := map[string][]bool{}
	want := map[string][]bool{
		"is": {false, false, true, false, false}, "is not": {true, true, false, true, true},
		"greater than": {false, false, false, true, true}, "greater than or equal to": {false, false, true, true, true},
		"less than": {true, true, false, false, false}, "less than or equal to": {true, true, true, false, false},
	}
	for operator := range want {
		c, err := constraint.Parse(constraint.Metric, "load "+operator+" 1")
		if err != nil {
			t.Fatal(err)
		}
		for _, value := range values {
			got[operator] = append(got[operator], c.MatchNumber(constraint.NumberOf(value)))
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("matches (-want +got):\n%s", diff)
	}
}
