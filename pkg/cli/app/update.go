// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/util/retry"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/cli/internal/client"
	"berth.dev/berth/pkg/cli/internal/objects"
	"berth.dev/berth/pkg/cli/internal/output"
	typed "berth.dev/berth/pkg/generated/clientset/versioned/typed/berth/v1alpha1"
)

const updateLong = `Change an Application. Berth decides at once whether another cluster suits it better now.

The objects of a file take the place of those before; what is in the file no more is deleted. Constraints and labels are
added to those there are, unless these are removed with the flags --remove-existing.`

const updateExample = `  # Other objects
  berthctl app update shop -f shop.yaml

  # Another country
  berthctl app update shop --remove-existing-label-constraints -L 'location is SK'`

// updateOptions are the flags of app update.
type updateOptions struct {
	settings
	removal
	streams genericiooptions.IOStreams
	factory *client.Factory
	output  *output.Flag
}

// removal are the flags that remove what an Application has.
type removal struct {
	labels, labelConstraints, metricConstraints, resourceConstraints bool
}

func (r *removal) addTo(flags *pflag.FlagSet) {
	flags.BoolVar(&r.labels, "remove-existing-labels", false, "remove the labels of the application first")
	flags.BoolVar(&r.labelConstraints, "remove-existing-label-constraints", false, "remove the constraints on labels first")
	flags.BoolVar(&r.metricConstraints, "remove-existing-metric-constraints", false, "remove the constraints on metrics first")
	flags.BoolVar(&r.resourceConstraints, "remove-existing-resource-constraints", false,
		"remove the constraints on custom resources first")
}

func (r *removal) apply(app *berthv1alpha1.Application) {
	if r.labels {
		app.Labels = nil
	}
	if r.labelConstraints {
		app.Spec.Constraints.ClusterLabels = nil
	}
	if r.metricConstraints {
		app.Spec.Constraints.ClusterMetrics = nil
	}
	if r.resourceConstraints {
		app.Spec.Constraints.CustomResources = nil
	}
}

func newUpdate(streams genericiooptions.IOStreams, factory *client.Factory) *cobra.Command {
	o := &updateOptions{streams: streams, factory: factory, output: output.NewFlag(output.Text, output.JSON, output.YAML)}
	var changing []string
	cmd := &cobra.Command{
		Use:               "update NAME",
		Short:             "Change an Application",
		Long:              updateLong,
		Example:           updateExample,
		Args:              objects.OneName(kind),
		ValidArgsFunction: applications.CompleteNames(factory),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !slices.ContainsFunc(changing, cmd.Flags().Changed) {
				return errors.New("name what is to change, see berthctl app update --help")
			}
			return o.run(cmd.Context(), args[0])
		},
	}
	o.settings.addTo(cmd)
	o.removal.addTo(cmd.Flags())
	cmd.Flags().VisitAll(func(f *pflag.Flag) { changing = append(changing, f.Name) })
	o.output.AddTo(cmd)
	return cmd
}

func (o *updateOptions) run(ctx context.Context, name string) error {
	namespace, err := o.factory.Namespace()
	if err != nil {
		return err
	}
	wish, err := o.read(o.streams.In, namespace)
	if err != nil {
		return err
	}
	clients, err := o.factory.Clients()
	if err != nil {
		return err
	}
	api := clients.Berth.BerthV1alpha1().Applications(namespace)
	var updated *berthv1alpha1.Application
	// Berth writes to the object as well, so somebody may have been faster.
	err = retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		updated, err = o.update(ctx, api, name, wish)
		return err
	})
	if err != nil {
		return err
	}
	return objects.Print(o.streams, o.output, kind, updated, "updated")
}

func (o *updateOptions) update(
	ctx context.Context, api typed.ApplicationInterface, name string, wish *wish,
) (*berthv1alpha1.Application, error) {
	app, err := find(ctx, api, name)
	if err != nil {
		return nil, err
	}
	o.removal.apply(app)
	if err := wish.apply(app); err != nil {
		return nil, err
	}
	updated, err := api.Update(ctx, app, metav1.UpdateOptions{FieldManager: objects.FieldManager})
	return updated, objects.Describe(fmt.Sprintf("changing %s %q", kind, name), err)
}

// find returns the Application of a name.
func find(ctx context.Context, api typed.ApplicationInterface, name string) (*berthv1alpha1.Application, error) {
	app, err := api.Get(ctx, name, metav1.GetOptions{})
	if client.IsObjectMissing(err) {
		return nil, fmt.Errorf("%s %q not found", kind, name)
	}
	return app, objects.Describe(fmt.Sprintf("reading %s %q", kind, name), err)
}
