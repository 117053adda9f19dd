// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"context"
	"io"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/cli/internal/client"
	"berth.dev/berth/pkg/explain"
)

const subscriptionLong = `Tell how a subscription shares out its feeds, and why something has no place.

Clusters that were left because they were offline, by spec.failover, are listed with when they were left, and when they come into
question again: SINCE and RETURNS. While a cluster is offline, nobody knows the latter.

` + historyLong

const subscriptionExample = `  # Which cluster has what, and which one was left?
  berthctl explain subscription shop

  # The same for a program
  berthctl explain subscription shop -o json`

// unseenClusters is said in place of what follows from clusters to a user who may not see them.
const unseenClusters = "you may not see clusters"

func newSubscription(streams genericiooptions.IOStreams, factory *client.Factory) *cobra.Command {
	q := newQuestion(streams, factory, berthv1alpha1.SchemeGroupVersion.Group, "Subscription")
	cmd := &cobra.Command{
		Use: "subscription NAME", Aliases: []string{"subscriptions", "sub", "bsub"},
		Short: "Tell how a subscription shares out its feeds", Long: subscriptionLong, Example: subscriptionExample,
		Args:              q.one("NAME"),
		ValidArgsFunction: factory.Complete(subscriptionNames),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := q.past.Check(); err != nil {
				return err
			}
			return q.run(cmd.Context(), args[0], q.subscription)
		},
	}
	q.past.AddTo(cmd.Flags())
	q.output.AddTo(cmd)
	return cmd
}

// subscription works out how a subscription is carried out.
func (q *question) subscription(ctx context.Context, clients client.Clients, namespace, name string) (found, error) {
	berth := clients.Berth.BerthV1alpha1()
	s, err := berth.Subscriptions(namespace).Get(ctx, name, metav1.GetOptions{})
	if missing := q.missing(err, namespace, name); missing != nil {
		return found{}, missing
	}
	if err != nil {
		return found{}, client.DescribeBerthError("reading subscription "+name, err)
	}
	clusters, unseen, err := returning(ctx, clients, s)
	if err != nil {
		return found{}, err
	}
	answer := explain.Subscription(s, clusters, unseen)
	return found{
		object: func(told remembered) any { return subscriptionAndPast{answer, told} },
		text:   func(w io.Writer) error { return printSubscription(w, answer) },
	}, nil
}

// returning returns the clusters, which say when those that a subscription has left return, or why
// somebody may not see them: he learns the rest.
func returning(
	ctx context.Context, clients client.Clients, s *berthv1alpha1.Subscription,
) (clusters []berthv1alpha1.Cluster, unseen string, err error) {
	if len(s.Status.FailedOver) == 0 {
		return nil, "", nil
	}
	list, err := clients.Berth.BerthV1alpha1().Clusters().List(ctx, metav1.ListOptions{})
	switch {
	case apierrors.IsForbidden(err):
		return nil, unseenClusters, nil
	case err != nil:
		return nil, "", client.DescribeBerthError("listing clusters", err)
	}
	return list.Items, "", nil
}

// subscriptionAndPast is what programs get.
type subscriptionAndPast struct {
	*explain.SubscriptionAnswer
	remembered
}

// subscriptionNames returns the names of the subscriptions of a namespace.
func subscriptionNames(ctx context.Context, clients client.Clients, namespace string) ([]string, error) {
	list, err := clients.Berth.BerthV1alpha1().Subscriptions(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	return client.NamesOf(list.Items), nil
}
