// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"context"
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
	"berth.dev/berth/pkg/cli/internal/output"
	"berth.dev/berth/pkg/cli/internal/past"
	"berth.dev/berth/pkg/explain"
	"berth.dev/berth/pkg/history"
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

// subscriptionOptions are the flags of explain subscription.
type subscriptionOptions struct {
	streams genericiooptions.IOStreams
	factory *client.Factory
	output  *output.Flag
	past    past.Sources
}

func newSubscription(streams genericiooptions.IOStreams, factory *client.Factory) *cobra.Command {
	o := &subscriptionOptions{streams: streams, factory: factory, output: output.NewFlag(output.Text, output.JSON, output.YAML)}
	cmd := &cobra.Command{
		Use: "subscription NAME", Aliases: []string{"subscriptions", "sub", "bsub"},
		Short: "Tell how a subscription shares out its feeds", Long: subscriptionLong, Example: subscriptionExample,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("%d subscriptions named, name one: %s NAME", len(args), cmd.CommandPath())
			}
			return nil
		},
		ValidArgsFunction: factory.Complete(subscriptionNames),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), args[0])
		},
	}
	o.past.AddTo(cmd.Flags())
	o.output.AddTo(cmd)
	return cmd
}

func (o *subscriptionOptions) run(ctx context.Context, name string) error {
	if err := o.past.Check(); err != nil {
		return err
	}
	name = strings.TrimPrefix(name, "subscription.berth.dev/")
	if len(validation.IsDNS1123Subdomain(name)) > 0 {
		return fmt.Errorf("%.64q is no name of a subscription", name)
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
		Group: berthv1alpha1.SchemeGroupVersion.Group, Kind: "Subscription", Namespace: namespace, Name: name,
	})
	if err != nil {
		return err
	}
	return o.output.Print(o.streams.Out, subscriptionAndPast{answer, told}, func(w io.Writer) error {
		if err := printSubscription(w, answer); err != nil {
			return err
		}
		return told.print(w)
	})
}

// answer works out how the subscription is carried out. Who may not see clusters learns the rest.
func (o *subscriptionOptions) answer(
	ctx context.Context, clients client.Clients, namespace, name string,
) (*explain.SubscriptionAnswer, error) {
	berth := clients.Berth.BerthV1alpha1()
	s, err := berth.Subscriptions(namespace).Get(ctx, name, metav1.GetOptions{})
	if named(err, name) {
		return nil, fmt.Errorf("subscription %q not found in namespace %q", name, namespace)
	}
	if err != nil {
		return nil, client.DescribeBerthError("reading subscription "+name, err)
	}
	if len(s.Status.FailedOver) == 0 {
		return explain.Subscription(s, nil, ""), nil
	}
	clusters, err := berth.Clusters().List(ctx, metav1.ListOptions{})
	if apierrors.IsForbidden(err) {
		return explain.Subscription(s, nil, unseenClusters), nil
	}
	if err != nil {
		return nil, client.DescribeBerthError("listing clusters", err)
	}
	return explain.Subscription(s, clusters.Items, ""), nil
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
	names := make([]string, len(list.Items))
	for i := range list.Items {
		names[i] = list.Items[i].Name
	}
	return names, nil
}
