// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package flagsets gives a program its flags in groups, as the programs of Kubernetes have them.
package flagsets

import (
	"github.com/spf13/cobra"
	cliflag "k8s.io/component-base/cli/flag"
	"k8s.io/component-base/cli/globalflag"
	"k8s.io/component-base/logs"
	"k8s.io/component-base/term"
	"k8s.io/component-base/version/verflag"
)

// AddTo adds the flags to a command, with --help, --version and those of logging that are global,
// and makes its help show them in their groups.
func AddTo(cmd *cobra.Command, sets *cliflag.NamedFlagSets) {
	verflag.AddFlags(sets.FlagSet("global"))
	globalflag.AddGlobalFlags(sets.FlagSet("global"), cmd.Name(), logs.SkipLoggingConfigurationFlags())
	for _, set := range sets.FlagSets {
		cmd.Flags().AddFlagSet(set)
	}
	columns, _, err := term.TerminalSize(cmd.OutOrStdout())
	if err != nil {
		columns = 0
	}
	cliflag.SetUsageAndHelpFunc(cmd, *sets, columns)
}
