// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/utils/clock"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/cli/internal/client"
	"berth.dev/berth/pkg/cli/internal/output"
	"berth.dev/berth/pkg/cli/internal/past"
	"berth.dev/berth/pkg/cli/internal/values"
	"berth.dev/berth/pkg/explain"
	"berth.dev/berth/pkg/history"
)

const applicationLong = `Tell why an application runs in its cluster, or in none.

Every cluster is listed, the best one first: what keeps the application away from it, or its score and the parts of the score,
each as value * weight. The values are those of this moment; the application is reviewed by them when its rescheduleAfter is
over. What its cluster gains by the stickiness is in the score. Which clusters have no room is told as of the last review, by
what the scheduler said then. Below stand the last ten decisions with the scores by which they were made.

` + historyLong

const applicationExample = `  # Why is it there?
  berthctl explain application shop

  # The same for a program
  berthctl explain application shop -o json`

// applicationOptions are the flags of explain application.
type applicationOptions struct {
	streams    genericiooptions.IOStreams
	factory    *client.Factory
	stickiness values.Stickiness
	// reschedule is how long a choice stands for applications that do not say.
	reschedule time.Duration
	output     *output.Flag
	past       past.Sources
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
	o.past.AddTo(cmd.Flags())
	o.stickiness.AddTo(cmd.Flags(), ", as the controller manager has it")
	cmd.Flags().DurationVar(&o.reschedule, "reschedule-after", explain.StandardDefaults().RescheduleAfter,
		"how long a choice stands for applications that do not say, as the controller manager has it")
	o.output.AddTo(cmd)
	return cmd
}

func (o *applicationOptions) run(ctx context.Context, name string) error {
	if err := o.check(); err != nil {
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
	answer, err := o.answer(ctx, clients, namespace, name)
	if err != nil {
		return err
	}
	told, err := tell(ctx, o.factory, &o.past, history.Object{
		Group: berthv1alpha1.SchemeGroupVersion.Group, Kind: "Application", Namespace: namespace, Name: name,
	})
	if err != nil {
		return err
	}
	return o.output.Print(o.streams.Out, applicationAndPast{answer, told}, func(w io.Writer) error {
		if err := printApplication(w, answer); err != nil {
			return err
		}
		return told.print(w)
	})
}

// check returns what is wrong with the flags.
func (o *applicationOptions) check() error {
	if o.reschedule < time.Second || o.reschedule > 24*time.Hour {
		return errors.New("--reschedule-after must be from 1s to 24h")
	}
	return errors.Join(o.stickiness.Check(), o.past.Check())
}

// answer works out why the application runs where it does.
func (o *applicationOptions) answer(
	ctx context.Context, clients client.Clients, namespace, name string,
) (*explain.ApplicationAnswer, error) {
	berth := clients.Berth.BerthV1alpha1()
	app, err := berth.Applications(namespace).Get(ctx, name, metav1.GetOptions{})
	if named(err, name) {
		return nil, fmt.Errorf("application %q not found in namespace %q", name, namespace)
	}
	if err != nil {
		return nil, client.DescribeBerthError("reading application "+name, err)
	}
	clusters, err := berth.Clusters().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, client.DescribeBerthError("listing clusters", err)
	}
	defaults := explain.ApplicationDefaults{Stickiness: o.stickiness.Stickiness, RescheduleAfter: o.reschedule}
	return explain.Application(app, clusters.Items, defaults, clock.RealClock{}.Now())
}

// applicationAndPast is what programs get.
type applicationAndPast struct {
	*explain.ApplicationAnswer
	remembered
}

// named reports whether an object is not there, rather than its kind.
func named(err error, name string) bool {
	var status apierrors.APIStatus
	return apierrors.IsNotFound(err) && errors.As(err, &status) && status.Status().Details != nil && status.Status().Details.Name == name
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
