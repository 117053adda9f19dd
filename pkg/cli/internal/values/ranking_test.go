// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package values_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"berth.dev/berth/pkg/cli/internal/values"
	"berth.dev/berth/pkg/placement/constraint"
)

func TestWeights(t *testing.T) {
	var many []string
	for i := range 51 {
		many = append(many, fmt.Sprintf("m%d=1", i))
	}
	tests := map[string]struct {
		texts     []string
		want      []values.Weight
		wantError string
	}{
		"an equals sign":        {texts: []string{"load=0.5"}, want: []values.Weight{{Metric: "load", Weight: 0.5}}},
		"a blank":               {texts: []string{"load 0.5"}, want: []values.Weight{{Metric: "load", Weight: 0.5}}},
		"several blanks":        {texts: []string{" load  54 "}, want: []values.Weight{{Metric: "load", Weight: 54}}},
		"underscores":           {texts: []string{"heat_demand_zone_1=3"}, want: []values.Weight{{Metric: "heat_demand_zone_1", Weight: 3}}},
		"an exponent":           {texts: []string{"load=1e-3"}, want: []values.Weight{{Metric: "load", Weight: 0.001}}},
		"the largest":           {texts: []string{"load=1000000"}, want: []values.Weight{{Metric: "load", Weight: 1_000_000}}},
		"in the order given":    {texts: []string{"b=1", "a=2"}, want: []values.Weight{{Metric: "b", Weight: 1}, {Metric: "a", Weight: 2}}},
		"no weight":             {texts: []string{"load"}, wantError: `"load" has no weight: write for instance load 0.5`},
		"an empty weight":       {texts: []string{"load="}, wantError: `metric "load": the weight must be a number above 0 and at most 1000000, not ""`},
		"zero":                  {texts: []string{"load=0"}, wantError: `not "0"`},
		"negative":              {texts: []string{"load=-1"}, wantError: `not "-1"`},
		"almost nothing":        {texts: []string{"load=1e-400"}, wantError: `not "1e-400"`},
		"too large":             {texts: []string{"load=1000001"}, wantError: `not "1000001"`},
		"beyond all numbers":    {texts: []string{"load=1e400"}, wantError: `not "1e400"`},
		"infinite":              {texts: []string{"load=inf"}, wantError: `not "inf"`},
		"not a number":          {texts: []string{"load=NaN"}, wantError: `not "NaN"`},
		"hexadecimal":           {texts: []string{"load=0x10"}, wantError: `not "0x10"`},
		"a word":                {texts: []string{"load=cluster1"}, wantError: `not "cluster1"`},
		"no name":               {texts: []string{"=1"}, wantError: `"" is no name of a metric`},
		"nothing":               {texts: []string{""}, wantError: `"" has no weight`},
		"capitals":              {texts: []string{"Load=1"}, wantError: `"Load" is no name of a metric`},
		"twice":                 {texts: []string{"load=1", "load=2"}, want: []values.Weight{{Metric: "load", Weight: 1}}, wantError: `metric "load" is listed twice`},
		"100 kB":                {texts: []string{strings.Repeat("x", 100_000)}, wantError: "longer than 317 characters"},
		"more than can be kept": {texts: many, wantError: "more than 50 metrics"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := &values.Weights{}
			var err error
			for _, text := range tc.texts {
				if err = w.Set(text); err != nil {
					break
				}
			}
			checkError(t, err, tc.wantError)
			if diff := cmp.Diff(tc.want, w.Values()); diff != "" && len(tc.texts) < 50 {
				t.Errorf("weights mismatch (-want +got):\n%s", diff)
			}
		})
	}
}

func TestConstraints(t *testing.T) {
	labels := values.NewConstraints(constraint.Label)
	for _, text := range []string{"location is DE", "tier!=tin"} {
		if err := labels.Set(text); err != nil {
			t.Fatal(err)
		}
	}
	checkError(t, labels.Set("location is"), "column 12: expected ")
	checkError(t, labels.Set("load < 5"), "column 6: a label has no order, expected ")
	checkError(t, labels.Set(strings.Repeat("é", 10_000)), "column ")
	if diff := cmp.Diff([]string{"location is DE", "tier!=tin"}, labels.Values()); diff != "" {
		t.Errorf("constraints mismatch (-want +got):\n%s", diff)
	}
	checkError(t, values.NewConstraints(constraint.Metric).Set("load is DE"), "column 9: expected a number")
}

func TestCustomResources(t *testing.T) {
	const wrong = "is no custom resource: write PLURAL.GROUP"
	tests := map[string]struct{ text, wantError string }{
		"a group of several parts": {text: "crontabs.stable.example.com"},
		"a short group":            {text: "a.b"},
		"no group":                 {text: "crontabs", wantError: `"crontabs" ` + wrong},
		"an empty group":           {text: "crontabs.", wantError: wrong},
		"no plural":                {text: ".example.com", wantError: wrong},
		"capitals":                 {text: "CronTabs.example.com", wantError: wrong},
		"a path":                   {text: "a.b/c", wantError: wrong},
		"two in one":               {text: "a.b,c.d", wantError: wrong},
		"nothing":                  {text: "", wantError: wrong},
		"100 kB":                   {text: strings.Repeat("a.", 50_000) + "a", wantError: wrong},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := values.NewCustomResources(1)
			err := c.Set(tc.text)
			checkError(t, err, tc.wantError)
			if tc.wantError == "" && c.String() != tc.text {
				t.Errorf("got %q", c.String())
			}
		})
	}
	one := values.NewCustomResources(1)
	checkError(t, one.Set("a.b"), "")
	checkError(t, one.Set("a.b"), "")
	checkError(t, one.Set("c.d"), "more than 1 custom resources")
}

// FuzzWeights checks that what is taken can be a reference to a metric, and that the rest is
// refused in one short line.
func FuzzWeights(f *testing.F) {
	for _, seed := range []string{"load 0.5", "load=1e-3", "load=-1", "a.b_c=inf", "=", "load", "load=0x1p-2", "é=1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		w := &values.Weights{}
		if err := w.Set(text); err != nil {
			if len(err.Error()) > 500 || strings.Contains(err.Error(), "\n") || len(w.Values()) > 0 {
				t.Fatalf("%q: error %q, weights %v", text, err, w.Values())
			}
			return
		}
		got := w.Values()[0]
		if got.Metric == "" || len(got.Metric) > 253 || !(got.Weight > 0 && got.Weight <= 1_000_000) {
			t.Fatalf("%q: got %+v", text, got)
		}
		again := &values.Weights{}
		if err := again.Set(w.String()); err != nil || again.Values()[0] != got {
			t.Fatalf("%q: %q is read as %v, %v", text, w.String(), again.Values(), err)
		}
	})
}
