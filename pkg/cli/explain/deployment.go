// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"context"
	"errors"
	"io"

	"github.com/spf13/cobra"
	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"berth.dev/berth/pkg/cli/internal/client"
	"berth.dev/berth/pkg/cli/internal/past"
)

const deploymentLong = `Tell what was decided about a deployment and its pods, those that are gone included. Where its pods are now tells berthctl get
placement.

` + historyLong

const deploymentExample = `  # What has become of its pods in the last hours?
  berthctl explain deployment nginx --history`

func newDeployment(streams genericiooptions.IOStreams, factory *client.Factory) *cobra.Command {
	q := newQuestion(streams, factory, appsv1.GroupName, "Deployment")
	cmd := &cobra.Command{
		Use: "deployment NAME --history", Aliases: []string{"deployments", "deploy"},
		Short: "Tell what was decided about a deployment", Long: deploymentLong, Example: deploymentExample,
		Args:              q.one("NAME --history"),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			return q.deployment(cmd.Context(), args[0])
		},
	}
	q.past.AddTo(cmd.Flags())
	q.output.AddTo(cmd)
	return cmd
}

var errPresent = errors.New("where the pods of a deployment are tells berthctl get placement; add --history for what was decided before")

// deployment tells what the processes remember of a deployment.
func (q *question) deployment(ctx context.Context, name string) error {
	if !q.past.Wanted {
		return errPresent
	}
	if err := q.past.Check(); err != nil {
		return err
	}
	name, err := q.clean(name)
	if err != nil {
		return err
	}
	namespace, err := q.factory.Namespace()
	if err != nil {
		return err
	}
	told, err := q.tell(ctx, namespace, name)
	if err != nil {
		return err
	}
	if told.empty() && !past.Unheard(told.History) && q.gone(ctx, namespace, name) {
		return q.notFound(namespace, name, told)
	}
	return q.output.Print(q.streams.Out, told, func(w io.Writer) error {
		field(w, "Deployment", namespace+"/"+name)
		return told.print(w)
	})
}

// gone reports whether there is no such deployment. Who may not get it is not told.
func (q *question) gone(ctx context.Context, namespace, name string) bool {
	clients, err := q.factory.Clients()
	if err != nil {
		return false
	}
	_, err = clients.Kubernetes.AppsV1().Deployments(namespace).Get(ctx, name, metav1.GetOptions{})
	return apierrors.IsNotFound(err)
}
