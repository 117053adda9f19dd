// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"berth.dev/berth/pkg/cli/internal/client"
	"berth.dev/berth/pkg/cli/internal/output"
	"berth.dev/berth/pkg/cli/internal/past"
	"berth.dev/berth/pkg/history"
)

const deploymentLong = `Tell what was decided about a deployment and its pods, those that are gone included. Where its pods are now tells berthctl get
placement.

` + historyLong

const deploymentExample = `  # What has become of its pods in the last hours?
  berthctl explain deployment nginx --history`

// deploymentOptions are the flags of explain deployment.
type deploymentOptions struct {
	streams genericiooptions.IOStreams
	factory *client.Factory
	output  *output.Flag
	past    past.Sources
}

func newDeployment(streams genericiooptions.IOStreams, factory *client.Factory) *cobra.Command {
	o := &deploymentOptions{streams: streams, factory: factory, output: output.NewFlag(output.Text, output.JSON, output.YAML)}
	cmd := &cobra.Command{
		Use: "deployment NAME", Aliases: []string{"deployments", "deploy"},
		Short: "Tell what was decided about a deployment", Long: deploymentLong, Example: deploymentExample,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("%d deployments named, name one: %s NAME --history", len(args), cmd.CommandPath())
			}
			return nil
		},
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), args[0])
		},
	}
	o.past.AddTo(cmd.Flags())
	o.output.AddTo(cmd)
	return cmd
}

var errPresent = errors.New("where the pods of a deployment are tells berthctl get placement; add --history for what was decided before")

func (o *deploymentOptions) run(ctx context.Context, name string) error {
	if !o.past.Wanted {
		return errPresent
	}
	if err := o.past.Check(); err != nil {
		return err
	}
	name = strings.TrimPrefix(name, "deployment.apps/")
	if len(validation.IsDNS1123Subdomain(name)) > 0 {
		return fmt.Errorf("%.64q is no name of a deployment", name)
	}
	namespace, err := o.factory.Namespace()
	if err != nil {
		return err
	}
	told, err := tell(ctx, o.factory, &o.past, history.Object{Group: "apps", Kind: "Deployment", Namespace: namespace, Name: name})
	if err != nil {
		return err
	}
	return o.output.Print(o.streams.Out, told, func(w io.Writer) error {
		field(w, "Deployment", namespace+"/"+name)
		return told.print(w)
	})
}
