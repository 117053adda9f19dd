// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"berth.dev/berth/pkg/cli/internal/client"
	"berth.dev/berth/pkg/cli/internal/objects"
	"berth.dev/berth/pkg/cli/internal/output"
)

const deleteLong = `Delete an Application, and with it the objects that Berth made for it.`

const deleteExample = `  berthctl app delete shop`

// deletion is the answer for programs.
type deletion struct {
	Deleted string `json:"deleted"`
}

func newDelete(streams genericiooptions.IOStreams, factory *client.Factory) *cobra.Command {
	format := output.NewFlag(output.Text, output.JSON, output.YAML)
	cmd := &cobra.Command{
		Use:               "delete NAME",
		Short:             "Delete an Application and its objects",
		Long:              deleteLong,
		Example:           deleteExample,
		Args:              objects.OneName(kind),
		ValidArgsFunction: completeNames(factory),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := remove(cmd.Context(), factory, args[0]); err != nil {
				return err
			}
			return format.Print(streams.Out, deletion{Deleted: args[0]}, func(w io.Writer) error {
				_, err := fmt.Fprintf(w, "%s %s deleted\n", kind, args[0])
				return err
			})
		},
	}
	format.AddTo(cmd)
	return cmd
}

func remove(ctx context.Context, factory *client.Factory, name string) error {
	namespace, err := factory.Namespace()
	if err != nil {
		return err
	}
	clients, err := factory.Clients()
	if err != nil {
		return err
	}
	err = clients.Berth.BerthV1alpha1().Applications(namespace).Delete(ctx, name, metav1.DeleteOptions{})
	if client.IsObjectMissing(err) {
		return fmt.Errorf("%s %q not found", kind, name)
	}
	return objects.Describe(fmt.Sprintf("deleting %s %q", kind, name), err)
}
