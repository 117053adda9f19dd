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
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/cli/internal/client"
	"berth.dev/berth/pkg/cli/internal/clusters"
	"berth.dev/berth/pkg/cli/internal/output"
	"berth.dev/berth/pkg/cli/internal/values"
	"berth.dev/berth/pkg/placement/rank"
)

const applicationLong = `Tell why an application runs in its cluster, or in none.

Every cluster is listed, the best one first: what keeps the application away from it, or its score and the parts of the score,
each as value * weight. The values are those of this moment; the application is reviewed by them when its rescheduleAfter is
over. What its cluster gains by the stickiness is in the score.`

const applicationExample = `  # Why is it there?
  berthctl explain application shop

  # The same for a program
  berthctl explain application shop -o json`

// applicationOptions are the flags of explain application.
type applicationOptions struct {
	streams    genericiooptions.IOStreams
	factory    *client.Factory
	stickiness values.Stickiness
	output     *output.Flag
}

// applicationAnswer is the answer. The names of its fields are a promise to programs.
type applicationAnswer struct {
	Application             string             `json:"application"`
	Namespace               string             `json:"namespace"`
	ScheduledTo             string             `json:"scheduledTo,omitempty"`
	Scheduled               *metav1.Time       `json:"scheduled,omitempty"`
	KubeControllerTriggered *metav1.Time       `json:"kubeControllerTriggered,omitempty"`
	Conditions              []applicationState `json:"conditions"`
	Ranking                 []clusters.Ranked  `json:"ranking"`
}

type applicationState struct {
	Type    string `json:"type"`
	Status  string `json:"status"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

func newApplication(streams genericiooptions.IOStreams, factory *client.Factory) *cobra.Command {
	o := &applicationOptions{
		streams: streams, factory: factory, output: output.NewFlag(output.Text, output.JSON, output.YAML),
	}
	cmd := &cobra.Command{
		Use:     "application NAME",
		Aliases: []string{"applications", "app", "bapp"},
		Short:   "Tell why an application runs in its cluster, or in none",
		Long:    applicationLong,
		Example: applicationExample,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("%d applications named, name one: %s NAME", len(args), cmd.CommandPath())
			}
			return nil
		},
		ValidArgsFunction: factory.Complete(applicationNames),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), args[0])
		},
	}
	o.stickiness.AddTo(cmd.Flags(), ", as the controller manager has it")
	o.output.AddTo(cmd)
	return cmd
}

func (o *applicationOptions) run(ctx context.Context, name string) error {
	if err := o.stickiness.Check(); err != nil {
		return err
	}
	// kubectl prints applications as application.berth.dev/NAME, and people paste that.
	name = strings.TrimPrefix(name, "application.berth.dev/")
	if len(validation.IsDNS1123Subdomain(name)) > 0 {
		return fmt.Errorf("%.64q is no name of an application", name)
	}
	namespace, err := o.factory.Namespace()
	if err != nil {
		return err
	}
	clients, err := o.factory.Clients()
	if err != nil {
		return err
	}
	berth := clients.Berth.BerthV1alpha1()
	app, err := berth.Applications(namespace).Get(ctx, name, metav1.GetOptions{})
	if named(err, name) {
		return fmt.Errorf("application %q not found in namespace %q", name, namespace)
	}
	if err != nil {
		return client.DescribeBerthError("reading application "+name, err)
	}
	clusters, err := berth.Clusters().List(ctx, metav1.ListOptions{})
	if err != nil {
		return client.DescribeBerthError("listing clusters", err)
	}
	answer, err := explainApplication(app, clusters.Items, o.stickiness.Stickiness)
	if err != nil {
		return err
	}
	return o.output.Print(o.streams.Out, answer, func(w io.Writer) error { return answer.print(w) })
}

// named reports whether an object is not there, rather than its kind.
func named(err error, name string) bool {
	var status apierrors.APIStatus
	return apierrors.IsNotFound(err) && errors.As(err, &status) && status.Status().Details != nil && status.Status().Details.Name == name
}

func explainApplication(
	app *berthv1alpha1.Application, all []berthv1alpha1.Cluster, sticky rank.Stickiness,
) (*applicationAnswer, error) {
	constraints, err := rank.ParseConstraints(&app.Spec.Constraints)
	if err != nil {
		return nil, fmt.Errorf("application %s: %w", app.Name, err)
	}
	candidates := make([]rank.Candidate, len(all))
	for i := range all {
		candidates[i] = rank.ApplicationCandidate(&all[i], app)
		if all[i].Name == app.Status.ScheduledTo {
			candidates[i].LastScore = app.Status.Score
		}
	}
	results := rank.Rank(&rank.Request{
		UID: string(app.UID), Current: app.Status.ScheduledTo, Constraints: constraints,
		Stickiness: rank.ApplicationStickiness(app.Spec.Stickiness, sticky),
	}, candidates)
	answer := &applicationAnswer{
		Application: app.Name, Namespace: app.Namespace, ScheduledTo: app.Status.ScheduledTo, Scheduled: app.Status.Scheduled,
		KubeControllerTriggered: app.Status.KubeControllerTriggered,
		Conditions:              []applicationState{}, Ranking: clusters.RankedOf(results),
	}
	for _, c := range app.Status.Conditions {
		answer.Conditions = append(answer.Conditions, applicationState{c.Type, string(c.Status), c.Reason, c.Message})
	}
	return answer, nil
}

// applicationNames returns the names of the applications of a namespace.
func applicationNames(ctx context.Context, clients client.Clients, namespace string) ([]string, error) {
	list, err := clients.Berth.BerthV1alpha1().Applications(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	names := make([]string, len(list.Items))
	for i := range list.Items {
		names[i] = list.Items[i].Name
	}
	return names, nil
}
