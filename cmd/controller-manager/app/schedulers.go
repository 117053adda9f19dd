// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"berth.dev/berth/pkg/controllers/adviser"
	"berth.dev/berth/pkg/controllers/binding"
	"berth.dev/berth/pkg/controllers/dispatcher"
	"berth.dev/berth/pkg/controllers/grants"
	"berth.dev/berth/pkg/controllers/scheduler"
	"berth.dev/berth/pkg/controllers/state"
	"berth.dev/berth/pkg/history"
	"berth.dev/berth/pkg/ownership"
)

// dispatchQPS and dispatchBurst limit how many pods get a home.
const dispatchQPS, dispatchBurst = 500, 1000

// schedulerKinds are the kinds without which clusters have no homes.
var schedulerKinds = []string{"Scheduler", "Cluster", "PropagationPolicy"}

// startSchedulers starts the controllers of Schedulers as soon as their kinds are served. Nothing
// else waits for that.
func startSchedulers(
	mgr ctrl.Manager, opts *Options, fits *adviser.Adviser, owners *ownership.Directory, past *history.Background,
) func(context.Context) error {
	return func(ctx context.Context) error {
		if !awaitKinds(ctx, mgr, schedulerKinds...) {
			return nil
		}
		writer, err := podClient(mgr, dispatchQPS, dispatchBurst)
		if err != nil {
			return err
		}
		c, live := mgr.GetClient(), mgr.GetAPIReader()
		leases := state.NewLeases(live, writer, clock.RealClock{})
		err = setUp(mgr,
			&scheduler.Reconciler{
				Client: c, Live: live, Leases: leases, Clock: clock.RealClock{}, Recorder: mgr.GetEventRecorder(leaseName),
				Template: types.NamespacedName{Namespace: opts.LeaderElectionNamespace, Name: "berth-scheduler"},
			},
			&binding.Reconciler{Client: c, Live: live, Leases: leases, Clock: clock.RealClock{}, By: places[opts.BindClustersBy]},
			&scheduler.UnionReconciler{Client: c},
			&dispatcher.Reconciler{
				Client: c, Writer: writer, Topology: state.NewTracker(c), Clock: clock.RealClock{},
				SchedulerNames: opts.SchedulerNames, Adviser: fits, Owners: owners, History: past,
			},
		)
		if err != nil {
			return err
		}
		if !awaitKinds(ctx, mgr, "ClusterResource") {
			return nil
		}
		if err := setUp(mgr, &grants.Reconciler{
			Client: c, Live: live, Leases: leases, Adviser: fits, Clock: clock.RealClock{},
		}); err != nil {
			return err
		}
		<-ctx.Done()
		return nil
	}
}

// podClient returns a client for writes to pods, with limits of its own.
func podClient(mgr ctrl.Manager, qps float32, burst int) (client.Client, error) {
	config := rest.CopyConfig(mgr.GetConfig())
	config.QPS, config.Burst = qps, burst
	writer, err := client.New(config, client.Options{Scheme: mgr.GetScheme(), Mapper: mgr.GetRESTMapper()})
	if err != nil {
		return nil, fmt.Errorf("making a client for writes to pods: %w", err)
	}
	return writer, nil
}
