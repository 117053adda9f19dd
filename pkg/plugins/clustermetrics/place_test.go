// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package clustermetrics_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/plugins/clustermetrics"
	"berth.dev/berth/pkg/plugintest"
)

func TestConstraintsOfAPod(t *testing.T) {
	berlin := measure(site("berlin", "location", "DE", "tier", "1"), "load", 3)
	berlin.Spec.CustomResources = []string{"bananas.fruit.example"}
	berlin.Spec.ServerPrice = 8
	madrid := measure(site("madrid", "location", "ES"), "load", 7)
	lisbon := online(site("lisbon", "location", "PT"), metav1.ConditionFalse)
	tests := map[string]struct {
		annotations []string
		wantSite    string
		wantReasons map[string]int
	}{
		"a label":            {annotations: []string{byLabel, "location is ES"}, wantSite: "madrid"},
		"several labels":     {annotations: []string{byLabel, "location in (DE, ES); tier = 1"}, wantSite: "berlin"},
		"a metric":           {annotations: []string{byMetric, "load > 5"}, wantSite: "madrid"},
		"metrics on lines":   {annotations: []string{byMetric, "load > 1\nload < 5\n"}, wantSite: "berlin"},
		"a number of a spec": {annotations: []string{byMetric, "serverPrice <= 10"}, wantSite: "berlin"},
		"a custom resource":  {annotations: []string{byResource, "bananas.fruit.example"}, wantSite: "berlin"},
		"all kinds together": {annotations: []string{byLabel, "location is DE", byMetric, "load lt 5", byResource, "bananas.fruit.example"}, wantSite: "berlin"},
		"nothing that offers": {annotations: []string{byLabel, "location is PT"}, wantReasons: map[string]int{
			"node(s) in no cluster":                          1,
			"node(s) in clusters not meeting location is PT": 2,
			"node(s) in clusters offline":                    1,
		}},
		"a label that is missing does not match is not": {annotations: []string{byLabel, "tier is not 2", byMetric, "load > 5"}, wantReasons: map[string]int{
			"node(s) in no cluster":                               1,
			"node(s) in clusters not meeting load greater than 5": 1,
			"node(s) in clusters without label tier":              1,
			"node(s) in clusters offline":                         1,
		}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := newSites(t, berlin, madrid, lisbon)
			attempt := s.Try(asking("task", tc.annotations...))
			if got := plugintest.SiteOf(attempt.Node); got != tc.wantSite {
				t.Errorf("the pod goes to %q, want %q: %s", got, tc.wantSite, attempt.Why())
			}
			if tc.wantReasons != nil {
				if diff := cmp.Diff(tc.wantReasons, attempt.Reasons()); diff != "" {
					t.Errorf("reasons (-want +got):\n%s", diff)
				}
			}
		})
	}
}

func TestConstraintsThatCannotBeUnderstood(t *testing.T) {
	tests := map[string]struct {
		annotations []string
		wantText    string
	}{
		"a label constraint":      {[]string{byLabel, "location like DE"}, "annotation berth.dev/cluster-label-constraint: column 10: expected is"},
		"a metric constraint":     {[]string{byMetric, "load < five"}, "annotation berth.dev/cluster-metric-constraint: column 8: expected a number"},
		"the second of a list":    {[]string{byLabel, "location is DE; tier ~ 1"}, "column 22"},
		"one on a second line":    {[]string{byLabel, "location is DE\ntier ~ 1"}, "column 21"},
		"nothing":                 {[]string{byLabel, " ; "}, "column 1: expected a constraint"},
		"too many":                {[]string{byMetric, strings.Repeat("a<1;", 21)}, "column 81: there are more than 20"},
		"too long":                {[]string{byLabel, strings.Repeat("x", 30_000)}, "it has more than 20480 characters"},
		"an unbalanced bracket":   {[]string{byLabel, "location in (DE"}, "column 16"},
		"a script of its own":     {[]string{byLabel, "ort ist 柏林"}, "column 5"},
		"an unknown kind of rank": {[]string{ranking, "price"}, `annotation berth.dev/cluster-ranking: expected "metrics", found "price"`},
	}
	s := newSites(t, site("berlin"))
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			attempt := s.Try(asking("task", tc.annotations...))
			if attempt.Fit == nil || !strings.Contains(attempt.Why(), tc.wantText) {
				t.Errorf("the pod is told %q, want %q", attempt.Why(), tc.wantText)
			}
		})
	}
}

func TestConstraintsOfAPolicy(t *testing.T) {
	tests := map[string]struct {
		constraints berthv1alpha1.ClusterConstraints
		wantSite    string
		wantWhy     string
	}{
		"a label":      {berthv1alpha1.ClusterConstraints{ClusterLabels: []string{"location is ES"}}, "madrid", ""},
		"a country":    {berthv1alpha1.ClusterConstraints{ClusterLabels: []string{"geoLocation.country is Spain"}}, "madrid", ""},
		"a metric":     {berthv1alpha1.ClusterConstraints{ClusterMetrics: []string{"load lt 5"}}, "berlin", ""},
		"not readable": {berthv1alpha1.ClusterConstraints{ClusterMetrics: []string{"load"}}, "", "constraints of policy web: clusterMetrics[0]: constraint \"load\": column 5"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			madrid := measure(site("madrid", "location", "ES"), "load", 7)
			madrid.Spec.GeoLocation = &berthv1alpha1.GeoLocation{Country: "Spain"}
			s := newSites(t, measure(site("berlin", "location", "DE"), "load", 3), madrid)
			policy := plugintest.MakePolicy("web").Deployment("nginx").Weight(1, "berlin", "madrid").Obj()
			policy.Spec.Placement.Constraints = &tc.constraints
			d := plugintest.Deployment("nginx", 4)
			rs := plugintest.ReplicaSet(d, "v1")
			s.Add(policy, d, rs)
			s.WaitFor("the policy", func() bool { return s.Framework.SignPod(s.Context(), plugintest.MakePodOf(rs, 0).Obj(), false) == nil })
			attempt := s.Try(plugintest.MakePodOf(rs, 0).Obj())
			if got := plugintest.SiteOf(attempt.Node); got != tc.wantSite || !strings.Contains(attempt.Why(), tc.wantWhy) {
				t.Errorf("the pod goes to %q and is told %q, want %q and %q", got, attempt.Why(), tc.wantSite, tc.wantWhy)
			}
		})
	}
}

func TestRanking(t *testing.T) {
	tests := map[string]struct {
		clusters []*berthv1alpha1.Cluster
		running  string
		want     string
	}{
		"the best metric": {
			clusters: []*berthv1alpha1.Cluster{measure(site("a"), "green", 2), measure(site("b"), "green", 8), measure(site("c"), "green", 5)},
			want:     "b",
		},
		"a hair's breadth decides": {
			clusters: []*berthv1alpha1.Cluster{measure(site("a"), "green", 5.0002), measure(site("b"), "green", 5.0001), measure(site("c"), "green", 0)},
			want:     "a",
		},
		"a cluster with metrics comes before one without": {
			clusters: []*berthv1alpha1.Cluster{site("a"), measure(site("b"), "green", 0)},
			want:     "b",
		},
		"siblings hold it while the gain is small": {
			clusters: []*berthv1alpha1.Cluster{measure(site("a"), "green", 5), measure(site("b"), "green", 5.5)},
			running:  "a", want: "a",
		},
		"a large gain is worth another place": {
			clusters: []*berthv1alpha1.Cluster{measure(site("a"), "green", 1), measure(site("b"), "green", 9)},
			running:  "a", want: "b",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := newSites(t, tc.clusters...)
			rs := plugintest.ReplicaSet(plugintest.Deployment("nginx", 3), "v1")
			if tc.running != "" {
				s.Add(plugintest.MakePodOf(rs, 0).Node(tc.running + "-0").Obj())
			}
			attempt := s.Try(plugintest.MakePodOf(rs, 1).Annotation(ranking, "metrics").Obj())
			if got := plugintest.SiteOf(attempt.Node); got != tc.want {
				t.Errorf("the pod goes to %q, want %q: %s", got, tc.want, attempt.Why())
			}
		})
	}
}

func TestWhoIsPlacedInBatches(t *testing.T) {
	s := newSites(t, site("berlin"))
	tests := map[string]struct {
		pod        *corev1.Pod
		wantSigned bool
	}{
		"a pod without constraints":  {asking("plain"), true},
		"a pod with other wishes":    {asking("other", "example.com/note", "x"), true},
		"a pod with a constraint":    {asking("label", byLabel, "location is DE"), false},
		"a pod that asks for a rank": {asking("rank", ranking, "metrics"), false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if gotSigned := s.Framework.SignPod(s.Context(), tc.pod, false) != nil; gotSigned != tc.wantSigned {
				t.Errorf("the profile signs the pod: %t, want %t", gotSigned, tc.wantSigned)
			}
		})
	}
}

func TestPodsWithoutConstraintsCostNothing(t *testing.T) {
	s := newSites(t, site("berlin"))
	plugin := find[*clustermetrics.ClusterMetrics](t, s)
	pod := asking("plain", "example.com/note", "x")
	s.Try(pod)
	nodes, err := s.Framework.SnapshotSharedLister().NodeInfos().List()
	if err != nil {
		t.Fatal(err)
	}
	state, ctx := framework.NewCycleState(), s.Context()
	tests := map[string]func() *fwk.Status{
		"PreFilter": func() *fwk.Status { _, status := plugin.PreFilter(ctx, state, pod, nodes); return status },
		"PreScore":  func() *fwk.Status { return plugin.PreScore(ctx, state, pod, nodes) },
	}
	for name, run := range tests {
		t.Run(name, func(t *testing.T) {
			if status := run(); !status.IsSkip() {
				t.Fatalf("got %v, want Skip", status)
			}
			if got := testing.AllocsPerRun(100, func() { run() }); got != 0 {
				t.Errorf("%v allocations, want none", got)
			}
		})
	}
}
