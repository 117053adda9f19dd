// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/cli/internal/client"
	"berth.dev/berth/pkg/cli/internal/clusters"
	"berth.dev/berth/pkg/cli/internal/objects"
	"berth.dev/berth/pkg/cli/internal/output"
)

const listLong = `List Applications.

  CLUSTER    the cluster that was chosen
  SCORE      its score when it was last compared with others
  SCHEDULED  how long ago it was chosen
  READY      True once the objects are there and their pods are ready
  REASON     why none was chosen, else why it is not ready, else why it was chosen

With -o wide also MIGRATION and the number of OBJECTS.`

const listExample = `  # Of all namespaces
  berthctl app list -A

  # What runs where, for a program
  berthctl app list -o json | jq '.items[] | {(.metadata.name): .status.scheduledTo}'`

const (
	// pageSize bounds the applications that are asked for at once.
	pageSize = 500

	// completionTimeout is how long a shell waits for names.
	completionTimeout = 3 * time.Second

	unknown = "Unknown"
)

func newList(streams genericiooptions.IOStreams, factory *client.Factory) *cobra.Command {
	format := output.NewFlag(output.Table, output.Wide, output.JSON, output.YAML)
	all := false
	cmd := &cobra.Command{
		Use:               "list",
		Short:             "List Applications",
		Long:              listLong,
		Example:           listExample,
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return showList(cmd.Context(), streams, factory, format, all)
		},
	}
	cmd.Flags().BoolVarP(&all, "all-namespaces", "A", false, "list the applications of all namespaces")
	format.AddTo(cmd)
	return cmd
}

func showList(
	ctx context.Context, streams genericiooptions.IOStreams, factory *client.Factory, format *output.Flag, all bool,
) error {
	namespace := metav1.NamespaceAll
	if !all {
		var err error
		if namespace, err = factory.Namespace(); err != nil {
			return err
		}
	}
	apps, err := list(ctx, factory, namespace)
	if err != nil {
		return err
	}
	if len(apps.Items) == 0 && format.ForPeople() {
		fmt.Fprintln(streams.ErrOut, "There are no applications.")
	}
	return format.Print(streams.Out, apps, func(w io.Writer) error { return table(w, format.Wide(), all, apps.Items) })
}

// list returns all Applications of a namespace, or of all.
func list(ctx context.Context, factory *client.Factory, namespace string) (*berthv1alpha1.ApplicationList, error) {
	clients, err := factory.Clients()
	if err != nil {
		return nil, err
	}
	// An empty list is a list for programs too.
	apps := &berthv1alpha1.ApplicationList{Items: []berthv1alpha1.Application{}}
	objects.Identify(apps)
	options := metav1.ListOptions{Limit: pageSize}
	for {
		page, err := clients.Berth.BerthV1alpha1().Applications(namespace).List(ctx, options)
		if err != nil {
			return nil, client.DescribeBerthError("listing applications", err)
		}
		for i := range page.Items {
			objects.Identify(&page.Items[i])
		}
		apps.Items = append(apps.Items, page.Items...)
		if options.Continue = page.Continue; options.Continue == "" {
			return apps, nil
		}
	}
}

var columns = []output.Column{
	{Name: "Name"}, {Name: "Cluster"}, {Name: "Score"}, {Name: "Scheduled"}, {Name: "Ready"}, {Name: "Reason"},
	{Name: "Migration", Wide: true}, {Name: "Objects", Wide: true},
}

func table(w io.Writer, wide, namespaced bool, apps []berthv1alpha1.Application) error {
	header := columns
	if namespaced {
		header = append([]output.Column{{Name: "Namespace"}}, columns...)
	}
	rows := make([][]any, 0, len(apps))
	for i := range apps {
		app := &apps[i]
		row := []any{
			app.Name, clusters.OrNone(app.Status.ScheduledTo), score(app), since(app.Status.Scheduled),
			conditionOf(app, berthv1alpha1.ApplicationReady).status, clusters.OrNone(reason(app)),
			string(app.Spec.Migration), len(app.Spec.Manifests),
		}
		if namespaced {
			row = append([]any{app.Namespace}, row...)
		}
		rows = append(rows, row)
	}
	return output.Rows(w, wide, header, rows)
}

// reason is what stands in the way of the application, else why its cluster was chosen.
func reason(app *berthv1alpha1.Application) string {
	scheduled, ready := conditionOf(app, berthv1alpha1.ApplicationScheduled), conditionOf(app, berthv1alpha1.ApplicationReady)
	if scheduled.status == string(metav1.ConditionTrue) && ready.status == string(metav1.ConditionFalse) {
		return ready.reason
	}
	return scheduled.reason
}

// score returns the score for people: four digits tell clusters apart.
func score(app *berthv1alpha1.Application) string {
	if app.Status.Score == nil {
		return clusters.OrNone("")
	}
	return strconv.FormatFloat(*app.Status.Score, 'g', 4, 64)
}

// since returns how long ago something happened.
func since(when *metav1.Time) string {
	if when == nil {
		return clusters.OrNone("")
	}
	return duration.HumanDuration(time.Since(when.Time))
}

// verdict is a condition for people.
type verdict struct {
	status, reason, message string
}

func conditionOf(app *berthv1alpha1.Application, kind string) verdict {
	condition := apimeta.FindStatusCondition(app.Status.Conditions, kind)
	if condition == nil {
		return verdict{status: unknown}
	}
	return verdict{status: string(condition.Status), reason: condition.Reason, message: condition.Message}
}

// completeNames offers the Applications of the namespace to the shell, nothing if they cannot be read.
func completeNames(factory *client.Factory) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		ctx, cancel := context.WithTimeout(cmd.Context(), completionTimeout)
		defer cancel()
		var names []string
		if namespace, err := factory.Namespace(); err == nil && len(args) == 0 {
			if apps, err := list(ctx, factory, namespace); err == nil {
				for i := range apps.Items {
					names = append(names, apps.Items[i].Name)
				}
			}
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}
