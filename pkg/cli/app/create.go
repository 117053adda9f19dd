// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/cli/internal/client"
	"berth.dev/berth/pkg/cli/internal/objects"
	"berth.dev/berth/pkg/cli/internal/output"
)

const createLong = `Create an Application of the objects in a file. Berth runs it in the one cluster that suits it best.

The file holds objects as kubectl takes them, in JSON or YAML. They must be of the namespace of the Application. All
constraints must hold. A mistake in one is answered with its column, before anything is sent to the API server.`

const createExample = `  # In a German cluster with little load
  berthctl app create shop -f shop.yaml -L 'location is DE' -M 'load < 5'

  # Where a custom resource is known, and to stay there
  berthctl app create tick -f tick.yaml -R crontabs.stable.example.com --disable-migration`

// createOptions are the flags of app create.
type createOptions struct {
	settings
	streams genericiooptions.IOStreams
	factory *client.Factory
	output  *output.Flag
}

func newCreate(streams genericiooptions.IOStreams, factory *client.Factory) *cobra.Command {
	o := &createOptions{streams: streams, factory: factory, output: output.NewFlag(output.Text, output.JSON, output.YAML)}
	cmd := &cobra.Command{
		Use:               "create NAME -f FILE",
		Short:             "Create an Application",
		Long:              createLong,
		Example:           createExample,
		Args:              objects.OneName(kind),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), args[0])
		},
	}
	o.addTo(cmd)
	o.output.AddTo(cmd)
	return cmd
}

func (o *createOptions) run(ctx context.Context, name string) error {
	namespace, err := o.factory.Namespace()
	if err != nil {
		return err
	}
	wish, err := o.read(o.streams.In, namespace)
	if err != nil {
		return err
	}
	app := &berthv1alpha1.Application{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	if err := wish.apply(app); err != nil {
		return err
	}
	clients, err := o.factory.Clients()
	if err != nil {
		return err
	}
	created, err := objects.Create(ctx, clients.Berth.BerthV1alpha1().Applications(namespace), kind, app)
	if err != nil {
		return err
	}
	return objects.Print(o.streams, o.output, kind, created, "created")
}
