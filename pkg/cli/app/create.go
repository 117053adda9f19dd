// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/cli/internal/client"
	"berth.dev/berth/pkg/cli/internal/kinds"
	"berth.dev/berth/pkg/cli/internal/objects"
)

const createLong = `Create an Application of the objects in a file. Berth runs it in the one cluster that suits it best.

The file holds objects as kubectl takes them, in JSON or YAML. They must be of the namespace of the Application. All
constraints must hold. A mistake in one is answered with its column, before anything is sent to the API server.`

const createExample = `  # In a German cluster with little load
  berthctl app create shop -f shop.yaml -L 'location is DE' -M 'load < 5'

  # Where a custom resource is known, and to stay there
  berthctl app create tick -f tick.yaml -R crontabs.stable.example.com --disable-migration`

func newCreate(streams genericiooptions.IOStreams, factory *client.Factory) *cobra.Command {
	o := &settings{}
	cmd := kinds.Creation[*berthv1alpha1.Application]{
		Kind: kind, Arguments: "NAME -f FILE", Short: "Create an Application", Long: createLong, Example: createExample,
		Build: func(name, namespace string) (*berthv1alpha1.Application, error) {
			wish, err := o.read(streams.In, namespace)
			if err != nil {
				return nil, err
			}
			app := &berthv1alpha1.Application{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
			return app, wish.apply(app)
		},
		API: func(clients client.Clients, namespace string) objects.Creator[*berthv1alpha1.Application] {
			return clients.Berth.BerthV1alpha1().Applications(namespace)
		},
	}.Command(streams, factory)
	o.addTo(cmd)
	return cmd
}
