// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package amount_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"
	"pgregory.net/rapid"

	"berth.dev/berth/pkg/placement/amount"
)

func TestTexts(t *testing.T) {
	for quantity, want := range map[string]struct{ text, atLeast string }{
		"4996300m":            {"4996.3", "4996.3"},
		"1500m":               {"1.5", "1.5"},
		"300m":                {"300m", "300m"},
		"1000500u":            {"1.0005", "1.0005"},
		"-1500m":              {"-1500m", "-1500m"},
		"0":                   {"0", "0"},
		"50":                  {"50", "50"},
		"5000":                {"5k", "5k"},
		"32780148Ki":          {"32780148Ki", "31.3Gi"},
		"32Gi":                {"32Gi", "32Gi"},
		"512Ki":               {"512Ki", "512Ki"},
		"34359738368":         {"34359738368", "34.4G"},
		"9223372036854775807": {"9223372036854775807", "9.3E"},
	} {
		q := resource.MustParse(quantity)
		if got := amount.Text(q); got != want.text {
			t.Errorf("%s reads %s, want %s", quantity, got, want.text)
		}
		if got := amount.AtLeast(q); got != want.atLeast {
			t.Errorf("at least %s reads %s, want %s", quantity, got, want.atLeast)
		}
	}
}

func TestWhatIsToldIsTrue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := *resource.NewMilliQuantity(rapid.Int64Range(0, 1<<60).Draw(t, "milli"),
			rapid.SampledFrom([]resource.Format{resource.DecimalSI, resource.BinarySI}).Draw(t, "format"))
		if exact := resource.MustParse(amount.Text(q)); exact.Cmp(q) != 0 {
			t.Errorf("%s is told as %s", q.String(), exact.String())
		}
		if least := resource.MustParse(amount.AtLeast(q)); least.Cmp(q) < 0 {
			t.Errorf("%s is told as %s", q.String(), least.String())
		}
	})
}
