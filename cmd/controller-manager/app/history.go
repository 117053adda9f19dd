// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"fmt"

	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"berth.dev/berth/pkg/controllers/chronicle"
	"berth.dev/berth/pkg/history"
	"berth.dev/berth/pkg/history/serve"
)

// remembering is what a process remembers of what its controllers decide.
type remembering struct {
	ring *history.Ring
	past *history.Background
}

// remember returns what remembers if the options want that, and else remembers nothing.
func remember(opts *Options) *remembering {
	r := &remembering{}
	if opts.HistoryBindAddress != "" {
		r.ring = history.New(history.DefaultLimits(), clock.RealClock{})
	}
	r.past = history.NewBackground(r.ring)
	return r
}

// addTo has the manager serve what is remembered, also while it has no lease: then nothing is
// decided here, which the answer shows.
func (r *remembering) addTo(mgr ctrl.Manager, opts *Options) error {
	if !r.past.On() {
		return nil
	}
	client, err := kubernetes.NewForConfigAndClient(mgr.GetConfig(), mgr.GetHTTPClient())
	if err != nil {
		return fmt.Errorf("making a client: %w", err)
	}
	h := &serve.Handler{Process: serve.ProcessName(leaseName), Ring: r.ring}
	serving := func(ctx context.Context) error {
		if err := h.StartAlone(ctx, opts.HistoryBindAddress, opts.MetricsCertDir, client); err != nil {
			return err
		}
		r.past.Run(ctx)
		return nil
	}
	if err := mgr.Add(always(serving)); err != nil {
		return fmt.Errorf("adding the server of the history: %w", err)
	}
	return nil
}

// follow returns what remembers what the status of Berth's objects says, while the lease is held.
func (r *remembering) follow(mgr ctrl.Manager) func(context.Context) error {
	return func(ctx context.Context) error {
		if !r.past.On() {
			return nil
		}
		return chronicle.Follow(ctx, mgr.GetCache(), r.past, func(ctx context.Context, kind string) bool {
			return awaitKinds(ctx, mgr, kind)
		})
	}
}

// always runs with or without the lease.
type always func(context.Context) error

var _ manager.LeaderElectionRunnable = always(nil)

// Start implements manager.Runnable.
func (a always) Start(ctx context.Context) error { return a(ctx) }

// NeedLeaderElection implements manager.LeaderElectionRunnable.
func (always) NeedLeaderElection() bool { return false }
