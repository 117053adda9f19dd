// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package application_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/controllers/application"
	"berth.dev/berth/pkg/placement/rank"
)

// drawCluster returns a Cluster that has, or has not, a metric of each of two namespaces.
func drawCluster(t *rapid.T, name string) *berthv1alpha1.Cluster {
	c := cluster(name, rapid.Float64Range(0, 1).Draw(t, "value"))
	c.Spec.Drain = rapid.Bool().Draw(t, "drained")
	for _, namespace := range rapid.SliceOfDistinct(rapid.SampledFrom([]string{"red", "blue"}), rapid.ID[string]).Draw(t, "of namespaces") {
		c.Spec.Metrics = append(c.Spec.Metrics, berthv1alpha1.MetricReference{Name: "own", Namespace: namespace, Weight: 1})
	}
	return c
}

// Whatever becomes of the Clusters, an Application chooses from what they are now, as if nothing
// had been remembered.
func TestCandidatesAreThoseOfNow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		now := map[string]*berthv1alpha1.Cluster{}
		r := application.New(application.Options{Clusters: func() []*berthv1alpha1.Cluster {
			return slices.Collect(maps.Values(now))
		}})
		name := rapid.SampledFrom([]string{"berlin", "madrid", "rome"})
		for range rapid.IntRange(1, 20).Draw(t, "steps") {
			switch at := name.Draw(t, "cluster"); rapid.IntRange(0, 3).Draw(t, "what") {
			case 0:
				delete(now, at)
			case 1:
				now[at] = drawCluster(t, at)
			}
			app := &berthv1alpha1.Application{}
			app.Namespace = rapid.SampledFrom([]string{"red", "blue", "green"}).Draw(t, "namespace")
			if rapid.Bool().Draw(t, "weighs") {
				app.Spec.Metrics = []berthv1alpha1.MetricReference{{Name: "own", Namespace: app.Namespace, Weight: 3}}
			}
			got := slices.Clone(r.Candidates(app))
			slices.SortFunc(got, func(a, b rank.Candidate) int { return strings.Compare(a.Name, b.Name) })
			want := []rank.Candidate{}
			for _, at := range slices.Sorted(maps.Keys(now)) {
				want = append(want, rank.ApplicationCandidate(now[at], app))
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("candidates in %s (-want +got)\n%s", app.Namespace, diff)
			}
		}
	})
}
