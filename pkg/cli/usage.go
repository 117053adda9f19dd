// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"

	"github.com/spf13/cobra"
)

// usageTemplate leaves the flags that all commands accept to the command options: there are more of
// them than of all others together.
const usageTemplate = `Usage:
{{- if and .HasParent .Runnable (not .HasAvailableSubCommands)}}
  {{.UseLine}}
{{- else}}
  {{.CommandPath}} COMMAND
{{- end}}
{{- if .HasExample}}

Examples:
{{.Example}}
{{- end}}
{{- if .HasAvailableSubCommands}}

Commands:
{{- range .Commands}}{{if .IsAvailableCommand}}
  {{rpad .Name .NamePadding}} {{.Short}}
{{- end}}{{end}}
{{- end}}
{{- if and .HasParent .HasAvailableLocalFlags}}

Flags:
{{.LocalFlags.FlagUsages | trimTrailingWhitespaces}}
{{- end}}

{{if .HasAvailableSubCommands}}Use "{{.CommandPath}} COMMAND --help" for more about a command.
{{end}}Use "{{.Root.DisplayName}} options" for the flags that all commands accept.
`

func newOptionsCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "options",
		Short:   "List the flags that all commands accept",
		Long:    "List the flags that all commands accept. They choose the cluster and the namespace.",
		Example: "  berthctl options",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprint(cmd.OutOrStdout(), "All commands accept these flags:\n\n",
				cmd.Root().PersistentFlags().FlagUsages())
			return err
		},
		ValidArgsFunction: cobra.NoFileCompletions,
	}
}
