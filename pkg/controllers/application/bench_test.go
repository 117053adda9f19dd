// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package application_test

import (
	"context"
	"fmt"
	"syscall"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// many returns 200 Clusters with 5 metrics each.
func many() []client.Object {
	var objects []client.Object
	for i := range 200 {
		c := cluster(fmt.Sprintf("c%03d", i), 0)
		c.Spec.Metrics, c.Status.Metrics = nil, nil
		for m := range 5 {
			name, value := fmt.Sprintf("m%d", m), float64((i*7+m)%100)/100
			c.Spec.Metrics = append(c.Spec.Metrics, berthv1alpha1.MetricReference{Name: name, Weight: float64(m + 1)})
			c.Status.Metrics = append(c.Status.Metrics, berthv1alpha1.MetricSample{Name: name, Value: &value, Normalized: &value})
		}
		objects = append(objects, c)
	}
	return objects
}

// cache lists Clusters without copying them, as that of a manager does.
type cache struct {
	client.Client
	clusters berthv1alpha1.ClusterList
}

func (c *cache) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	if clusters, ok := list.(*berthv1alpha1.ClusterList); ok {
		clusters.Items = c.clusters.Items
		return nil
	}
	return c.Client.List(ctx, list, options...)
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

// One iteration reviews 300 Applications, each against 200 Clusters.
func BenchmarkReview(b *testing.B) {
	objects := many()
	var requests []reconcile.Request
	for i := range 300 {
		app := newApplication(configMap)
		app.Name, app.UID = fmt.Sprintf("app%03d", i), ""
		app.Spec.Constraints.ClusterMetrics = []string{"m0 >= 0.1"}
		objects = append(objects, app)
		requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(app)})
	}
	w := newWorld(b, objects...)
	review := func() {
		w.clock.SetTime(w.clock.Now().Add(61 * time.Second))
		for _, request := range requests {
			if _, err := w.controller.Reconcile(b.Context(), request); err != nil {
				b.Fatal(err)
			}
		}
	}
	listed := &cache{Client: w.client}
	if err := w.client.List(b.Context(), &listed.clusters); err != nil {
		b.Fatal(err)
	}
	w.client = listed
	w.restart()
	for range 3 {
		review()
	}
	before, begin := w.writes, cpu(b)
	for b.Loop() {
		review()
	}
	b.ReportMetric((cpu(b)-begin).Seconds()/float64(b.N), "cpu-s/op")
	if w.writes != before {
		b.Errorf("%d writes although nothing changed", w.writes-before)
	}
}
