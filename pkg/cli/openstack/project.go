// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package openstack

import (
	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/cli/internal/client"
	"berth.dev/berth/pkg/cli/internal/kinds"
	"berth.dev/berth/pkg/cli/internal/objects"
)

const projectKind = "project"

const projectLong = `Create an OpenStackProject, in which Magnum clusters can be made. Berth neither connects to OpenStack nor keeps passwords.

Projects are ranked by their metrics. --metric and --global-metric are followed by two words, the name of the metric and its
weight; NAME=WEIGHT is understood too.`

const projectExample = `  berthctl os project create --user-id $OS_USER_ID --template $TEMPLATE_ID my-project --metric heat_demand_zone_1 3`

// projectOptions are the flags of os project create.
type projectOptions struct {
	spec    berthv1alpha1.OpenStackProjectSpec
	labels  objects.Labels
	metrics objects.Metrics
}

func newProject(streams genericiooptions.IOStreams, factory *client.Factory) *cobra.Command {
	o := &projectOptions{}
	cmd := kinds.Creation[*berthv1alpha1.OpenStackProject]{
		Kind: projectKind, Arguments: "NAME --template ID", Short: "Create an OpenStack project",
		Long: projectLong, Example: projectExample, Build: o.project,
		API: func(clients client.Clients, namespace string) objects.Creator[*berthv1alpha1.OpenStackProject] {
			return clients.Berth.BerthV1alpha1().OpenStackProjects(namespace)
		},
	}.Command(streams, factory)
	flags := cmd.Flags()
	flags.StringVar(&o.spec.Template, "template", "", "identifier of the template for Magnum clusters")
	flags.StringVar(&o.spec.UserID, "user-id", "", "identifier of the OpenStack user in whose name clusters are made")
	flags.StringVar(&o.spec.URL, "auth-url", "", "URL of the identity service; Berth does not connect to it")
	o.labels.AddTo(flags)
	o.metrics.AddTo(flags)
	return cmd
}

func (o *projectOptions) project(name, namespace string) (*berthv1alpha1.OpenStackProject, error) {
	if o.spec.Template == "" {
		return nil, objects.ErrMissing("template")
	}
	labels, err := o.labels.Read()
	o.spec.Metrics = o.metrics.References(namespace)
	return &berthv1alpha1.OpenStackProject{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: labels}, Spec: o.spec,
	}, err
}
