// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package constraint_test

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"berth.dev/berth/pkg/placement/constraint"
)

// admission returns the patterns that the API server compares constraints with before it takes them.
func admission(t *testing.T) map[constraint.Kind]*regexp.Regexp {
	t.Helper()
	source, err := os.ReadFile(filepath.Join("..", "..", "..", "apis", "berth", "v1alpha1", "constraints_types.go"))
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`c\.matches\(r'([^']*)'\)`).FindAllSubmatch(source, -1)
	if len(found) != 2 {
		t.Fatalf("%d patterns, want one for labels and one for metrics", len(found))
	}
	return map[constraint.Kind]*regexp.Regexp{
		constraint.Label: regexp.MustCompile(string(found[0][1])), constraint.Metric: regexp.MustCompile(string(found[1][1])),
	}
}

// The API server knows patterns only. What the parser understands must pass; what passes is hardly ever wrong.
func TestAPIServerTakesWhatIsUnderstood(t *testing.T) {
	patterns := admission(t)
	refused, passed := 0, 0
	for kind, file := range map[constraint.Kind]string{
		constraint.Label: "label_constraint_parse.json", constraint.Metric: "metric_constraint_parse.json",
	} {
		rows := table[struct{ In string }](t, file)
		for _, text := range []string{
			"load less than 5", "load less than or equal 5", "load is greater than or equal to 5", "load=-5", "load>.5e-3",
			"load = inf", "load=<+5", "a not in(b,c,,)", "a notin (b)", "a isnot b", "prefix.x/a != b", "a=b", "flavor.large >= 3",
		} {
			rows = append(rows, struct{ In string }{text})
		}
		for _, row := range rows {
			_, err := constraint.Parse(kind, row.In)
			passes := patterns[kind].MatchString(row.In)
			switch {
			case err == nil && !passes:
				t.Errorf("the API server refuses the %s constraint %q", kind, row.In)
			case err != nil && passes:
				passed++
			case err != nil:
				refused++
			}
		}
	}
	if passed*5 > refused {
		t.Errorf("of the wrong constraints %d are refused and %d pass", refused, passed)
	}
}
