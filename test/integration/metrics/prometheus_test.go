// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package metrics_test reads metrics from a real Prometheus server that scrapes a real exporter, as
// the controller manager does.
package metrics_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/metricsources"
	"berth.dev/berth/test/integration/internal/promserver"
)

const (
	// patience is for what takes a second on an idle machine: a scrape.
	patience = 150 * time.Second
	poll     = 50 * time.Millisecond
)

// source returns what reads from the server.
func source(t *testing.T, server *promserver.Server) metricsources.Source {
	t.Helper()
	spec := &berthv1alpha1.MetricsProviderSpec{
		Type: berthv1alpha1.PrometheusMetrics, AllowPlainHTTP: true,
		Prometheus: &berthv1alpha1.PrometheusProvider{URL: berthv1alpha1.ProviderURL(server.URL)},
	}
	s, err := metricsources.New(spec, metricsources.Options{PlainHTTP: true, Guard: &metricsources.Guard{Loopback: true}})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// answer is a value, or the reason why there is none.
func answer(ctx context.Context, s metricsources.Source, metric string) string {
	value, err := s.Read(ctx, metric)
	var wrong *metricsources.Error
	switch {
	case errors.As(err, &wrong):
		return wrong.Reason
	case err != nil:
		return err.Error()
	}
	return fmt.Sprint(value)
}

// until waits for an answer.
func until(t *testing.T, s metricsources.Source, metric, want string) {
	t.Helper()
	got := ""
	err := wait.PollUntilContextTimeout(t.Context(), poll, patience, true, func(ctx context.Context) (bool, error) {
		got = answer(ctx, s, metric)
		return got == want, nil
	})
	if err != nil {
		t.Fatalf("%s: got %s, want %s: %v", metric, got, want, err)
	}
}

func TestPrometheus(t *testing.T) {
	server := promserver.Start(t.Context(), t)
	for zone, value := range map[string]float64{"de": 1.5, "sk": 2.25, "nan": math.NaN(), "inf": math.Inf(1)} {
		server.Gauges.WithLabelValues(zone).Set(value)
	}
	s := source(t, server)
	until(t, s, `count(berth_test_load)`, "4")

	tests := map[string]struct{ metric, want string }{
		"one series":                  {`berth_test_load{zone="de"}`, "1.5"},
		"an aggregate":                {`sum(berth_test_load{zone=~"de|sk"})`, "3.75"},
		"arithmetic":                  {`berth_test_load{zone="de"} * 2`, "3"},
		"a number":                    {`42`, "42"},
		"what the server itself adds": {`up{job="exporter"}`, "1"},
		"several series":              {`berth_test_load`, berthv1alpha1.ReasonSeveralValues},
		"no such metric":              {`berth_test_lode`, berthv1alpha1.ReasonNoValue},
		"no PromQL":                   {`berth_test_load{`, berthv1alpha1.ReasonBadAnswer},
		"not a number":                {`berth_test_load{zone="nan"}`, berthv1alpha1.ReasonNotANumber},
		"infinite":                    {`berth_test_load{zone="inf"}`, berthv1alpha1.ReasonNotANumber},
		"divided by zero":             {`berth_test_load{zone="de"} / 0`, berthv1alpha1.ReasonNotANumber},
		"a range":                     {`berth_test_load{zone="de"}[1m]`, berthv1alpha1.ReasonNotANumber},
		"a text":                      {`"1.5"`, berthv1alpha1.ReasonBadAnswer},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			until(t, s, tc.metric, tc.want)
		})
	}
}

func TestPrometheusTellsWhatIsTrueNow(t *testing.T) {
	server := promserver.Start(t.Context(), t)
	load := server.Gauges.WithLabelValues("de")
	s := source(t, server)
	for _, value := range []float64{1, 0, -3.5, 1e300} {
		load.Set(value)
		until(t, s, "berth_test_load", fmt.Sprint(value))
	}
	server.Gauges.Reset()
	until(t, s, "berth_test_load", berthv1alpha1.ReasonNoValue)
}
