// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package gateway

import (
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
)

// measures are the metrics of a gateway.
type measures struct {
	requests *prometheus.CounterVec
	duration *prometheus.HistogramVec
	inFlight prometheus.Gauge
	limited  prometheus.Counter
	panics   prometheus.Counter
}

func newMeasures(registry prometheus.Registerer) *measures {
	m := &measures{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "berth_gateway_requests_total",
			Help: "Requests answered, by method, route (not path) and HTTP status.",
		}, []string{"method", "route", "code"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "berth_gateway_request_duration_seconds",
			Help:    "Time from the headers of a request to the end of its answer, by method and route, without streams of events.",
			Buckets: prometheus.ExponentialBuckets(0.001, 2.5, 12),
		}, []string{"method", "route"}),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "berth_gateway_in_flight_requests",
			Help: "Requests that are being worked on.",
		}),
		limited: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "berth_gateway_limited_requests_total",
			Help: "Requests refused because their sender, or all senders together, asked too often.",
		}),
		panics: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "berth_gateway_panics_total",
			Help: "Panics while answering a request. It should be 0; report others as bugs.",
		}),
	}
	registry.MustRegister(m.requests, m.duration, m.inFlight, m.limited, m.panics)
	return m
}

// methodLabel bounds the methods that metrics tell apart: callers may make up others.
func methodLabel(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodPatch, http.MethodOptions:
		return method
	default:
		return "other"
	}
}
