// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package rank_test

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"berth.dev/berth/pkg/placement/constraint"
	"berth.dev/berth/pkg/placement/rank"
)

func labels(t *testing.T, texts ...string) []*constraint.Constraint {
	t.Helper()
	return parse(t, constraint.Label, texts)
}

func metrics(t *testing.T, texts ...string) []*constraint.Constraint {
	t.Helper()
	return parse(t, constraint.Metric, texts)
}

func parse(t *testing.T, kind constraint.Kind, texts []string) []*constraint.Constraint {
	t.Helper()
	var list []*constraint.Constraint
	for _, text := range texts {
		c, err := constraint.Parse(kind, text)
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		list = append(list, c)
	}
	return list
}

// fresh returns a metric of the range 0..1.
func fresh(name string, value, weight float64) rank.Metric {
	return rank.Metric{Name: name, Value: value, Normalized: value, Weight: weight, Freshness: rank.Fresh}
}

func stale(name string, value, weight float64) rank.Metric {
	m := fresh(name, value, weight)
	m.Freshness, m.Problem = rank.Stale, "the provider cannot be reached"
	return m
}

func missing(name string) rank.Metric {
	return rank.Metric{Name: name, Weight: 1, Problem: "the provider cannot be reached"}
}

func names(results []rank.Ranked) string {
	var list []string
	for _, r := range results {
		if r.Eligible {
			list = append(list, r.Name)
		}
	}
	return strings.Join(list, " ")
}

// orders are requests with the places in the order wanted.
type orders map[string]struct {
	request    rank.Query
	candidates []rank.Candidate
	want       string
}

func (o orders) check(t *testing.T) {
	t.Helper()
	for name, tc := range o {
		t.Run(name, func(t *testing.T) {
			tc.request.Stickiness = &rank.DefaultStickiness
			tc.request.UID = "c"
			results := rank.Rank(&tc.request, tc.candidates)
			if got := names(results); got != tc.want {
				t.Errorf("order %q, want %q", got, tc.want)
			}
			if len(results) != len(tc.candidates) {
				t.Errorf("%d results for %d candidates", len(results), len(tc.candidates))
			}
		})
	}
}

func TestRankOrder(t *testing.T) {
	orders{
		"the highest score wins": {
			candidates: []rank.Candidate{
				{Name: "a", Metrics: []rank.Metric{fresh("load", 0.2, 1)}},
				{Name: "b", Metrics: []rank.Metric{fresh("load", 0.9, 1)}},
				{Name: "c", Metrics: []rank.Metric{fresh("load", 0.5, 1)}},
			},
			want: "b c a",
		},
		"a cluster with a metric of 0 comes before one without metrics": {
			candidates: []rank.Candidate{{Name: "a"}, {Name: "b", Metrics: []rank.Metric{fresh("load", 0, 1)}}},
			want:       "b a",
		},
		"metrics come before stickiness": {
			request: rank.Query{Current: "a"},
			candidates: []rank.Candidate{
				{Name: "a"}, {Name: "b", Metrics: []rank.Metric{fresh("load", 0, 1)}},
			},
			want: "b a",
		},
		"stickiness holds against a small gain": {
			request: rank.Query{Current: "a"},
			candidates: []rank.Candidate{
				{Name: "a", Metrics: []rank.Metric{fresh("load", 0.5, 1)}},
				{Name: "b", Metrics: []rank.Metric{fresh("load", 0.59, 1)}},
			},
			want: "a b",
		},
		"stickiness gives way to a large gain": {
			request: rank.Query{Current: "a"},
			candidates: []rank.Candidate{
				{Name: "a", Metrics: []rank.Metric{fresh("load", 0.5, 1)}},
				{Name: "b", Metrics: []rank.Metric{fresh("load", 0.61, 1)}},
			},
			want: "b a",
		},
		"without metrics the current one stays": {
			request:    rank.Query{Current: "b"},
			candidates: []rank.Candidate{{Name: "a"}, {Name: "b"}, {Name: "c"}},
			want:       "b a c",
		},
	}.check(t)
}

func TestRankOrderWhenMetricsFail(t *testing.T) {
	half := 0.5
	orders{
		"a provider that died does not move what runs": {
			request: rank.Query{Current: "a"},
			candidates: []rank.Candidate{
				{Name: "a", Metrics: []rank.Metric{stale("load", 0.8, 1)}},
				{Name: "b", Metrics: []rank.Metric{fresh("load", 0.7, 1)}},
			},
			want: "a b",
		},
		"an old value attracts nothing": {
			candidates: []rank.Candidate{
				{Name: "a", Metrics: []rank.Metric{stale("load", 0.8, 1)}},
				{Name: "b", Metrics: []rank.Metric{fresh("load", 0.1, 1)}},
			},
			want: "b a",
		},
		"the last score counts when there is no value": {
			request: rank.Query{Current: "a", LastScore: &half},
			candidates: []rank.Candidate{
				{Name: "a", Metrics: []rank.Metric{missing("load")}},
				{Name: "b", Metrics: []rank.Metric{fresh("load", 0.4, 1)}},
				{Name: "c"},
			},
			want: "a b c",
		},
		"a better one beats the last score": {
			request: rank.Query{Current: "a", LastScore: &half},
			candidates: []rank.Candidate{
				{Name: "a", Metrics: []rank.Metric{missing("load")}},
				{Name: "b", Metrics: []rank.Metric{fresh("load", 0.9, 1)}},
			},
			want: "b a",
		},
		"with nothing known at all it stays": {
			request: rank.Query{Current: "a"},
			candidates: []rank.Candidate{
				{Name: "a", Metrics: []rank.Metric{missing("load")}},
				{Name: "b", Metrics: []rank.Metric{fresh("load", 0.9, 1)}},
			},
			want: "a b",
		},
		"it leaves a cluster that is offline": {
			request: rank.Query{Current: "a"},
			candidates: []rank.Candidate{
				{Name: "a", Unavailable: rank.Offline, Metrics: []rank.Metric{missing("load")}},
				{Name: "b"},
			},
			want: "b",
		},
		"some of several metrics are none": {
			candidates: []rank.Candidate{
				{Name: "a", Metrics: []rank.Metric{fresh("load", 1, 1), missing("price")}},
				{Name: "b", Metrics: []rank.Metric{fresh("load", 0.1, 1)}},
			},
			want: "b a",
		},
		"not a number never gets in": {
			candidates: []rank.Candidate{
				{Name: "a", Metrics: []rank.Metric{fresh("load", math.NaN(), 1)}},
				{Name: "b", Metrics: []rank.Metric{fresh("load", 0.1, 1)}},
				{Name: "c", Metrics: []rank.Metric{fresh("load", 1, 0), fresh("more", 1, math.Inf(1))}},
			},
			want: "b a c",
		},
	}.check(t)
}

func TestRankRejections(t *testing.T) {
	de := map[string]string{"location": "DE"}
	tests := map[string]struct {
		constraints rank.Constraints
		current     string
		candidate   rank.Candidate
		want        []string
	}{
		"nothing asked": {},
		"offline":       {candidate: rank.Candidate{Unavailable: rank.Offline}, want: []string{"offline"}},
		"cordoned":      {candidate: rank.Candidate{Cordoned: true}, want: []string{"cordoned"}},
		"drained":       {candidate: rank.Candidate{Cordoned: true, Unavailable: rank.Drained}, want: []string{"being drained"}},
		"a label": {
			constraints: rank.Constraints{Labels: labels(t, "location is DE")}, candidate: rank.Candidate{Labels: de},
		},
		"another label": {
			constraints: rank.Constraints{Labels: labels(t, "location is not DE")}, candidate: rank.Candidate{Labels: de},
			want: []string{"not meeting location is not DE"},
		},
		"no label": {
			constraints: rank.Constraints{Labels: labels(t, "tier != gold")}, candidate: rank.Candidate{Labels: de},
			want: []string{"without label tier"},
		},
		"a custom resource": {
			constraints: rank.Constraints{CustomResources: []string{"crontabs.stable.example.com"}},
			candidate:   rank.Candidate{CustomResources: []string{"crontabs.stable.example.com"}},
		},
		"no custom resource": {
			constraints: rank.Constraints{CustomResources: []string{"crontabs.stable.example.com"}},
			candidate:   rank.Candidate{CustomResources: []string{"crontabs"}},
			want:        []string{"without custom resource crontabs.stable.example.com"},
		},
		"the value of the provider is compared, not its weight or its share": {
			constraints: rank.Constraints{Metrics: metrics(t, "load = 5", "load > 4.99")},
			candidate: rank.Candidate{Metrics: []rank.Metric{
				{Name: "load", Value: 5, Normalized: 0.5, Weight: 3, Freshness: rank.Fresh},
			}},
		},
		"no metric": {
			constraints: rank.Constraints{Metrics: metrics(t, "load != 5")}, want: []string{"without metric load"},
		},
		"a metric without a value": {
			constraints: rank.Constraints{Metrics: metrics(t, "load != 5")},
			candidate:   rank.Candidate{Metrics: []rank.Metric{missing("load")}},
			want:        []string{"without a value of metric load"},
		},
		"a metric without a value where it runs": {
			constraints: rank.Constraints{Metrics: metrics(t, "load != 5")}, current: "a",
			candidate: rank.Candidate{Metrics: []rank.Metric{missing("load")}},
		},
		"an old value where it runs": {
			constraints: rank.Constraints{Metrics: metrics(t, "load < 0.5")}, current: "a",
			candidate: rank.Candidate{Metrics: []rank.Metric{stale("load", 0.9, 1)}},
			want:      []string{"not meeting load lesser than 0.5"},
		},
		"numbers": {
			constraints: rank.Constraints{Metrics: metrics(t, "serverPrice <= 10", "flavor.large >= 3", "eipCapacity > 0")},
			candidate: rank.Candidate{Numbers: map[string]constraint.Number{
				"serverPrice": constraint.NumberOfInt(10), "flavor.large": constraint.NumberOfInt(2),
			}},
			want: []string{"not meeting flavor.large greater than or equal 3", "without metric eipCapacity"},
		},
		"everything is told": {
			constraints: rank.Constraints{
				Labels: labels(t, "location is DE"), Metrics: metrics(t, "load<5"), CustomResources: []string{"a.b"},
			},
			candidate: rank.Candidate{Unavailable: rank.BeingDeleted},
			want: []string{
				"being deleted", "without label location", "without custom resource a.b", "without metric load",
			},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			tc.candidate.Name = "a"
			got := rank.Rank(&rank.Query{Constraints: tc.constraints, Current: tc.current}, []rank.Candidate{tc.candidate})[0]
			if diff := cmp.Diff(tc.want, got.Rejections); diff != "" {
				t.Errorf("rejections (-want +got)\n%s", diff)
			}
			if got.Eligible != (len(tc.want) == 0) {
				t.Errorf("eligible is %t", got.Eligible)
			}
		})
	}
}

func TestRankExplains(t *testing.T) {
	candidates := []rank.Candidate{
		{Name: "a", Metrics: []rank.Metric{fresh("load", 0.75, 1), stale("price", 0.5, 2)}},
		{Name: "b", Metrics: []rank.Metric{missing("load")}},
		{Name: "c", Unavailable: rank.Offline, Metrics: []rank.Metric{{Name: "load", Weight: 1}, fresh("price", 2, 1)}},
	}
	got := rank.Rank(&rank.Query{UID: "u", Current: "a", Stickiness: &rank.DefaultStickiness}, candidates)
	want := []rank.Ranked{
		{
			Name: "a", Eligible: true, Measured: true, Score: (0.75 + 1 + 0.1) / 3.1,
			Parts:    []rank.Part{{"load", 0.75, 1}, {"price", 0.5, 2}, {"stickiness", 1, 0.1}},
			Problems: []string{"metric price: the provider cannot be reached"},
		},
		{
			Name: "b", Eligible: true, Parts: []rank.Part{{"stickiness", 0, 0.1}},
			Problems: []string{"metric load: the provider cannot be reached"},
		},
		{
			Name: "c", Rejections: []string{"offline"},
			Problems: []string{"metric load: there is no value", "metric price: its weight or value cannot be used"},
		},
	}
	if diff := cmp.Diff(want, got, cmp.Comparer(near)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func near(a, b float64) bool { return math.Abs(a-b) < 1e-12 }

func TestTiesSpread(t *testing.T) {
	candidates := []rank.Candidate{{Name: "a"}, {Name: "b"}, {Name: "c"}}
	chosen := map[string]int{}
	for i := range 300 {
		request := rank.Query{UID: fmt.Sprintf("uid-%d", i)}
		best := rank.Rank(&request, candidates)[0].Name
		chosen[best]++
		slices.Reverse(candidates)
		if again := rank.Rank(&request, candidates)[0].Name; again != best {
			t.Fatalf("the order of the clusters changes the choice from %s to %s", best, again)
		}
	}
	for _, c := range candidates {
		if chosen[c.Name] < 60 {
			t.Errorf("of 300 applications only %d go to %s", chosen[c.Name], c.Name)
		}
	}
}

func TestSummarize(t *testing.T) {
	request := &rank.Query{Constraints: rank.Constraints{Labels: labels(t, "location is DE")}}
	candidates := []rank.Candidate{{Name: "x"}, {Name: "y"}}
	for i := range 3 {
		candidates = append(candidates, rank.Candidate{Name: strconv.Itoa(i), Unavailable: rank.Offline})
	}
	if got, want := rank.Summarize(rank.Rank(request, candidates)), "3 offline, 2 without label location"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	candidates = append(candidates, rank.Candidate{Name: "z", Labels: map[string]string{"location": "DE"}})
	if got := rank.Summarize(rank.Rank(request, candidates)); got != "" {
		t.Errorf("got %q although one is eligible", got)
	}
	if got := rank.Summarize(nil); got != "" {
		t.Errorf("got %q for no candidates", got)
	}
}

// finiteFloat draws any finite number.
func finiteFloat() *rapid.Generator[float64] {
	return rapid.Float64().Filter(func(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) })
}

func drawCandidates(t *rapid.T) []rank.Candidate {
	weight := rapid.OneOf(rapid.Float64Range(1e-300, 1e300), rapid.Float64Range(0.01, 100), finiteFloat())
	freshness := rapid.SampledFrom([]rank.Freshness{rank.Missing, rank.Stale, rank.Fresh, rank.Fresh})
	var candidates []rank.Candidate
	for i := range rapid.IntRange(1, 6).Draw(t, "candidates") {
		c := rank.Candidate{Name: fmt.Sprintf("c%d", i)}
		for j := range rapid.IntRange(0, 3).Draw(t, "metrics") {
			value := rapid.OneOf(rapid.Float64Range(0, 1), rapid.Float64()).Draw(t, "value")
			c.Metrics = append(c.Metrics, rank.Metric{
				Name: fmt.Sprintf("m%d", j), Value: value, Normalized: value,
				Weight: weight.Draw(t, "weight"), Freshness: freshness.Draw(t, "freshness"),
			})
		}
		candidates = append(candidates, c)
	}
	return candidates
}

func TestScoresAreFinite(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		request := &rank.Query{
			UID: "u", Current: rapid.SampledFrom([]string{"", "c0", "c1"}).Draw(t, "current"),
			Stickiness: &rank.Stickiness{
				Value: finiteFloat().Draw(t, "sticky value"), Weight: math.Abs(finiteFloat().Draw(t, "sticky weight")),
			},
		}
		for _, r := range rank.Rank(request, drawCandidates(t)) {
			if math.IsNaN(r.Score) || math.IsInf(r.Score, 0) {
				t.Fatalf("score %v of %+v", r.Score, r)
			}
		}
	})
}

func TestScoresOfMetricsStayBetween0And1(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		for _, r := range rank.Rank(&rank.Query{UID: "u", Current: "c0", Stickiness: &rank.DefaultStickiness}, drawCandidates(t)) {
			if r.Score < 0 || r.Score > 1+1e-9 {
				t.Fatalf("score %v of %+v", r.Score, r)
			}
		}
	})
}

// A change of metrics within the band of the stickiness moves nothing.
func TestStickinessBand(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		weight := rapid.Float64Range(0.1, 10).Draw(t, "weight")
		here := rapid.Float64Range(0, 0.9).Draw(t, "here")
		band := (1 * rank.DefaultStickiness.Weight) / weight
		there := min(1, here+rapid.Float64Range(0, 0.999).Draw(t, "gain")*band)
		results := rank.Rank(&rank.Query{UID: "u", Current: "a", Stickiness: &rank.DefaultStickiness}, []rank.Candidate{
			{Name: "a", Metrics: []rank.Metric{fresh("m", here, weight)}},
			{Name: "b", Metrics: []rank.Metric{fresh("m", there, weight)}},
		})
		if results[0].Name != "a" {
			t.Fatalf("it moves from %v to %v with weight %v", here, there, weight)
		}
	})
}

func BenchmarkRank(b *testing.B) {
	var candidates []rank.Candidate
	for i := range 200 {
		c := rank.Candidate{Name: fmt.Sprintf("cluster-%d", i), Labels: map[string]string{"location": "DE"}}
		for j := range 5 {
			c.Metrics = append(c.Metrics, fresh(fmt.Sprintf("m%d", j), float64(i*j%97)/97, 1))
		}
		candidates = append(candidates, c)
	}
	load, err := constraint.Parse(constraint.Metric, "m1 < 0.9")
	if err != nil {
		b.Fatal(err)
	}
	location, err := constraint.Parse(constraint.Label, "location is DE")
	if err != nil {
		b.Fatal(err)
	}
	request := &rank.Query{UID: "u", Current: "cluster-7", Stickiness: &rank.DefaultStickiness, Constraints: rank.Constraints{
		Labels: []*constraint.Constraint{location}, Metrics: []*constraint.Constraint{load},
	}}
	for b.Loop() {
		rank.Rank(request, candidates)
	}
}
