// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package rank_test

import (
	"encoding/json"
	"errors"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"berth.dev/berth/pkg/placement/rank"
)

func read(t *testing.T, name string, into any) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

// Krake leaves the weight of the stickiness out of the denominator where the stickiness is 0; its
// documentation, which Berth follows, does not. So the rows of places that are not the current one
// are scores of clouds, which have no stickiness, and the documented formula is checked beside
// them.
func TestScoresOfKrake(t *testing.T) {
	var file struct {
		Cases []struct {
			Name    string
			Metrics []struct{ V, W float64 }
			Current bool
			Want    any
		}
	}
	read(t, "scoring.json", &file)
	for _, row := range file.Cases {
		want, isNumber := row.Want.(float64)
		if !isNumber {
			// Weights of 0 crash Krake; no Metric of Berth has one.
			continue
		}
		var metrics []rank.Part
		sum, weights := 0.0, 0.0
		for _, m := range row.Metrics {
			metrics = append(metrics, rank.Part{Name: "m", Value: m.V, Weight: m.W})
			sum, weights = sum+m.V*m.W, weights+m.W
		}
		sticky := &rank.DefaultStickiness
		if !row.Current {
			sticky = nil
			documented := sum / (weights + rank.DefaultStickiness.Weight)
			if got, _ := rank.Score(metrics, &rank.DefaultStickiness, false); !near(got, documented) {
				t.Errorf("%s: with stickiness 0 the score is %v, want %v", row.Name, got, documented)
			}
		}
		if got, _ := rank.Score(metrics, sticky, row.Current); !near(got, want) {
			t.Errorf("%s: score %v, want %v", row.Name, got, want)
		}
	}
}

// place is a cluster, cloud or project of the tables.
type place struct {
	Metrics []struct {
		Name string
		W    float64
	}
}

func candidatesOf(places map[string]place, values map[string]float64) []rank.Candidate {
	var candidates []rank.Candidate
	for _, name := range slices.Sorted(maps.Keys(places)) {
		c := rank.Candidate{Name: name}
		for _, m := range places[name].Metrics {
			metric := missing(m.Name)
			if value, found := values[m.Name]; found {
				metric = fresh(m.Name, value, m.W)
			}
			c.Metrics = append(c.Metrics, metric)
		}
		candidates = append(candidates, c)
	}
	return candidates
}

func TestSelectionOfKrake(t *testing.T) {
	var file struct {
		Selection []struct {
			Name     string
			Clusters json.RawMessage
			Values   map[string]float64
			App      struct {
				ScheduledTo string `json:"scheduled_to"`
			}
			Want    any
			Suggest string
		}
	}
	read(t, "selection_application.json", &file)
	checked := 0
	for _, row := range file.Selection {
		var places map[string]place
		want, isName := row.Want.(string)
		if !isName || json.Unmarshal(row.Clusters, &places) != nil || places["other_ns"].Metrics != nil {
			// Told in words, or about the namespaces of clusters, which Berth's do not have.
			continue
		}
		if row.Suggest != "" {
			// "keep the current cluster": a provider that fails is no reason to leave a healthy
			// cluster.
			want = row.App.ScheduledTo
		}
		request := &rank.Query{UID: "u", Current: row.App.ScheduledTo, Stickiness: &rank.DefaultStickiness}
		if got := rank.Rank(request, candidatesOf(places, row.Values))[0]; got.Name != want || !got.Eligible {
			t.Errorf("%s: chose %s, want %s", row.Name, got.Name, want)
		}
		checked++
	}
	if checked < 5 {
		t.Errorf("only %d rows were checked", checked)
	}
}

func TestOneAmongMany(t *testing.T) {
	var marked, deleted []rank.Candidate
	for i := range 100 {
		location := "IT"
		unavailable := ""
		if i != 42 {
			location, unavailable = string(rune('a'+i%26)), rank.BeingDeleted
		}
		name := string(rune('a'+i/26)) + string(rune('a'+i%26))
		marked = append(marked, rank.Candidate{Name: name, Labels: map[string]string{"location": location}})
		deleted = append(deleted, rank.Candidate{Name: name, Unavailable: unavailable})
	}
	request := &rank.Query{Constraints: rank.Constraints{Labels: labels(t, "location is IT")}}
	for name, results := range map[string][]rank.Ranked{
		"by label": rank.Rank(request, marked), "not deleted": rank.Rank(&rank.Query{}, deleted),
	} {
		if got, want := names(results), "bq"; got != want {
			t.Errorf("%s: chose %q, want %q", name, got, want)
		}
	}
}

func TestCloudsOfKrake(t *testing.T) {
	type row struct {
		Name             string
		Clouds, Projects json.RawMessage
		Values           map[string]float64
		Want             any
	}
	var file struct {
		CloudSelection  []row `json:"cloud_selection"`
		MagnumSelection []row `json:"magnum_selection"`
	}
	read(t, "cluster_and_magnum.json", &file)
	checked := 0
	for _, r := range append(file.CloudSelection, file.MagnumSelection...) {
		var places map[string]place
		want, isName := r.Want.(string)
		if !isName || json.Unmarshal(append(r.Clouds, r.Projects...), &places) != nil {
			continue
		}
		if got := rank.Rank(&rank.Query{UID: "u"}, candidatesOf(places, r.Values))[0]; got.Name != want {
			t.Errorf("%s: chose %s, want %s", r.Name, got.Name, want)
		}
		checked++
	}
	if checked < 2 {
		t.Errorf("only %d rows were checked", checked)
	}
	// When all metrics fail every cloud has the score 0, and any will do.
	results := rank.Rank(&rank.Query{UID: "u"}, []rank.Candidate{
		{Name: "a", Metrics: []rank.Metric{missing("m")}}, {Name: "b", Metrics: []rank.Metric{missing("m")}},
	})
	for _, r := range results {
		if !r.Eligible || r.Score != 0 {
			t.Errorf("%s: eligible %t with score %v, want an eligible cloud with score 0", r.Name, r.Eligible, r.Score)
		}
	}
}

func TestNormalizeAsKrake(t *testing.T) {
	var file struct {
		Cases []struct {
			Min, Max, Value, Want any
			AllowedValues         []int64 `json:"allowed_values"`
		}
	}
	read(t, "normalize.json", &file)
	for _, row := range file.Cases {
		got, err := rank.Normalize(number(t, row.Value), number(t, row.Min), number(t, row.Max), row.AllowedValues)
		want, isNumber := row.Want.(float64)
		if isNumber != (err == nil) || isNumber && !near(got, want) {
			t.Errorf("%+v: got %v, %v", row, got, err)
		}
	}
}

func number(t *testing.T, value any) float64 {
	t.Helper()
	switch v := value.(type) {
	case float64:
		return v
	case string:
		return map[string]float64{"nan": math.NaN(), "inf": math.Inf(1)}[v]
	}
	t.Fatalf("%v is no number", value)
	return 0
}

func TestNormalizeBounds(t *testing.T) {
	huge := math.MaxFloat64
	tests := map[string]struct {
		value, least, greatest float64
		want                   float64
		wantErr                error
	}{
		"no range":           {value: 1, least: 1, greatest: 1, wantErr: rank.ErrEmptyRange},
		"no number as bound": {value: 1, least: math.NaN(), greatest: 1, wantErr: rank.ErrEmptyRange},
		"infinity":           {value: math.Inf(1), least: 0, greatest: math.Inf(1), wantErr: rank.ErrOutOfRange},
		"the widest range":   {value: 0, least: -huge, greatest: huge, want: 0.5},
		"its lower end":      {value: -huge, least: -huge, greatest: huge, want: 0},
		"its upper end":      {value: huge, least: -huge, greatest: huge, want: 1},
	}
	for name, tc := range tests {
		got, err := rank.Normalize(tc.value, tc.least, tc.greatest, nil)
		if !errors.Is(err, tc.wantErr) || got != tc.want {
			t.Errorf("%s: got %v, %v", name, got, err)
		}
	}
}
