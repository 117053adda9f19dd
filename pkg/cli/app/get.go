// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/cli/internal/client"
	"berth.dev/berth/pkg/cli/internal/clusters"
	"berth.dev/berth/pkg/cli/internal/objects"
	"berth.dev/berth/pkg/cli/internal/output"
	"berth.dev/berth/pkg/feeds/manifest"
)

const getLong = `Show an Application: where it runs, since when, what it asks of a cluster, and what it consists of.

SCORE is the score of the cluster when it was last compared with others.`

const getExample = `  # For people
  berthctl app get shop

  # The cluster, for a program
  berthctl app get shop -o json | jq -r .status.scheduledTo`

func newGet(streams genericiooptions.IOStreams, factory *client.Factory) *cobra.Command {
	format := output.NewFlag(output.Table, output.JSON, output.YAML)
	cmd := &cobra.Command{
		Use:               "get NAME",
		Short:             "Show an Application",
		Long:              getLong,
		Example:           getExample,
		Args:              objects.OneName(kind),
		ValidArgsFunction: completeNames(factory),
		RunE: func(cmd *cobra.Command, args []string) error {
			return show(cmd.Context(), streams, factory, format, args[0])
		},
	}
	format.AddTo(cmd)
	return cmd
}

func show(
	ctx context.Context, streams genericiooptions.IOStreams, factory *client.Factory, format *output.Flag, name string,
) error {
	namespace, err := factory.Namespace()
	if err != nil {
		return err
	}
	clients, err := factory.Clients()
	if err != nil {
		return err
	}
	app, err := find(ctx, clients.Berth.BerthV1alpha1().Applications(namespace), name)
	if err != nil {
		return err
	}
	objects.Identify(app)
	return format.Print(streams.Out, app, func(w io.Writer) error {
		return output.Rows(w, false, []output.Column{{Name: "Field"}, {Name: "Value"}}, describe(app))
	})
}

// describe returns a row for each property. A property with several values has several rows.
func describe(app *berthv1alpha1.Application) [][]any {
	constraints := &app.Spec.Constraints
	d := &description{}
	d.add("name", app.Name)
	d.add("namespace", app.Namespace)
	d.add("labels", labels(app.Labels)...)
	d.add("cluster", app.Status.ScheduledTo)
	d.add("score", score(app))
	d.add("scheduled", moment(app.Status.Scheduled))
	d.add("kube controller triggered", moment(app.Status.KubeControllerTriggered))
	d.add("migration", string(app.Spec.Migration))
	d.add("reschedule after", after(app.Spec.RescheduleAfter))
	d.add("label constraints", constraints.ClusterLabels...)
	d.add("metric constraints", constraints.ClusterMetrics...)
	d.add("resource constraints", constraints.CustomResources...)
	d.add("objects", titles(app.Spec.Manifests)...)
	for _, condition := range []string{berthv1alpha1.ApplicationScheduled, berthv1alpha1.ApplicationReady} {
		v := conditionOf(app, condition)
		d.add(strings.ToLower(condition), strings.TrimSpace(v.status+" "+v.reason), v.message)
	}
	return d.rows
}

// description is a table of properties.
type description struct {
	rows [][]any
}

// add adds a row for each value that there is, <none> if there is none.
func (d *description) add(field string, values ...string) {
	values = slices.DeleteFunc(slices.Clone(values), func(value string) bool { return value == "" })
	if len(values) == 0 {
		values = []string{clusters.OrNone("")}
	}
	for i, value := range values {
		if i > 0 {
			field = ""
		}
		d.rows = append(d.rows, []any{field, output.OneLine(value)})
	}
}

func labels(of map[string]string) []string {
	all := make([]string, 0, len(of))
	for _, key := range slices.Sorted(maps.Keys(of)) {
		all = append(all, key+"="+of[key])
	}
	return all
}

func moment(when *metav1.Time) string {
	if when == nil {
		return ""
	}
	return when.UTC().Format(time.RFC3339) + ", " + since(when) + " ago"
}

func after(d *metav1.Duration) string {
	if d == nil {
		return ""
	}
	return d.Duration.String()
}

// titles returns the objects as "deployment/shop".
func titles(manifests []berthv1alpha1.Manifest) []string {
	all := make([]string, 0, len(manifests))
	for i := range manifests {
		title := "not an object"
		if object, err := manifest.Decode(manifests[i].Raw); err == nil {
			if id, err := object.Identity(); err == nil {
				title = strings.ToLower(id.Kind) + "/" + id.Name
			}
		}
		all = append(all, title)
	}
	return all
}
