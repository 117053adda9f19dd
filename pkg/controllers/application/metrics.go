// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package application

import (
	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

// moves counts decisions, not arrivals: an Application that turns back on its way counts twice.
var moves = prometheus.NewCounter(prometheus.CounterOpts{
	Name: "berth_application_moves_total",
	Help: "Decisions by which an Application that had a cluster got another one.",
})

func init() {
	metrics.Registry.MustRegister(moves)
}
