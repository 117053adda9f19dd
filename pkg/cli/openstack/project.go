// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package openstack

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

const projectKind = "project"

const projectLong = `Create an OpenStackProject, in which Magnum clusters can be made. Berth neither connects to OpenStack nor keeps passwords.

Projects are ranked by their metrics. --metric and --global-metric are followed by two words, the name of the metric and its
weight; NAME=WEIGHT is understood too.`

const projectExample = `  berthctl os project create --user-id $OS_USER_ID --template $TEMPLATE_ID my-project --metric heat_demand_zone_1 3`

// projectOptions are the flags of os project create.
type projectOptions struct {
	streams genericiooptions.IOStreams
	factory *client.Factory
	output  *output.Flag
	spec    berthv1alpha1.OpenStackProjectSpec
	labels  objects.Labels
	metrics objects.Metrics
}

func newProject(streams genericiooptions.IOStreams, factory *client.Factory) *cobra.Command {
	o := &projectOptions{streams: streams, factory: factory, output: output.NewFlag(output.Text, output.JSON, output.YAML)}
	cmd := &cobra.Command{
		Use:               "create NAME --template ID",
		Short:             "Create an OpenStack project",
		Long:              projectLong,
		Example:           projectExample,
		Args:              objects.OneName(projectKind),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), args[0])
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&o.spec.Template, "template", "", "identifier of the template for Magnum clusters")
	flags.StringVar(&o.spec.UserID, "user-id", "", "identifier of the OpenStack user in whose name clusters are made")
	flags.StringVar(&o.spec.URL, "auth-url", "", "URL of the identity service; Berth does not connect to it")
	o.labels.AddTo(flags)
	o.metrics.AddTo(flags)
	o.output.AddTo(cmd)
	return cmd
}

func (o *projectOptions) run(ctx context.Context, name string) error {
	if o.spec.Template == "" {
		return objects.ErrMissing("template")
	}
	labels, err := o.labels.Read()
	if err != nil {
		return err
	}
	namespace, err := o.factory.Namespace()
	if err != nil {
		return err
	}
	clients, err := o.factory.Clients()
	if err != nil {
		return err
	}
	project := &berthv1alpha1.OpenStackProject{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: labels}, Spec: o.spec,
	}
	project.Spec.Metrics = o.metrics.References(namespace)
	created, err := objects.Create(ctx, clients.Berth.BerthV1alpha1().OpenStackProjects(namespace), projectKind, project)
	if err != nil {
		return err
	}
	return objects.Print(o.streams, o.output, projectKind, created, "created")
}
