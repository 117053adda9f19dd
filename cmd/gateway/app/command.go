// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package app is the command line of berth-gateway.
package app

import (
	"fmt"

	"github.com/spf13/cobra"
	genericapiserver "k8s.io/apiserver/pkg/server"
	cliflag "k8s.io/component-base/cli/flag"
	"k8s.io/component-base/cli/globalflag"
	"k8s.io/component-base/featuregate"
	"k8s.io/component-base/logs"
	logsapi "k8s.io/component-base/logs/api/v1"
	"k8s.io/component-base/term"
	"k8s.io/component-base/version/verflag"
)

// NewCommand returns the command berth-gateway. It may be run once per process.
func NewCommand() *cobra.Command {
	opts := NewOptions()
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
			return Run(genericapiserver.SetupSignalContext(), opts)
		},
	}
	sets := opts.Flags()
	verflag.AddFlags(sets.FlagSet("global"))
	globalflag.AddGlobalFlags(sets.FlagSet("global"), cmd.Name(), logs.SkipLoggingConfigurationFlags())
	for _, set := range sets.FlagSets {
		cmd.Flags().AddFlagSet(set)
	}
	columns, _, err := term.TerminalSize(cmd.OutOrStdout())
	if err != nil {
		columns = 0
	}
	cliflag.SetUsageAndHelpFunc(cmd, sets, columns)
	return cmd
}
