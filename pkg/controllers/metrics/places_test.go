// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package metrics_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// perPlace returns a metric that asks its provider p another query for each place.
func perPlace(query string) *berthv1alpha1.GlobalMetric {
	m := globalMetric("load", "p")
	m.Spec.Provider.Metric = query
	return m
}

// in returns a Cluster of a zone that lists the metric.
func in(zone, name string) *berthv1alpha1.Cluster {
	c := cluster(name, load())
	if zone != "" {
		c.Labels = map[string]string{"zone": zone}
	}
	return c
}

func values(values map[string]float64) *berthv1alpha1.GlobalMetricsProvider {
	p := staticProvider("p", 0)
	p.Spec.Static.Metrics = values
	return p
}

// available returns the condition of the metric.
func (h *harness) available() string {
	h.t.Helper()
	var m berthv1alpha1.GlobalMetric
	h.get(&m, "load")
	if m.Status.Value != nil {
		h.t.Errorf("the metric itself has the value %v", *m.Status.Value)
	}
	return condition(m.Status.Conditions, "Available")
}

func TestOneValueForEachCluster(t *testing.T) {
	h := newHarness(t, in("x", "a"), in("", "b"), in("y", "c"), cluster("d"),
		perPlace("load-$(cluster)"), values(map[string]float64{"load-a": 1, "load-b": 2, "load-c": 3, "load-d": 4}))
	h.round()
	for name, want := range map[string]string{"a": "0.1 fresh", "b": "0.2 fresh", "c": "0.3 fresh", "d": "none"} {
		if got := h.sample(name); got != want {
			t.Errorf("%s: sample %q, want %q", name, got, want)
		}
	}
	if got, want := h.available(), "True MetricsRead: it has a value for each cluster that lists it"; got != want {
		t.Errorf("condition %q, want %q", got, want)
	}
	h.clock.Step(time.Minute)
	h.round()
	if len(h.writes) > 0 {
		t.Errorf("nothing changed, and there were writes: %v", h.writes)
	}
}

func TestAClusterWithoutTheLabelOfAMetric(t *testing.T) {
	h := newHarness(t, in("x", "a"), in("", "b"), in("z", "c"), perPlace("load-$(labels.zone)"), values(map[string]float64{"load-x": 1}))
	h.round()
	for name, want := range map[string]string{"a": "0.1 fresh", "b": "no value MissingLabel", "c": "no value NoValue"} {
		if got := h.sample(name); got != want {
			t.Errorf("%s: sample %q, want %q", name, got, want)
		}
	}
	if got, want := h.available(), "False MissingLabel: b: there is no label zone, c: the provider has no value for the metric"; got != want {
		t.Errorf("condition %q, want %q", got, want)
	}
	var b berthv1alpha1.Cluster
	h.get(&b, "b")
	if got, want := condition(b.Status.Conditions, "MetricsAvailable"), "False MissingLabel: metric load: MissingLabel"; got != want {
		t.Errorf("condition %q, want %q", got, want)
	}
}

func TestClustersWithTheSameLabelAreAskedForOnce(t *testing.T) {
	prometheus := newServer(t, "5")
	objects := []client.Object{perPlace(`load{zone="$(labels.zone)"}`), prometheusProvider("p", prometheus.url)}
	for i := range 200 {
		objects = append(objects, in(fmt.Sprintf("z%d", i%3), fmt.Sprintf("c%d", i)))
	}
	h := newHarness(t, objects...)
	h.round()
	if got := prometheus.asked.Load(); got != 3 {
		t.Errorf("200 clusters in 3 zones made %d requests, want 3", got)
	}
	if got := h.sample("c199"); got != "0.5 fresh" {
		t.Errorf("sample %q", got)
	}
	prometheus.set("")
	h.restart()
	h.round()
	if got := h.sample("c199"); got != "0.5 fresh BadAnswer" {
		t.Errorf("after a restart the age counts anew, but the sample is %q", got)
	}
}

func TestALabelThatComesIsReadAtOnce(t *testing.T) {
	h := newHarness(t, in("", "a"), perPlace("load-$(labels.zone)"), values(map[string]float64{"load-x": 1}))
	h.round()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- h.sampler.Start(ctx) }()
	h.until("the first round", func() bool { return h.clock.Waiters() == 1 })
	var a berthv1alpha1.Cluster
	h.get(&a, "a")
	a.Labels = map[string]string{"zone": "x"}
	if err := h.api.Update(t.Context(), &a); err != nil {
		t.Fatal(err)
	}
	h.sampler.Notice()
	h.until("the value", func() bool {
		h.pass()
		return h.sample("a") == "0.1 fresh"
	})
	if got := h.available(); !strings.HasPrefix(got, "True") {
		t.Errorf("condition %q", got)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
