// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package constraint_test

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"

	"berth.dev/berth/pkg/placement/constraint"
)

var update = flag.Bool("update", false, "write what the API server is told of constraints instead of checking it")

// place is the rest of a line in a file: it is written behind what before, a regular expression,
// matches.
type place struct {
	before, line string
}

// rule is the marker from which the rule in the CRDs is made.
func rule(kind constraint.Kind, examples string) string {
	return "self.matches(r'" + constraint.Pattern(kind) + "')`,message=\"must be a constraint such as " + examples +
		"\",messageExpression=`" + constraint.Explanation(kind, "self", "0") + "`"
}

// Whoever changes the language runs this test with -update, and hack/generate.sh after that.
func TestGeneratedRulesAreThoseOfTheLanguage(t *testing.T) {
	const (
		labels  = "'location is DE', 'location is not DE', 'location in (DE, SK)' or 'location not in (DE, SK)'"
		metrics = "'load is 5', 'load is not 5', 'load < 5', 'load >= 5' or 'load greater than 5'"
	)
	resource := "self.matches(r'" + constraint.CustomResource + "')`,message=\"must be a custom resource, plural.group, such as " +
		"crontabs.stable.example.com\""
	files := map[string][]place{
		filepath.Join("apis", "berth", "v1alpha1", "cluster_types.go"): {
			{"// customResources [^`]*XValidation:rule=`", resource},
		},
		filepath.Join("apis", "berth", "v1alpha1", "constraints_types.go"): {
			{"// customResources [^`]*XValidation:rule=`", resource},
			{"// LabelConstraints are [^`]*XValidation:rule=`", rule(constraint.Label, labels)},
			{"// MetricConstraints are [^`]*XValidation:rule=`", rule(constraint.Metric, metrics)},
		},
		filepath.Join("manifests", "base", "admission", "constraints.yaml"): {
			{`- name: labelPattern\n *expression: >-\n *`, "r'" + constraint.Pattern(constraint.Label) + "'"},
			{`- name: resourcePattern\n *expression: >-\n *`, "r'" + constraint.CustomResource + "'"},
			{`- name: metricPattern\n *expression: >-\n *`, "r'" + constraint.Pattern(constraint.Metric) + "'"},
			{
				`- name: wrongLabel\n *expression: >-\n *`,
				constraint.Explanation(constraint.Label, "variables.wrongLabels[0][0]", "int(variables.wrongLabels[0][1])"),
			},
			{
				`- name: wrongMetric\n *expression: >-\n *`,
				constraint.Explanation(constraint.Metric, "variables.wrongMetrics[0][0]", "int(variables.wrongMetrics[0][1])"),
			},
		},
	}
	for name, places := range files {
		path := filepath.Join("..", "..", "..", name)
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		want := content
		for _, p := range places {
			found := regexp.MustCompile(p.before + `(.*)`).FindSubmatchIndex(want)
			if found == nil {
				t.Fatalf("%s: nothing matches %s", name, p.before)
			}
			want = append(append(append([]byte{}, want[:found[2]]...), p.line...), want[found[3]:]...)
		}
		if *update {
			if err := os.WriteFile(path, want, 0o644); err != nil {
				t.Fatal(err)
			}
		} else if diff := cmp.Diff(string(want), string(content)); diff != "" {
			t.Errorf("%s: run this test with -update, then hack/generate.sh (-want +got)\n%s", name, diff)
		}
	}
}
