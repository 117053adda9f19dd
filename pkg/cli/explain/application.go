// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/utils/clock"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/cli/internal/client"
	"berth.dev/berth/pkg/cli/internal/values"
	"berth.dev/berth/pkg/explain"
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
	question
	stickiness values.Stickiness
	// reschedule is how long a choice stands for applications that do not say.
	reschedule time.Duration
}

func newApplication(streams genericiooptions.IOStreams, factory *client.Factory) *cobra.Command {
	o := &applicationOptions{question: newQuestion(streams, factory, berthv1alpha1.SchemeGroupVersion.Group, "Application")}
	cmd := &cobra.Command{
		Use:               "application NAME",
		Aliases:           []string{"applications", "app", "bapp"},
		Short:             "Tell why an application runs in its cluster, or in none",
		Long:              applicationLong,
		Example:           applicationExample,
		Args:              o.one("NAME"),
		ValidArgsFunction: factory.Complete(applicationNames),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.check(); err != nil {
				return err
			}
			return o.run(cmd.Context(), args[0], o.answer)
		},
	}
	o.past.AddTo(cmd.Flags())
	o.stickiness.AddTo(cmd.Flags(), ", as the controller manager has it")
	cmd.Flags().DurationVar(&o.reschedule, "reschedule-after", explain.StandardDefaults().RescheduleAfter,
		"how long a choice stands for applications that do not say, as the controller manager has it")
	o.output.AddTo(cmd)
	return cmd
}

// check returns what is wrong with the flags.
func (o *applicationOptions) check() error {
	if o.reschedule < time.Second || o.reschedule > 24*time.Hour {
		return errors.New("--reschedule-after must be from 1s to 24h")
	}
	return errors.Join(o.stickiness.Check(), o.past.Check())
}

// answer works out why the application runs where it does.
func (o *applicationOptions) answer(ctx context.Context, clients client.Clients, namespace, name string) (found, error) {
	berth := clients.Berth.BerthV1alpha1()
	app, err := berth.Applications(namespace).Get(ctx, name, metav1.GetOptions{})
	if missing := o.missing(err, namespace, name); missing != nil {
		return found{}, missing
	}
	if err != nil {
		return found{}, client.DescribeBerthError("reading application "+name, err)
	}
	clusters, err := berth.Clusters().List(ctx, metav1.ListOptions{})
	if err != nil {
		return found{}, client.DescribeBerthError("listing clusters", err)
	}
	defaults := explain.ApplicationDefaults{Stickiness: o.stickiness.Stickiness, RescheduleAfter: o.reschedule}
	answer, err := explain.Application(app, clusters.Items, defaults, clock.RealClock{}.Now())
	return found{
		object: func(told remembered) any { return applicationAndPast{answer, told} },
		text:   func(w io.Writer) error { return printApplication(w, answer) },
	}, err
}

// applicationAndPast is what programs get.
type applicationAndPast struct {
	*explain.ApplicationAnswer
	remembered
}

// applicationNames returns the names of the applications of a namespace.
func applicationNames(ctx context.Context, clients client.Clients, namespace string) ([]string, error) {
	list, err := clients.Berth.BerthV1alpha1().Applications(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	return client.NamesOf(list.Items), nil
}
