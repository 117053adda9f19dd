// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package preview_test

import (
	"testing"

	"berth.dev/berth/pkg/cli"
	"berth.dev/berth/pkg/cli/internal/clitest"
)

func previewConstraint(t *testing.T, args ...string) clitest.Result {
	t.Helper()
	return clitest.Run(t.Context(), cli.Options{}, append([]string{"preview", "constraint"}, args...)...)
}

func TestConstraintOutput(t *testing.T) {
	tests := map[string]struct {
		args []string
		want string
	}{
		"a label that matches": {
			args: []string{"location is DE", "--kind", "label", "--labels", "location=DE", "--metrics", "load=4", "-o", "json"},
			want: `{"kind":"label","key":"location","operator":"is","values":["DE"],"canonical":"location is DE","matches":true}` + "\n",
		},
		"a list": {
			args: []string{"location not in(DE,SK,)", "--labels", "location=FR", "-o", "json"},
			want: `{"kind":"label","key":"location","operator":"not in","values":["DE","SK"],"canonical":"location not in (DE, SK)","matches":true}` + "\n",
		},
		"a metric": {
			args: []string{"load=<5", "--kind", "metric", "--metrics", "load=5.0", "-o", "json"},
			want: `{"kind":"metric","key":"load","operator":"<=","values":["5"],"canonical":"load lesser than or equal 5","matches":true}` + "\n",
		},
		"a metric without a number": {
			args: []string{"load != 5", "--kind", "metric", "--metrics", "load=nan", "-o", "json"},
			want: `{"kind":"metric","key":"load","operator":"is not","values":["5"],"canonical":"load is not 5","matches":false}` + "\n",
		},
		"a missing label, for people": {
			args: []string{"location != DE", "--labels", ""},
			want: "location is not DE\nis not met: there is no label location\n",
		},
		"a label that differs, for people": {
			args: []string{"location = DE", "--labels", "location=SK"},
			want: "location is DE\nis not met\n",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			previewConstraint(t, tc.args...).CheckOutput(t, tc.want)
		})
	}
}

func TestConstraintWrongInput(t *testing.T) {
	tests := map[string]struct {
		args []string
		want string
	}{
		"no constraint":              {nil, "0 arguments, give the constraint as one, in quotes: berthctl preview constraint 'location is DE'"},
		"one without quotes":         {[]string{"location", "is", "DE"}, "3 arguments, give the constraint as one, in quotes"},
		"a mistake with its column":  {[]string{"location inf (DE, SK)"}, `constraint "location inf (DE, SK)": column 10: expected is,`},
		"a metric that is no number": {[]string{"load is five", "--kind", "metric"}, "column 9: expected a number"},
		"an unknown kind":            {[]string{"a is b", "--kind", "node"}, "--kind must be label or metric"},
		"labels without values":      {[]string{"a is b", "--labels", "a"}, `"a" is not of the form NAME=VALUE`},
		"a label twice":              {[]string{"a is b", "--labels", "a=b,a=c"}, `"a" is listed twice`},
		"a value that is no number":  {[]string{"a is 5", "--kind", "metric", "--metrics", "a=x"}, `the value "x" of "a" is not a number`},
		"a value of a huge exponent": {[]string{"a is 5", "--kind", "metric", "--metrics", "a=1e-2147483647"}, "not a number"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			previewConstraint(t, tc.args...).CheckFailed(t, tc.want)
		})
	}
}
