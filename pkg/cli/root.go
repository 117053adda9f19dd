// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package cli is berthctl, the command line of Berth. Each command has a folder of its own.
package cli

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/kubernetes"

	"berth.dev/berth/pkg/cli/allow"
	"berth.dev/berth/pkg/cli/app"
	"berth.dev/berth/pkg/cli/check"
	"berth.dev/berth/pkg/cli/cloud"
	"berth.dev/berth/pkg/cli/cluster"
	"berth.dev/berth/pkg/cli/convert"
	"berth.dev/berth/pkg/cli/cordon"
	"berth.dev/berth/pkg/cli/downgrade"
	"berth.dev/berth/pkg/cli/explain"
	"berth.dev/berth/pkg/cli/get"
	"berth.dev/berth/pkg/cli/internal/client"
	"berth.dev/berth/pkg/cli/list"
	"berth.dev/berth/pkg/cli/openstack"
	"berth.dev/berth/pkg/cli/preview"
	"berth.dev/berth/pkg/cli/purge"
	"berth.dev/berth/pkg/cli/register"
	"berth.dev/berth/pkg/cli/room"
	"berth.dev/berth/pkg/cli/simulate"
	"berth.dev/berth/pkg/cli/supportbundle"
	"berth.dev/berth/pkg/cli/ui"
	"berth.dev/berth/pkg/cli/unregister"
	"berth.dev/berth/pkg/cli/version"
	"berth.dev/berth/pkg/generated/clientset/versioned"
)

const (
	program      = "berthctl"
	pluginPrefix = "kubectl-"

	// completerPrefix begins the name under which kubectl calls a plugin to ask what may follow on
	// the command line.
	completerPrefix = "kubectl_complete-"
)

const rootLong = `berthctl shows how Berth shares replicas out over clusters of nodes, and why.

Only allow, register and unregister, cordon, uncordon and drain, purge and downgrade, and the commands create, update and
delete, change anything. Installed under the name kubectl-berth it is a plugin of kubectl, and a link to it named
kubectl_complete-berth lets the shell complete kubectl's command line.

Exit status:
  0  the command did what it was asked to do
  1  it did not: the input was wrong, an object was not found, or the API server refused or could not be reached;
     one line on standard error says which
  2  the arguments of register, unregister, cordon, uncordon, drain or get cluster name no file or no cluster; nothing was
     tried. Or simulate found that something would wait`

// Options are what berthctl needs from its surroundings.
type Options struct {
	// Program is how the program was called, as in os.Args[0]: help texts repeat its name. Empty
	// means berthctl.
	Program string

	// Streams are standard input, output and error.
	Streams genericiooptions.IOStreams

	// NewClients, if set, makes the clients in place of the kubeconfig, for tests.
	NewClients func(genericclioptions.RESTClientGetter) (kubernetes.Interface, versioned.Interface, error)
}

// The scheduler's libraries give every program that they are linked into flags of theirs, --version
// among them, which cobra would offer with each command of berthctl.
func init() {
	pflag.CommandLine = pflag.NewFlagSet(program, pflag.ContinueOnError)
}

// newCommand returns the root command. It prints no errors: Run does.
func newCommand(o Options) *cobra.Command {
	name, display := names(o.Program)
	root := &cobra.Command{
		Use:               name,
		Short:             "Show how Berth shares replicas out over clusters of nodes",
		Long:              rootLong,
		Version:           version.Get().String(),
		Annotations:       map[string]string{cobra.CommandDisplayNameAnnotation: display},
		SilenceErrors:     true,
		SilenceUsage:      true,
		DisableAutoGenTag: true,
	}
	connect(root, o)
	root.SetVersionTemplate("{{.DisplayName}} {{.Version}}\n")
	root.SetUsageTemplate(usageTemplate)
	root.SetFlagErrorFunc(flagError)

	factory := client.NewFactory(o.NewClients)
	factory.AddFlags(root.PersistentFlags())
	root.AddCommand(
		allow.NewCommand(o.Streams, factory),
		app.NewCommand(o.Streams, factory),
		check.NewCommand(o.Streams, factory),
		cloud.NewCommand(o.Streams, factory),
		cloud.NewGlobalCommand(o.Streams, factory),
		cluster.NewCommand(o.Streams, factory),
		convert.NewCommand(o.Streams),
		cordon.NewCommand(o.Streams, factory),
		cordon.NewUncordonCommand(o.Streams, factory),
		cordon.NewDrainCommand(o.Streams, factory),
		downgrade.NewCommand(o.Streams, factory),
		explain.NewCommand(o.Streams, factory),
		get.NewCommand(o.Streams, factory),
		list.NewCommand(o.Streams, factory),
		openstack.NewCommand(o.Streams, factory),
		preview.NewCommand(o.Streams),
		purge.NewCommand(o.Streams, factory),
		register.NewCommand(o.Streams, factory),
		room.NewCommand(o.Streams, factory),
		simulate.NewCommand(o.Streams, factory),
		supportbundle.NewCommand(o.Streams, factory),
		ui.NewCommand(o.Streams, factory),
		unregister.NewCommand(o.Streams, factory),
		version.NewCommand(o.Streams),
		newOptionsCommand(),
	)
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	finish(root, display)
	return root
}

// names returns the name of the program and how users call it: a plugin of kubectl is called as a
// command of kubectl.
func names(argument string) (name, display string) {
	name = baseName(argument)
	if argument == "" || name == "/" || name == "." {
		name = program
	}
	if plugin, ok := strings.CutPrefix(name, completerPrefix); ok {
		name = pluginPrefix + plugin
	}
	if plugin, ok := strings.CutPrefix(name, pluginPrefix); ok {
		return name, "kubectl " + strings.ReplaceAll(strings.ReplaceAll(plugin, "-", " "), "_", "-")
	}
	return name, name
}

func baseName(argument string) string {
	return strings.TrimSuffix(filepath.Base(filepath.ToSlash(argument)), ".exe")
}

// connect lets a command read and write what the options say.
func connect(cmd *cobra.Command, o Options) {
	cmd.SetIn(o.Streams.In)
	cmd.SetOut(o.Streams.Out)
	cmd.SetErr(o.Streams.ErrOut)
}

// finish makes what all commands share: help texts that call the program by its name, an error
// instead of the help text when somebody misspells a subcommand, and one for an argument where none
// is taken, which cobra would call an unknown command.
func finish(cmd *cobra.Command, display string) {
	cmd.Long = strings.ReplaceAll(cmd.Long, program+" ", display+" ")
	cmd.Example = strings.ReplaceAll(cmd.Example, program+" ", display+" ")
	if cmd.HasSubCommands() && !cmd.Runnable() {
		cmd.Args = subcommandExpected
		cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
		cmd.ValidArgsFunction = cobra.NoFileCompletions
		cmd.DisableFlagsInUseLine = true
	} else if cmd.Args != nil && cmd.Args(cmd, nil) == nil && cmd.Args(cmd, []string{"x"}) != nil {
		cmd.Args = noneExpected
	}
	for _, sub := range cmd.Commands() {
		finish(sub, display)
	}
}

func subcommandExpected(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	// Cobra sets this distance only where it writes the message itself.
	cmd.SuggestionsMinimumDistance = 2
	hint := fmt.Sprintf("see %s --help", cmd.CommandPath())
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		hint = "did you mean " + strings.Join(near, " or ") + "?"
	}
	return fmt.Errorf("unknown command %.64q of %s, %s", args[0], cmd.CommandPath(), hint)
}

func noneExpected(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	hint := fmt.Sprintf("see %s --help", cmd.CommandPath())
	if one := singular(cmd); one != nil {
		hint = "did you mean " + one.CommandPath() + " NAME?"
	}
	return fmt.Errorf("%s takes no arguments, and there is %.64q, %s", cmd.CommandPath(), args[0], hint)
}

// singular returns the command that shows one of what a command lists, nil if there is none.
func singular(list *cobra.Command) *cobra.Command {
	name := strings.TrimSuffix(list.Name(), "s")
	if name == "list" {
		name = "get"
	}
	for _, sibling := range list.Parent().Commands() {
		if sibling != list && sibling.Name() == name {
			return sibling
		}
	}
	return nil
}

// flagError says which flag is wrong and why, without repeating a value that may be long.
// Whoever misspells a command is told that, and not that it lacks the flags of the one he meant.
func flagError(cmd *cobra.Command, err error) error {
	if args := cmd.Flags().Args(); cmd.HasSubCommands() && cmd.Args != nil && len(args) > 0 {
		return cmd.Args(cmd, args)
	}
	var invalid *pflag.InvalidValueError
	if !errors.As(err, &invalid) {
		return err
	}
	return fmt.Errorf("--%s: %w", invalid.GetFlag().Name, invalid.Unwrap())
}
