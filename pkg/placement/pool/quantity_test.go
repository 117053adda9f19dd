// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package pool_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"
	"pgregory.net/rapid"

	"berth.dev/berth/pkg/placement/pool"
)

func TestQuantitiesOfUsers(t *testing.T) {
	for name, tc := range map[string]struct {
		text string
		// want is the quantity as it prints, wantError part of the error.
		want, wantError string
	}{
		"a number":               {text: "5", want: "5"},
		"zero":                   {text: "0", want: "0"},
		"a fraction":             {text: "0.5", want: "500m"},
		"a fraction without 0":   {text: ".5", want: "500m"},
		"thousandths":            {text: "500m", want: "500m"},
		"a decimal suffix":       {text: "10G", want: "10G"},
		"a binary suffix":        {text: "1Gi", want: "1Gi"},
		"the largest there is":   {text: "9223372036854775", want: "9223372036854775"},
		"an exponent":            {text: "1e3", wantError: "is not a quantity"},
		"one that would hang":    {text: "1e-2147483647", wantError: "is not a quantity"},
		"another one":            {text: "1E2147483647", wantError: "is not a quantity"},
		"thirty digits":          {text: strings.Repeat("9", 30), wantError: "at most 16 characters"},
		"more than an int64":     {text: "100000E", wantError: "is too large"},
		"negative":               {text: "-1", wantError: "is not a quantity"},
		"a sign":                 {text: "+1", wantError: "is not a quantity"},
		"nothing":                {text: "", wantError: "is not a quantity"},
		"no number":              {text: "many", wantError: "is not a quantity"},
		"only a suffix":          {text: "Gi", wantError: "is not a quantity"},
		"an unknown suffix":      {text: "1Q", wantError: "is not a quantity"},
		"a space":                {text: "1 ", wantError: "is not a quantity"},
		"a newline":              {text: "1\n", wantError: "is not a quantity"},
		"digits of other script": {text: "٣", wantError: "is not a quantity"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := pool.ParseQuantity(tc.text)
			switch {
			case tc.wantError == "" && err != nil:
				t.Fatalf("refused: %v", err)
			case tc.wantError != "" && (err == nil || !strings.Contains(err.Error(), tc.wantError)):
				t.Fatalf("error = %v, want one with %q", err, tc.wantError)
			case tc.wantError == "" && got.String() != tc.want:
				t.Errorf("got %s, want %s", got.String(), tc.want)
			}
		})
	}
}

func TestAmountsThatCanBeComputedWith(t *testing.T) {
	for name, tc := range map[string]struct {
		amount resource.Quantity
		want   error
	}{
		"zero":                           {amount: resource.MustParse("0")},
		"zero with an absurd exponent":   {amount: resource.MustParse("0e2147483647"), want: pool.ErrTooLarge},
		"the largest":                    {amount: *resource.NewQuantity(math.MaxInt64, resource.DecimalSI)},
		"zero with a large exponent":     {amount: resource.MustParse("0e100")},
		"a billionth":                    {amount: resource.MustParse("1n")},
		"one more than the largest":      {amount: resource.MustParse("9223372036854775808"), want: pool.ErrTooLarge},
		"one that prints as another":     {amount: resource.MustParse("100000E"), want: pool.ErrTooLarge},
		"one that would hang":            {amount: resource.MustParse("1e2147483647"), want: pool.ErrTooLarge},
		"a tiny one that would hang":     {amount: *resource.NewScaledQuantity(1, -2147483647), want: pool.ErrTooFine},
		"negative":                       {amount: resource.MustParse("-1"), want: pool.ErrNegative},
		"negative, and one of the large": {amount: resource.MustParse("-1e2147483647"), want: pool.ErrTooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			if err := pool.Check(tc.amount); !errors.Is(err, tc.want) {
				t.Errorf("error = %v, want %v", err, tc.want)
			}
		})
	}
}

func TestUnits(t *testing.T) {
	for name, tc := range map[string]struct {
		amount, unit string
		want         int64
		wantError    error
	}{
		"whole ones":                {amount: "3", unit: "1", want: 3},
		"a large whole number":      {amount: "10G", unit: "1", want: 10_000_000_000},
		"binary units":              {amount: "1Gi", unit: "1Mi", want: 1024},
		"halves":                    {amount: "1.5", unit: "500m", want: 3},
		"nothing":                   {amount: "0", unit: "500m", want: 0},
		"half of one is rounded up": {amount: "500m", unit: "1", want: 1, wantError: pool.ErrTooFine},
		"no multiple is rounded up": {amount: "7", unit: "3", want: 3, wantError: pool.ErrTooFine},
		"too many units":            {amount: "10G", unit: "1n", want: math.MaxInt64, wantError: pool.ErrTooLarge},
		"more than an int64":        {amount: "10E", unit: "1", want: math.MaxInt64, wantError: pool.ErrTooLarge},
		"a multiple of a large one": {amount: "900000E", unit: "1E", want: 900_000},
		"one that would hang":       {amount: "1e2147483647", unit: "1", want: math.MaxInt64, wantError: pool.ErrTooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := pool.Units(resource.MustParse(tc.amount), resource.MustParse(tc.unit))
			if got != tc.want || !errors.Is(err, tc.wantError) {
				t.Errorf("got %d, %v; want %d, %v", got, err, tc.want, tc.wantError)
			}
		})
	}
}

func TestUnitsCountMultiples(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		unit := resource.NewMilliQuantity(rapid.Int64Range(1, 1_000_000).Draw(t, "unit"), resource.DecimalSI)
		n := rapid.Int64Range(0, 1_000_000).Draw(t, "n")
		amount := resource.NewMilliQuantity(unit.MilliValue()*n, resource.BinarySI)
		if got, err := pool.Units(*amount, *unit); err != nil || got != n {
			t.Fatalf("%s in units of %s: %d, %v; want %d", amount, unit, got, err, n)
		}
	})
}

func FuzzParseQuantity(f *testing.F) {
	for _, text := range []string{"5", "0.5", "500m", "10G", "1Gi", "1e-2147483647", "-1", "", "999999999999999E", ".1n"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		quantity, err := pool.ParseQuantity(text)
		if err != nil {
			return
		}
		if err := pool.Check(quantity); err != nil {
			t.Errorf("%q is read, and then it %v", text, err)
		}
		// Forget the text that the quantity was read from.
		printed := quantity.DeepCopy()
		printed.Add(resource.Quantity{})
		again, err := pool.ParseSum(printed.String())
		if err != nil || again.Cmp(quantity) != 0 {
			t.Errorf("%q prints as %q, which is read as %s, %v", text, printed.String(), again.String(), err)
		}
	})
}

func TestWhatIsTooFineToComputeWithIsOneUnit(t *testing.T) {
	got, err := pool.Units(*resource.NewScaledQuantity(1, -12), resource.MustParse("1"))
	if got != 1 || !errors.Is(err, pool.ErrTooFine) {
		t.Errorf("got %d, %v; want 1, %v", got, err, pool.ErrTooFine)
	}
}

func TestUnitsAsAnAmount(t *testing.T) {
	for name, tc := range map[string]struct {
		units      int64
		unit, want string
		wantNot    bool
	}{
		"whole ones":             {units: 3, unit: "1", want: "3"},
		"halves":                 {units: 3, unit: "500m", want: "1500m"},
		"binary ones":            {units: 3, unit: "1Gi", want: "3Gi"},
		"none":                   {units: 0, unit: "500m", want: "0"},
		"more than an amount is": {units: 10, unit: "1E", wantNot: true},
	} {
		t.Run(name, func(t *testing.T) {
			got, ok := pool.Quantity(tc.units, resource.MustParse(tc.unit))
			if ok == tc.wantNot || ok && got.Cmp(resource.MustParse(tc.want)) != 0 {
				t.Errorf("got %s, %t; want %q, %t", got.String(), ok, tc.want, !tc.wantNot)
			}
		})
	}
}
