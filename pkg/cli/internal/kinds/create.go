// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package kinds

import (
	"cmp"
	"context"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"berth.dev/berth/pkg/cli/internal/client"
	"berth.dev/berth/pkg/cli/internal/objects"
	"berth.dev/berth/pkg/cli/internal/output"
)

// Creation is the command create of a kind of objects T.
type Creation[T objects.Object] struct {
	// Kind is what users call an object, "cloud".
	Kind string
	// Arguments are what the usage shows behind the command: "NAME" if it is empty.
	Arguments string
	// Short, Long and Example describe the command.
	Short, Long, Example string
	// Build makes the object that the flags describe. Its namespace is the one of the command line.
	Build func(name, namespace string) (T, error)
	// API returns the client that creates objects in a namespace.
	API func(clients client.Clients, namespace string) objects.Creator[T]
}

// Command returns the command with the flag for the output. The flags that Build reads are the
// caller's to add.
func (c Creation[T]) Command(streams genericiooptions.IOStreams, factory *client.Factory) *cobra.Command {
	format := output.NewFlag(output.Text, output.JSON, output.YAML)
	cmd := &cobra.Command{
		Use:               "create " + cmp.Or(c.Arguments, "NAME"),
		Short:             c.Short,
		Long:              c.Long,
		Example:           c.Example,
		Args:              objects.OneName(c.Kind),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			created, err := c.create(cmd.Context(), factory, args[0])
			if err != nil {
				return err
			}
			return objects.Print(streams, format, c.Kind, created, "created")
		},
	}
	format.AddTo(cmd)
	return cmd
}

func (c Creation[T]) create(ctx context.Context, factory *client.Factory, name string) (T, error) {
	var none T
	namespace, err := factory.Namespace()
	if err != nil {
		return none, err
	}
	object, err := c.Build(name, namespace)
	if err != nil {
		return none, err
	}
	clients, err := factory.Clients()
	if err != nil {
		return none, err
	}
	return objects.Create(ctx, c.API(clients, namespace), c.Kind, object)
}
