// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package rank_test

import (
	"errors"
	"math"
	"testing"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/placement/rank"
)

func TestNormalizeMetric(t *testing.T) {
	const low, clamp = berthv1alpha1.LowerIsBetter, berthv1alpha1.ClampOutOfRange
	tests := map[string]struct {
		value      float64
		direction  berthv1alpha1.MetricDirection
		outOfRange berthv1alpha1.OutOfRangeAction
		want       float64
		wantErr    bool
	}{
		"higher is better":         {value: 7.5, want: 0.75},
		"lower is better":          {value: 7.5, direction: low, want: 0.25},
		"too high":                 {value: 11, wantErr: true},
		"too high, cut off":        {value: 11, outOfRange: clamp, want: 1},
		"too low, cut off":         {value: -1, outOfRange: clamp, want: 0},
		"too low, lower is better": {value: -1, direction: low, outOfRange: clamp, want: 1},
		"no number":                {value: math.NaN(), outOfRange: clamp, wantErr: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			spec := &berthv1alpha1.MetricSpec{Min: 0, Max: 10, Direction: tc.direction, OutOfRange: tc.outOfRange}
			got, err := rank.NormalizeMetric(tc.value, spec)
			if got != tc.want || (err != nil) != tc.wantErr {
				t.Errorf("NormalizeMetric() = %v, %v, want %v", got, err, tc.want)
			}
		})
	}
}

// A value out of range makes its metric count 0, and leaves the others as they are.
func TestAMetricOutOfRange(t *testing.T) {
	value := 0.8
	cluster := &berthv1alpha1.Cluster{}
	cluster.Name = "berlin"
	cluster.Spec.Metrics = []berthv1alpha1.MetricReference{{Name: "load", Weight: 1}, {Name: "green", Weight: 3}}
	cluster.Status.Metrics = []berthv1alpha1.MetricSample{
		{Name: "load", Value: &value, Normalized: &value, Reason: berthv1alpha1.ReasonOutOfRange},
		{Name: "green", Value: &value, Normalized: &value},
	}
	for current, want := range map[string]float64{"madrid": 0.6, "berlin": 0.8} {
		result := rank.Rank(&rank.Query{Current: current}, []rank.Candidate{rank.ClusterCandidate(cluster, "shop")})[0]
		if math.Abs(result.Score-want) > 1e-9 || !result.Measured {
			t.Errorf("running in %s, berlin has the score %v, measured: %t, want %v", current, result.Score, result.Measured, want)
		}
	}
}

func TestAnApplicationWeighsMetricsForItself(t *testing.T) {
	low, high := 0.2, 0.8
	cluster := &berthv1alpha1.Cluster{}
	cluster.Name = "berlin"
	cluster.Spec.Metrics = []berthv1alpha1.MetricReference{{Name: "load", Weight: 1}, {Name: "green", Weight: 1}}
	cluster.Status.Metrics = []berthv1alpha1.MetricSample{
		{Name: "load", Value: &low, Normalized: &low}, {Name: "green", Value: &high, Normalized: &high},
	}
	cluster.Spec.Metrics = append(cluster.Spec.Metrics, berthv1alpha1.MetricReference{Name: "other", Namespace: "else"})
	app := &berthv1alpha1.Application{}
	if got := rank.ApplicationCandidate(cluster, app).Remarks; len(got) != 1 {
		t.Errorf("without weights of its own the remarks are %q, want one on the metric that does not count", got)
	}
	score := func() float64 {
		return rank.Rank(&rank.Query{}, []rank.Candidate{rank.ApplicationCandidate(cluster, app)})[0].Score
	}
	if got := score(); math.Abs(got-0.5) > 1e-9 {
		t.Errorf("without weights of its own the score is %v, want 0.5", got)
	}
	app.Spec.Metrics = []berthv1alpha1.MetricReference{{Name: "green", Weight: 2}}
	if got := score(); math.Abs(got-0.8) > 1e-9 {
		t.Errorf("with weights of its own the score is %v, want 0.8", got)
	}
}

// Where an application runs in a cluster that does not list a metric that it weighs, there is no
// value to wait for, and the last score is that of other metrics.
func TestAnApplicationWeighsAMetricThatItsClusterDoesNotList(t *testing.T) {
	high := 0.6
	unlisted, listed := &berthv1alpha1.Cluster{}, &berthv1alpha1.Cluster{}
	unlisted.Name, listed.Name = "berlin", "madrid"
	listed.Spec.Metrics = []berthv1alpha1.MetricReference{{Name: "green", Weight: 1}}
	listed.Status.Metrics = []berthv1alpha1.MetricSample{{Name: "green", Value: &high, Normalized: &high}}
	app := &berthv1alpha1.Application{}
	app.Spec.Metrics = []berthv1alpha1.MetricReference{{Name: "green", Weight: 2}}
	candidates := []rank.Candidate{rank.ApplicationCandidate(unlisted, app), rank.ApplicationCandidate(listed, app)}
	for name, last := range map[string]*float64{"no last score": nil, "a last score of others": new(0.9)} {
		t.Run(name, func(t *testing.T) {
			results := rank.Rank(&rank.Query{Current: "berlin", LastScore: last, Stickiness: &rank.DefaultStickiness}, candidates)
			if got := names(results); got != "madrid berlin" {
				t.Errorf("ranked %q, want \"madrid berlin\"", got)
			}
			const says = "metric green: it is not listed there"
			if got := results[1].Problems; len(got) != 1 || got[0] != says {
				t.Errorf("berlin has the problems %q, want %q", got, says)
			}
		})
	}
}

// A metric that counts for nothing and is out of range is no score at all.
func TestAMetricOutOfRangeWithoutWeight(t *testing.T) {
	out := rank.Metric{Name: "load", Rejected: true, Freshness: rank.Fresh}
	result := rank.Rank(&rank.Query{}, []rank.Candidate{{Name: "berlin", Metrics: []rank.Metric{out}}})[0]
	if result.Measured || result.Score != 0 {
		t.Errorf("the score is %v, measured: %t, want none", result.Score, result.Measured)
	}
}

func TestNormalizeAllowedValues(t *testing.T) {
	tests := map[string]struct {
		value   float64
		allowed []int64
		want    float64
		wantErr error
	}{
		"none are listed":           {value: 3, want: 0.75},
		"the only one":              {value: 2, allowed: []int64{2}, want: 0.5},
		"another than the only one": {value: 3, allowed: []int64{2}, wantErr: rank.ErrNotAllowed},
		"one of several":            {value: 1, allowed: []int64{1, 2}, want: 0.25},
		"between two":               {value: 1.5, allowed: []int64{1, 2}, wantErr: rank.ErrNotAllowed},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := rank.Normalize(tc.value, 0, 4, tc.allowed)
			if got != tc.want || !errors.Is(err, tc.wantErr) {
				t.Errorf("Normalize() = %v, %v, want %v, %v", got, err, tc.want, tc.wantErr)
			}
		})
	}
}
