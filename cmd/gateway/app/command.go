// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package app is the command line of berth-gateway.
package app

import (
	"fmt"

	"github.com/spf13/cobra"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/component-base/featuregate"
	logsapi "k8s.io/component-base/logs/api/v1"
	"k8s.io/component-base/version/verflag"

	"berth.dev/berth/cmd/internal/flagsets"
)

// NewCommand returns the command berth-gateway. It may be run once per process.
func NewCommand() *cobra.Command {
	opts := newOptions()
	cmd := &cobra.Command{
		Use:   "berth-gateway",
		Short: "Serve the registration API of clusters",
		Long: `Berth-gateway serves the registration API: it registers, lists, shows, changes and unregisters Clusters over REST.

It asks the API server who a caller is and what the caller may do: registering a cluster needs the right to create
clusters.berth.dev, and so on. It keeps no state, so several instances may serve at once.

It reaches the API server by --kubeconfig, by the environment variable KUBECONFIG, or, inside a cluster, by its
ServiceAccount.`,
		Args:          cobra.NoArgs,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE: func(*cobra.Command, []string) error {
			verflag.PrintAndExitIfRequested()
			gate := featuregate.NewFeatureGate()
			if err := logsapi.AddFeatureGates(gate); err != nil {
				return fmt.Errorf("logging flags: %w", err)
			}
			if err := logsapi.ValidateAndApply(opts.Logging, gate); err != nil {
				return fmt.Errorf("logging flags: %w", err)
			}
			if err := opts.Validate(); err != nil {
				return err
			}
			return run(genericapiserver.SetupSignalContext(), opts)
		},
	}
	sets := opts.Flags()
	flagsets.AddTo(cmd, &sets)
	return cmd
}
