// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package application_test

import (
	"fmt"
	"syscall"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// measuredCluster returns a Cluster with 5 metrics.
func measuredCluster(i int) *berthv1alpha1.Cluster {
	c := cluster(fmt.Sprintf("c%03d", i), 0)
	c.Spec.Metrics, c.Status.Metrics = nil, nil
	for m := range 5 {
		name, value := fmt.Sprintf("m%d", m), float64((i*7+m)%100)/100
		c.Spec.Metrics = append(c.Spec.Metrics, berthv1alpha1.MetricReference{Name: name, Weight: float64(m + 1)})
		c.Status.Metrics = append(c.Status.Metrics, berthv1alpha1.MetricSample{Name: name, Value: &value, Normalized: &value})
	}
	return c
}

// cpu returns the CPU time of this process so far. A busy machine does not make it longer, as it
// does the time of the clock.
func cpu(b *testing.B) time.Duration {
	b.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// together is how many Applications are made at a time. Each is promised room until its pods have
// nodes, and asking for room takes all promises into account.
const together = 25

// reviewed returns a fleet of so many Applications, each of a Deployment with two replicas and a
// ConfigMap, that run in the best of so many Clusters.
func reviewed(tb testing.TB, apps, clusters int) *fleet {
	tb.Helper()
	f := newFleet(tb, 1)
	for i := range clusters {
		f.addCluster(measuredCluster(i))
	}
	f.start()
	for i := range apps {
		app := newApplication(deployment + "---\n" + configMap)
		app.Spec.Constraints.ClusterMetrics = []string{"m0 >= 0.1"}
		f.addApplication(app, fmt.Sprintf("app%04d", i))
		if i%together == together-1 {
			f.run(10 * time.Second)
		}
	}
	f.run(4 * time.Minute)
	for _, a := range f.apps {
		if ready := a.ready(); ready != 2 {
			tb.Fatalf("%s has %d pods ready, want 2: %+v", a.key, ready, a.stored().Status)
		}
	}
	return f
}

// One iteration reviews 1,000 Applications, each against 300 Clusters with 5 metrics.
func BenchmarkReview(b *testing.B) {
	f := reviewed(b, 1000, 300)
	before, begin := f.writes, cpu(b)
	for b.Loop() {
		f.clock.SetTime(f.clock.Now().Add(61 * time.Second))
		for _, a := range f.apps {
			a.reconcile()
		}
	}
	b.ReportMetric((cpu(b)-begin).Seconds()/float64(b.N), "cpu-s/op")
	if f.writes != before {
		b.Errorf("%d writes although nothing changed", f.writes-before)
	}
}

func TestAReviewWritesNothingWhenNothingChanges(t *testing.T) {
	f := reviewed(t, 20, 30)
	before := f.writes
	f.run(10 * time.Minute)
	if f.writes != before {
		t.Errorf("%d writes although nothing changed", f.writes-before)
	}
}

func TestAMetricThatConcernsNobodyBringsNoReview(t *testing.T) {
	f := reviewed(t, 20, 30)
	var known berthv1alpha1.Cluster
	if err := f.Get(t.Context(), client.ObjectKey{Name: "c007"}, &known); err != nil {
		t.Fatal(err)
	}
	*known.Status.Metrics[2].Value = 0.123
	if got := f.controller.Waiting(t.Context(), &known); len(got) != 0 {
		t.Errorf("a pass is asked for over %v", got)
	}
}
