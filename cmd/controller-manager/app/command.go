// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package app is the command line of berth-controller-manager.
package app

import (
	"fmt"

	"github.com/spf13/cobra"
	"k8s.io/component-base/featuregate"
	logsapi "k8s.io/component-base/logs/api/v1"
	"k8s.io/component-base/version/verflag"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"

	"berth.dev/berth/cmd/internal/flagsets"
)

// NewCommand returns the command berth-controller-manager. It may be run once per process.
func NewCommand() *cobra.Command {
	opts := NewOptions()
	cmd := &cobra.Command{
		Use:   "berth-controller-manager",
		Short: "Keep the status of Berth's objects, move misplaced pods, divide Subscriptions and run Applications",
		Long: `Berth-controller-manager keeps the status of Clusters and PropagationPolicies up to date, and moves pods that a policy
no longer wants where they are. It moves them through the eviction API only, which respects PodDisruptionBudgets.

It also divides Subscriptions, runs Applications in the best cluster and moves them as their migration says, reads the
metrics by which clusters are ranked, and shares clusters and pools out over Schedulers.

It reaches the API server by --kubeconfig, by the environment variable KUBECONFIG, or, inside a cluster, by its
ServiceAccount. Several instances may run; the one that holds the lease works.`,
		Args:          cobra.NoArgs,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			verflag.PrintAndExitIfRequested()
			if err := applyLogging(opts); err != nil {
				return fmt.Errorf("logging flags: %w", err)
			}
			if err := opts.Validate(); err != nil {
				return err
			}
			config, err := ctrl.GetConfig()
			if err != nil {
				return fmt.Errorf("finding the API server: %w", err)
			}
			return Run(ctrl.SetupSignalHandler(), opts, config)
		},
	}
	sets := opts.Flags()
	flagsets.AddTo(cmd, &sets)
	return cmd
}

// applyLogging makes the logging flags take effect, for klog and for controller-runtime alike.
func applyLogging(opts *Options) error {
	gate := featuregate.NewFeatureGate()
	if err := logsapi.AddFeatureGates(gate); err != nil {
		return err
	}
	if err := logsapi.ValidateAndApply(opts.Logging, gate); err != nil {
		return err
	}
	ctrl.SetLogger(klog.Background())
	return nil
}
