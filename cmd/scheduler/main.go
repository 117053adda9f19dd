// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Berth-scheduler is kube-scheduler with Berth's plugins: it shares the replicas of workloads out
// over clusters of nodes. It runs beside the default scheduler and places the pods that ask for it
// by schedulerName.
package main

import (
	"os"

	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"          // --logging-format=json
	_ "k8s.io/component-base/metrics/prometheus/clientgo" // metrics of the API client
	_ "k8s.io/component-base/metrics/prometheus/version"  // metric kubernetes_build_info

	"berth.dev/berth/cmd/scheduler/app"
)

func main() {
	os.Exit(cli.Run(app.NewCommand()))
}
