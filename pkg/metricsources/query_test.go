// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package metricsources_test

import (
	"errors"
	"testing"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/metricsources"
)

func TestExpand(t *testing.T) {
	labels := map[string]string{"zone": "z1", "example.com/store": "7", "empty": ""}
	tests := map[string]struct{ query, want, wantReason, wantError string }{
		"nothing":             {query: `sum(load{a="b$"})`, want: `sum(load{a="b$"})`},
		"the name":            {query: `load{cluster="$(cluster)"}`, want: `load{cluster="berlin"}`},
		"a label":             {query: `load_$(labels.zone)`, want: `load_z1`},
		"several":             {query: `$(cluster)/$(labels.example.com/store)/$(cluster)`, want: `berlin/7/berlin`},
		"an empty label":      {query: `a$(labels.empty)b`, want: `ab`},
		"a missing label":     {query: `$(labels.x)`, wantReason: "MissingLabel", wantError: "there is no label x"},
		"something else":      {query: `$(node)`, wantReason: "InvalidMetric", wantError: "$( must be followed by cluster) or labels.KEY)"},
		"a label without key": {query: `$(labels.)`, wantReason: "InvalidMetric", wantError: "$( must be followed by cluster) or labels.KEY)"},
		"without an end":      {query: `$(cluster`, wantReason: "InvalidMetric", wantError: "$( must be followed by cluster) or labels.KEY)"},
		"not twice":           {query: `$($(cluster))`, wantReason: "InvalidMetric", wantError: "$( must be followed by cluster) or labels.KEY)"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := metricsources.Expand(tc.query, "berlin", labels)
			if got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
			var known *metricsources.Error
			if errors.As(err, &known) != (tc.wantReason != "") || known != nil && (known.Reason != tc.wantReason || known.Message != tc.wantError) {
				t.Errorf("error %+v, want %s: %s", err, tc.wantReason, tc.wantError)
			}
			if want := tc.query != `sum(load{a="b$"})`; metricsources.PerPlace(tc.query) != want {
				t.Errorf("PerPlace is not %v", want)
			}
		})
	}
}

func TestQueryOf(t *testing.T) {
	spec := &berthv1alpha1.MetricSpec{}
	if got := metricsources.QueryOf("load", spec); got != "load" {
		t.Errorf("without a metric the query is %q", got)
	}
	spec.Provider.Metric = "x"
	if got := metricsources.QueryOf("load", spec); got != "x" {
		t.Errorf("with a metric the query is %q", got)
	}
}
