// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package app is the command line of berth-playground.
package app

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"berth.dev/berth/cmd/playground/world"
)

// NewCommand returns the command berth-playground. It writes to the command's output and ends, with
// everything it started, when the context of the command is done.
func NewCommand() *cobra.Command {
	options := world.Options{Clusters: 2, Nodes: 3}
	up := newUpCommand(&options)
	cmd := &cobra.Command{
		Use:   "berth-playground",
		Short: "Run Berth with a whole control plane and fake nodes on this machine",
		Long: `Run Berth on this machine, to try it out: etcd, kube-apiserver, kube-controller-manager and kwok on the loopback
interface, clusters of fake nodes, and berth-scheduler and berth-controller-manager as separate processes, as in
production. Without a command it does what "up" does.

Credentials are made anew for each run, and everything is gone afterwards. It is not for production.`,
		Args:          cobra.NoArgs,
		SilenceUsage:  true,
		SilenceErrors: true,
		PersistentPreRunE: func(*cobra.Command, []string) error {
			return completePaths(&options)
		},
		RunE: up.RunE,
	}
	cmd.CompletionOptions.HiddenDefaultCmd = true
	flags := cmd.PersistentFlags()
	flags.StringVar(&options.BinDir, "bin-dir", "", "where the programs are (default: next to this one)")
	flags.StringVar(&options.Manifests, "manifests", "",
		"the directory with crds/ and base/ (default: manifests next to the directory of the programs, or to the one above)")
	flags.StringVar(&options.StateDir, "state-dir", "",
		"where data, credentials and logs go; must be empty or not exist (default: a new directory for temporary files)")
	flags.BoolVar(&options.Keep, "keep", false, "leave the state directory behind")
	addSize(cmd, &options)
	addSize(up, &options)
	cmd.AddCommand(up, newDemoCommand(&options), newApplyCommand())
	return cmd
}

// addSize gives a command the flags that say how large the world is.
func addSize(cmd *cobra.Command, options *world.Options) {
	cmd.Flags().IntVar(&options.Clusters, "clusters", options.Clusters, fmt.Sprintf("number of clusters, 1 to %d", world.MaxClusters))
	cmd.Flags().IntVar(&options.Nodes, "nodes", options.Nodes, fmt.Sprintf("number of nodes per cluster, 1 to %d", world.MaxNodes))
}

// completePaths finds the programs next to this one and the manifests, so that it does not matter
// where the command is called.
func completePaths(options *world.Options) error {
	if options.BinDir == "" {
		self, err := os.Executable()
		if err != nil {
			return fmt.Errorf("finding the programs: %w", err)
		}
		options.BinDir = filepath.Dir(self)
	}
	if options.Manifests == "" {
		options.Manifests = manifestsOf(options.BinDir)
	}
	return nil
}

// manifestsOf returns the manifests next to the directory of the programs. If there are none it
// returns those next to the directory above: programs that are compiled with another minor of
// Kubernetes are in bin/kubernetes-1.37, for instance.
func manifestsOf(programs string) string {
	const name = "manifests"
	above := filepath.Dir(programs)
	beside := filepath.Join(above, name)
	if further := filepath.Join(filepath.Dir(above), name); !exists(beside) && exists(further) {
		return further
	}
	return beside
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
