// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Feedinventory-controller is an external controller of FeedInventories: Berth's own, with a parser
// for a kind that Berth does not know. Run it in the place of the one in berth-controller-manager,
// which --feature-gates=FeedInventory=false switches off.
package main

import (
	"fmt"
	"os"

	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"berth.dev/berth/examples/feedinventory-controller/cachering"
)

func main() {
	ctrl.SetLogger(klog.Background())
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run() error {
	config, err := ctrl.GetConfig()
	if err != nil {
		return fmt.Errorf("finding the API server: %w", err)
	}
	return cachering.Run(ctrl.SetupSignalHandler(), config, ctrl.Options{
		LeaderElection: true, LeaderElectionID: "feedinventory-controller", LeaderElectionNamespace: "berth-system",
		LeaderElectionReleaseOnCancel: true,
		// Serve metrics over TLS, with authentication, before you open them to others;
		// berth-controller-manager does.
		Metrics: metricsserver.Options{BindAddress: "0"},
	})
}
