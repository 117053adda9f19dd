// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"

	ctrl "sigs.k8s.io/controller-runtime"

	"berth.dev/berth/pkg/controllers/accounts"
	"berth.dev/berth/pkg/controllers/adviser"
	"berth.dev/berth/pkg/controllers/state"
	"berth.dev/berth/pkg/controllers/subscription"
	"berth.dev/berth/pkg/ownership"
)

// subscriptionKinds are the kinds without which Subscriptions cannot be carried out.
var subscriptionKinds = []string{"Cluster", "PropagationPolicy", "Subscription", "FeedInventory"}

// startSubscriptions starts the controller that divides the feeds of Subscriptions as soon as its
// kinds are served.
func startSubscriptions(
	mgr ctrl.Manager, opts *Options, fits *adviser.Adviser, authors *accounts.Accounts, owners *ownership.Directory,
) func(context.Context) error {
	return func(ctx context.Context) error {
		if !awaitKinds(ctx, mgr, subscriptionKinds...) {
			return nil
		}
		controller := subscription.New(subscription.Options{
			Client: mgr.GetClient(), Live: mgr.GetAPIReader(), Account: authors.Of, Topology: state.NewTracker(mgr.GetClient()),
			Recorder: mgr.GetEventRecorder(leaseName), OwnInventories: opts.FeatureGates.Enabled(FeedInventory),
			Adviser: fits, Owners: owners, PromiseLife: opts.PromiseTimeout,
		})
		if err := setUp(mgr, controller); err != nil {
			return err
		}
		<-ctx.Done()
		return nil
	}
}
