// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"fmt"

	"github.com/spf13/cobra"
	"k8s.io/client-go/tools/clientcmd"

	"berth.dev/berth/pkg/localplane"
)

// newApplyCommand returns the command that stands in for kubectl apply on machines without kubectl.
func newApplyCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "apply FILE...",
		Short: "Apply YAML files to the cluster of KUBECONFIG",
		Long:  "Apply YAML files to the cluster of KUBECONFIG, for machines that have no kubectl.",
		Args:  cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(
				clientcmd.NewDefaultClientConfigLoadingRules(), nil).ClientConfig()
			if err != nil {
				return fmt.Errorf("reading KUBECONFIG: %w", err)
			}
			if err := localplane.ApplyManifests(cmd.Context(), config, args...); err != nil {
				return err
			}
			for _, path := range args {
				fmt.Fprintln(cmd.OutOrStdout(), "applied", path)
			}
			return nil
		},
	}
}
