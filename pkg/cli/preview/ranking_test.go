// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package preview_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"berth.dev/berth/pkg/cli"
	"berth.dev/berth/pkg/cli/internal/clitest"
)

// previewRanking runs berthctl preview ranking -f with a file of that text.
func previewRanking(t *testing.T, file string, args ...string) clitest.Result {
	t.Helper()
	path := filepath.Join(t.TempDir(), "scenario.yaml")
	if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	return clitest.Run(t.Context(), cli.Options{}, append([]string{"preview", "ranking", "-f", path}, args...)...)
}

const berth = "apiVersion: berth.dev/v1alpha1\n"

// object writes an object; the spec is one line of YAML.
func object(kind, metadata, rest string) string {
	return fmt.Sprintf("---\n%skind: %s\nmetadata: {%s}\n%s\n", berth, kind, metadata, rest)
}

// metric writes a global metric of the range 0..1 with a fixed value.
func metric(name, value string) string {
	return object("GlobalMetric", "name: "+name, "spec: {min: 0, max: 1, provider: {name: "+name+"-provider, metric: x}}") +
		object("GlobalMetricsProvider", "name: "+name+"-provider", "spec: {type: static, static: {metrics: {x: "+value+"}}}")
}

const app = "---\n" + berth + "kind: Application\nmetadata: {name: web}\n"

// krakesExample has the metrics of Krake's documentation, with another apiVersion only.
const krakesExample = `apiVersion: berth.dev/v1alpha1
kind: GlobalMetric
metadata:
  name: heat_demand_zone_1  # name as stored in Krake API (for management purposes)
spec:
  max: 5.0
  min: 0.0
  provider:
    metric: heat_demand_zone_1  # name on the provider
    name: static_provider
---
# Prometheus metrics provider
apiVersion: berth.dev/v1alpha1
kind: GlobalMetricsProvider
metadata:
  name: prometheus_provider
spec:
  type: prometheus  # specify here the type of metrics provider
  prometheus:
    url: http://localhost:9090
---
# Kafka metrics provider
apiVersion: berth.dev/v1alpha1
kind: GlobalMetricsProvider
metadata:
  name: kafka_provider
spec:
  type: kafka
  kafka:
    comparison_column: my_comp_col
    table: my_table
    url: http://localhost:8080
    value_column: my_value_col
---
# Static metrics provider
apiVersion: berth.dev/v1alpha1
kind: GlobalMetricsProvider
metadata:
  name: static_provider
spec:
  type: static
  static:
    metrics:
      heat_demand_zone_1: 3.75
      electricity_cost_1: 0.1
---
apiVersion: berth.dev/v1alpha1
kind: Cluster
metadata: {name: de, labels: {location: DE}}
spec: {metrics: [{name: heat_demand_zone_1, weight: 1}]}
---
apiVersion: berth.dev/v1alpha1
kind: Cluster
metadata: {name: it, labels: {location: IT}}
---
apiVersion: berth.dev/v1alpha1
kind: Application
metadata: {name: web}
spec: {constraints: {clusterLabels: [location is DE], clusterMetrics: [heat_demand_zone_1 >= 3.75]}}
`

func TestRankingOutput(t *testing.T) {
	previewRanking(t, krakesExample, "-o", "json").CheckOutput(t,
		`{"application":"web","ranking":[{"cluster":"de","eligible":true,"reasons":[],"score":0.6818181818181818,"parts":[`+
			`{"name":"heat_demand_zone_1","value":0.75,"weight":1},{"name":"stickiness","value":0,"weight":0.1}]},`+
			`{"cluster":"it","eligible":false,"reasons":["not meeting location is DE","without metric heat_demand_zone_1"],`+
			`"score":0,"parts":[]}]}`+"\n")
	previewRanking(t, krakesExample).CheckOutput(t,
		"APPLICATION   CLUSTER   ELIGIBLE   SCORE    PARTS                                        REASONS\n"+
			"web           de        true       0.6818   heat_demand_zone_1=0.75*1 stickiness=0*0.1   <none>\n"+
			"web           it        false      <none>   <none>                                       not meeting location is DE, without metric heat_demand_zone_1\n")
}

// ranked is what a program reads.
type ranked struct {
	Application string
	Ranking     []struct {
		Cluster  string
		Eligible bool
		Reasons  []string
		Score    float64
		Parts    []struct {
			Name          string
			Value, Weight float64
		}
	}
}

func rankingsOf(t *testing.T, result clitest.Result) []ranked {
	t.Helper()
	if result.Code != 0 {
		t.Fatalf("exit status %d: %s", result.Code, result.Err)
	}
	var answers []ranked
	for decoder := json.NewDecoder(strings.NewReader(result.Out)); decoder.More(); {
		var answer ranked
		if err := decoder.Decode(&answer); err != nil {
			t.Fatal(err)
		}
		answers = append(answers, answer)
	}
	return answers
}

// line writes an answer as "web: a=0.5 b=0.1 -c", with reasons in brackets.
func line(answer ranked) string {
	parts := []string{answer.Application + ":"}
	for _, entry := range answer.Ranking {
		part := "-" + entry.Cluster
		if entry.Eligible {
			part = fmt.Sprintf("%s=%v", entry.Cluster, math.Round(entry.Score*1e4)/1e4)
		}
		if len(entry.Reasons) > 0 {
			part += "[" + strings.Join(entry.Reasons, "; ") + "]"
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, " ")
}

func TestRanking(t *testing.T) {
	cluster := func(name, metrics, rest string) string {
		return object("Cluster", "name: "+name, "spec: {metrics: ["+metrics+"]}\n"+rest)
	}
	two := cluster("a", "{name: load, weight: 1}", "") + cluster("b", "", "") + metric("load", "0.5")
	tests := map[string]struct {
		file string
		args []string
		want []string
	}{
		"metrics before none": {file: two + app, want: []string{"web: a=0.4545 b=0"}},
		"where it runs": {
			file: two + app + "status: {scheduledTo: a, lastPlacementTime: now}", want: []string{"web: a=0.5455 b=0"},
		},
		"metrics before stickiness": {file: two + app + "status: {scheduledTo: b}", want: []string{"web: a=0.4545 b=0.1"}},
		"its own stickiness": {
			file: two + app + "spec: {stickiness: {weight: 1, value: 0.5}}\nstatus: {scheduledTo: a}",
			want: []string{"web: a=0.5 b=0"},
		},
		"the stickiness of all": {
			file: two + app + "status: {scheduledTo: a}", args: []string{"--stickiness-weight", "4", "--stickiness-value", "0.25"},
			want: []string{"web: a=0.3 b=0"},
		},
		"offline": {
			file: cluster("a", "", `status: {conditions: [{type: Online, status: "False"}]}`) + cluster("b", "", "") + app,
			want: []string{"web: b=0 -a[offline]"},
		},
		"being deleted": {
			file: object("Cluster", `name: a, deletionTimestamp: "2026-01-01T00:00:00Z"`, "") + app,
			want: []string{"web: -a[being deleted]"},
		},
		"an unknown metric": {
			file: cluster("a", "{name: load, weight: 1}", "") + cluster("b", "{name: cost, weight: 1}", "") + metric("cost", "0") + app,
			want: []string{"web: b=0 a=0[metric load: UnknownMetric]"},
		},
		"an unknown provider": {
			file: cluster("a", "{name: load, weight: 1}", "") +
				object("GlobalMetric", "name: load", "spec: {min: 0, max: 1, provider: {name: p}}") + app,
			want: []string{"web: a=0[metric load: UnknownProvider]"},
		},
		"a value out of range": {
			file: cluster("a", "{name: load, weight: 1}", "") + metric("load", "1.5") + app,
			want: []string{"web: a=0[metric load: OutOfRange]"},
		},
		"a provider that died keeps the last value where it runs": {
			file: cluster("a", "{name: load, weight: 1}", "status: {metrics: [{name: load, value: 0.9, normalized: 0.9}]}") +
				cluster("b", "{name: cost, weight: 1}", "") + metric("cost", "0.8") + app + "status: {scheduledTo: a}",
			want: []string{"web: a=0.9091[metric load: UnknownMetric] b=0.7273"},
		},
		"a provider that died keeps the last score where it runs": {
			file: cluster("a", "{name: load, weight: 1}", "") + cluster("b", "{name: cost, weight: 1}", "") + metric("cost", "0.6") +
				app + "status: {scheduledTo: a, score: 0.7}",
			want: []string{"web: a=0.7[metric load: UnknownMetric] b=0.5455"},
		},
		"a provider that is not asked": {
			file: cluster("a", "{name: load, weight: 1}", "status: {metrics: [{name: load, value: 5, normalized: 0.5}]}") +
				object("GlobalMetric", "name: load", "spec: {min: 0, max: 10, provider: {name: p}}") +
				object("GlobalMetricsProvider", "name: p", "spec: {type: prometheus, prometheus: {url: 'http://p'}}") +
				app + "spec: {constraints: {clusterMetrics: [load = 5]}}",
			want: []string{"web: a=0.4545"},
		},
		"a lower value that is better, and was observed": {
			file: cluster("a", "{name: load, weight: 1}", "status: {metrics: [{name: load, value: 2}]}") +
				object("GlobalMetric", "name: load", "spec: {min: 0, max: 10, direction: LowerIsBetter, provider: {name: p}}") +
				object("GlobalMetricsProvider", "name: p", "spec: {type: prometheus, prometheus: {url: 'http://p'}}") + app,
			want: []string{"web: a=0.7273"},
		},
		"weights of its own": {
			file: cluster("a", "{name: load, weight: 1}, {name: cost, weight: 1}", "") + metric("load", "0") + metric("cost", "0.8") +
				app + "spec: {metrics: [{name: cost, weight: 3}]}",
			want: []string{"web: a=0.7742"},
		},
		"metrics of a namespace": {
			file: cluster("a", "{name: load, namespace: team, weight: 1}", "") +
				object("Metric", "name: load, namespace: team", "spec: {min: 0, max: 1, provider: {name: p}}") +
				object("MetricsProvider", "name: p, namespace: team", "spec: {type: static, static: {metrics: {load: 0.5}}}") +
				object("Application", "name: ours, namespace: team", "") + object("Application", "name: theirs", ""),
			want: []string{
				"ours: a=0.4545", "theirs: a=0[metric load: it is of namespace team and does not count in default]",
			},
		},
		"numbers and custom resources": {
			file: object("Cluster", "name: a", "spec: {serverPrice: 9, flavors: [{flavorID: large, totalCapacity: 3}], customResources: [a.b]}") +
				object("Cluster", "name: b", "spec: {serverPrice: 11}") +
				app + "spec: {constraints: {clusterMetrics: [serverPrice <= 10, flavor.large >= 3], customResources: [a.b]}}",
			want: []string{"web: a=0 -b[without custom resource a.b; not meeting serverPrice lesser than or equal 10; without metric flavor.large]"},
		},
		"no cluster": {file: app, want: []string{"web:"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, answer := range rankingsOf(t, previewRanking(t, tc.file, append(tc.args, "-o", "json")...)) {
				got = append(got, line(answer))
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestRankingRefuses(t *testing.T) {
	valid := object("Cluster", "name: a", "")
	tests := map[string]struct {
		file string
		args []string
		want string
	}{
		"an empty file":          {file: "", want: "there is no Application in it"},
		"no application":         {file: valid, want: "there is no Application in it"},
		"another kind":           {file: app + "---\napiVersion: v1\nkind: Pod\nmetadata: {name: a}", want: `document 2: v1 "Pod" does not belong`},
		"another version":        {file: "apiVersion: berth.dev/v2\nkind: Cluster\nmetadata: {name: a}", want: "berth.dev/v2"},
		"a file of Krake":        {file: "api: core\nkind: GlobalMetric\nmetadata: {name: a}", want: "berthctl convert"},
		"no name":                {file: berth + "kind: Cluster", want: "metadata.name is missing"},
		"an unknown field":       {file: object("Cluster", "name: a", "spec: {mertics: []}"), want: `unknown field "mertics"`},
		"an unknown field above": {file: object("Cluster", "name: a", "sepc: {}"), want: `unknown field "sepc"`},
		"the same object twice":  {file: valid + valid + app, want: `document 2: Cluster "a" is already in document 1`},
		"weight 0":               {file: object("Cluster", "name: a", "spec: {metrics: [{name: m, weight: 0}]}"), want: "spec.metrics[0].weight"},
		"a negative weight":      {file: object("Cluster", "name: a", "spec: {metrics: [{name: m, weight: -1}]}"), want: "spec.metrics[0].weight"},
		"no weight":              {file: object("Cluster", "name: a", "spec: {metrics: [{name: m}]}"), want: "spec.metrics[0].weight"},
		"min equal to max": {
			file: object("GlobalMetric", "name: m", "spec: {min: 1, max: 1, provider: {name: p}}"), want: "min must be less than max",
		},
		"no max":       {file: object("Metric", "name: m", "spec: {min: 1, provider: {name: p}}"), want: "spec.max is missing"},
		"1e400":        {file: object("Metric", "name: m", "spec: {min: 1, max: 1e400, provider: {name: p}}"), want: "document 1"},
		"not a number": {file: metric("m", ".nan") + app, want: "document 2"},
		"a type of provider": {
			file: object("MetricsProvider", "name: p", "spec: {type: influx}"), want: "must be prometheus, kafka or static",
		},
		"two sections": {
			file: object("MetricsProvider", "name: p", "spec: {type: static, static: {metrics: {}}, prometheus: {url: a}}"),
			want: "the section static must be there, and no other one",
		},
		"a wrong constraint": {
			file: app + "spec: {constraints: {clusterLabels: [location > DE]}}",
			want: `document 1: Application "web": spec.constraints.clusterLabels[0]: constraint "location > DE": column 10`,
		},
		"a constraint of 10 kB": {
			file: app + "spec: {constraints: {clusterMetrics: ['" + strings.Repeat("load", 2500) + " < 5']}}", want: "at most 1024 characters",
		},
		"a negative stickiness":    {file: app + "spec: {stickiness: {weight: -1}}", want: "spec.stickiness.weight"},
		"an unknown way to move":   {file: app + "spec: {migration: Always}", want: "spec.migration: must be StartFirst or Never"},
		"a flag below 0":           {file: app, args: []string{"--stickiness-weight", "-1"}, want: "--stickiness-weight must be from 0"},
		"a flag that is no number": {file: app, args: []string{"--stickiness-value", "NaN"}, want: "--stickiness-value must be from 0"},
		"a wrong type":             {file: app + "spec: {constraints: {clusterLabels: location}}", want: "spec.constraints.clusterLabels"},
		"a cluster as an object":   {file: app + "status: {scheduledTo: {name: a}}", want: "status.scheduledTo"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			previewRanking(t, tc.file, tc.args...).CheckFailed(t, tc.want)
		})
	}
}
