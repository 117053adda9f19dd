// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package subscription_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// events returns the types and reasons of the events since the last call.
func (w *world) events() []string {
	list := []string{}
	for {
		select {
		case event := <-w.recorder.Events:
			list = append(list, strings.Join(strings.Fields(event)[:2], " "))
		default:
			return list
		}
	}
}

func TestEachChangeOfStateIsOneEvent(t *testing.T) {
	w := newWorld(t)
	w.site("a", 4)
	w.deploy("web", 5)
	w.subscribe("shop", []string{"web"}, bundle)
	check := func(when string, want ...string) {
		t.Helper()
		w.pass()
		w.pass()
		if diff := cmp.Diff(append([]string{}, want...), w.events()); diff != "" {
			t.Errorf("events %s (-want +got):\n%s", when, diff)
		}
	}
	check("of a bundle that waits", "Normal BundleWaits")
	w.deploy("web", 6)
	check("when it waits for more")
	w.deploy("web", 4)
	check("when it is admitted", "Normal AllPlaced", "Normal BundleAdmitted")
	w.restart()
	check("after a restart")
	w.pend("web", 5)
	w.clock.Step(6 * time.Minute)
	w.deploy("web", 5)
	check("when the admission lapses", "Normal BundleWaits", "Warning AdmissionWithdrawn")
	w.deploy("web", 4)
	w.pass()
	w.runAsDivided("shop")
	w.events()
	w.deploy("web", 7)
	check("when it grows beyond the room", "Warning NoRoom")
	w.change("shop", func(s *berthv1alpha1.Subscription) {
		s.Annotations = map[string]string{berthv1alpha1.RebalanceAnnotation: "now"}
	})
	check("when a rebalance is asked for", "Normal RebalanceAsked")
}

func TestMetricsSumUpAllSubscriptions(t *testing.T) {
	w := newWorld(t)
	w.site("a", 4)
	w.deploy("web", 3)
	w.deploy("db", 3)
	w.subscribe("first", []string{"web"})
	w.subscribe("second", []string{"db"})
	w.pass()
	w.runAsDivided("first")
	w.pass()
	read := func() map[string]float64 {
		families, err := metrics.Registry.Gather()
		if err != nil {
			t.Fatal(err)
		}
		found := map[string]float64{}
		for _, family := range families {
			if !strings.HasPrefix(family.GetName(), "berth_subscription_") || family.GetMetric()[0].GetGauge() == nil {
				continue
			}
			for _, m := range family.GetMetric() {
				key := []string{strings.TrimPrefix(family.GetName(), "berth_subscription_")}
				for _, label := range m.GetLabel() {
					key = append(key, label.GetValue())
				}
				found[strings.Join(key, " ")] = m.GetGauge().GetValue()
			}
		}
		return found
	}
	want := map[string]float64{
		"replicas wanted": 6, "replicas placed": 4, "replicas unplaced": 2, "replicas running": 3,
		"conditions Scheduled AllPlaced": 1, "conditions Scheduled NoRoom": 1, "conditions Degraded PlacesKept": 2,
		"conditions Available AllRunning": 1, "conditions Available ReplicasMissing": 1,
	}
	if diff := cmp.Diff(want, read()); diff != "" {
		t.Errorf("metrics (-want +got):\n%s", diff)
	}
	for _, name := range []string{"first", "second"} {
		if err := w.client.Delete(t.Context(), w.get(name)); err != nil {
			t.Fatal(err)
		}
	}
	w.pass()
	want = map[string]float64{"replicas wanted": 0, "replicas placed": 0, "replicas unplaced": 0, "replicas running": 0}
	if diff := cmp.Diff(want, read()); diff != "" {
		t.Errorf("metrics without Subscriptions (-want +got):\n%s", diff)
	}
}
