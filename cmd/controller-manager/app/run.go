// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"fmt"
	"os"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	controllerconfig "sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics/filters"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/manifests"
	"berth.dev/berth/pkg/controllers/accounts"
	"berth.dev/berth/pkg/controllers/adviser"
	"berth.dev/berth/pkg/controllers/application"
	"berth.dev/berth/pkg/controllers/conditions"
	"berth.dev/berth/pkg/controllers/metrics"
	"berth.dev/berth/pkg/controllers/policy"
	"berth.dev/berth/pkg/controllers/state"
	"berth.dev/berth/pkg/ownership"
	"berth.dev/berth/pkg/simulator"
)

// syncPatience is how long a controller waits for its first lists. A list that keeps failing,
// because a CRD was deleted in the meantime for instance, heals when the CRD comes back; to exit
// would gain nothing. Readiness tells of it.
const syncPatience = 365 * 24 * time.Hour

// newScheme returns the kinds that the controllers read and write.
func newScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	utilruntime.Must(clientgoscheme.AddToScheme(scheme))
	utilruntime.Must(berthv1alpha1.AddToScheme(scheme))
	utilruntime.Must(apiextensionsv1.AddToScheme(scheme))
	return scheme
}

// Run runs the controllers until the context ends or the lease is lost.
func Run(ctx context.Context, opts *Options, config *rest.Config) error {
	config = rest.CopyConfig(config)
	config.QPS, config.Burst = opts.KubeAPIQPS, opts.KubeAPIBurst
	rest.AddUserAgent(config, leaseName)
	options := managerOptions(opts)
	made, err := lockLease(&options, opts, config)
	if err != nil {
		return err
	}
	mgr, err := ctrl.NewManager(config, options)
	if err != nil {
		return fmt.Errorf("making the manager: %w", err)
	}
	made(mgr)
	for _, index := range []func(context.Context, client.FieldIndexer) error{
		policy.IndexPods, application.IndexPods, metrics.IndexPods, state.IndexConcerned,
	} {
		if err := index(ctx, mgr.GetFieldIndexer()); err != nil {
			return err
		}
	}
	if err := mgr.AddHealthzCheck("ping", healthz.Ping); err != nil {
		return fmt.Errorf("adding the liveness check: %w", err)
	}
	fits, err := newAdviser(opts, mgr)
	if err != nil {
		return err
	}
	defer fits.Close()
	owners, err := newOwners(mgr)
	if err != nil {
		return err
	}
	moves := state.NewMoves(opts.Moves, clock.RealClock{})
	memory := remember(opts)
	if err := memory.addTo(mgr, opts); err != nil {
		return err
	}
	if err := newStarter(mgr, opts, fits, moves, owners, memory.past).register(); err != nil {
		return err
	}
	for name, start := range optional(mgr, opts, fits, moves, owners, memory) {
		if err := mgr.Add(manager.RunnableFunc(start)); err != nil {
			return fmt.Errorf("adding the controllers of %s: %w", name, err)
		}
	}
	return mgr.Start(ctx)
}

// optional returns what starts the controllers of kinds that need not be installed, by the name of
// these kinds.
func optional(
	mgr ctrl.Manager, opts *Options, fits *adviser.Adviser, moves *state.Moves, owners *ownership.Directory, memory *remembering,
) map[string]func(context.Context) error {
	authors := accounts.New(accounts.Options{
		Config: mgr.GetConfig(), Client: client.Options{Scheme: mgr.GetScheme(), Mapper: mgr.GetRESTMapper()},
		Live: mgr.GetAPIReader(), Default: opts.Applications.DefaultServiceAccount, Clock: clock.RealClock{},
	})
	starts := map[string]func(context.Context) error{
		"conditions":                 exportConditions(mgr),
		"history":                    memory.follow(mgr),
		"Subscriptions":              startSubscriptions(mgr, opts, fits, authors, owners),
		"metrics":                    startMetrics(mgr, opts),
		"Schedulers":                 startSchedulers(mgr, opts, fits, owners, memory.past),
		"owners":                     startOwners(mgr, owners),
		"Applications":               startApplications(mgr, opts, fits, moves, authors),
		"ClusterPropagationPolicies": startClusterPolicies(mgr),
	}
	if opts.FeatureGates.Enabled(FeedInventory) {
		starts["FeedInventories"] = startFeeds(mgr, opts)
	}
	return starts
}

// exportConditions returns what counts the conditions of Berth's kinds while the lease is held.
func exportConditions(mgr ctrl.Manager) func(context.Context) error {
	return func(ctx context.Context) error {
		conditions.Export(ctx, mgr.GetClient(), func(kind string) bool { return served(mgr.GetRESTMapper(), kind) })
		return nil
	}
}

// newAdviser makes what answers where pods fit, by the configuration of the scheduler.
func newAdviser(opts *Options, mgr ctrl.Manager) (*adviser.Adviser, error) {
	profile, err := schedulerProfile(opts)
	if err != nil {
		return nil, err
	}
	if leftOut := profile.LeftOut(); len(leftOut) > 0 {
		mgr.GetLogger().Info("What fits is found out without asking all that the scheduler asks", "leftOut", leftOut)
	}
	return adviser.New(profile, mgr.GetClient())
}

// schedulerProfile reads the profile of Berth's scheduler.
func schedulerProfile(opts *Options) (*simulator.Profile, error) {
	configuration := manifests.SchedulerConfiguration
	if opts.SchedulerConfig != "" {
		var err error
		if configuration, err = os.ReadFile(opts.SchedulerConfig); err != nil {
			return nil, fmt.Errorf("--scheduler-config: %w", err)
		}
	}
	profile, err := simulator.ParseProfile(configuration, opts.SchedulerNames...)
	if err == nil {
		err = profile.CheckBerths()
	}
	if err != nil {
		return nil, fmt.Errorf("--scheduler-config: %w", err)
	}
	return profile, nil
}

func managerOptions(opts *Options) ctrl.Options {
	return ctrl.Options{
		Scheme: newScheme(),
		Cache: cache.Options{
			ByObject:         cached(),
			DefaultTransform: cache.TransformStripManagedFields(),
		},
		Metrics: metricsserver.Options{
			BindAddress:    opts.MetricsBindAddress,
			SecureServing:  true,
			CertDir:        opts.MetricsCertDir,
			FilterProvider: filters.WithAuthenticationAndAuthorization,
		},
		HealthProbeBindAddress:  opts.HealthProbeBindAddress,
		LeaderElection:          opts.LeaderElect,
		LeaderElectionID:        leaseName,
		LeaderElectionNamespace: opts.LeaderElectionNamespace,
		LeaseDuration:           &opts.LeaseDuration,
		RenewDeadline:           &opts.RenewDeadline,
		RetryPeriod:             &opts.RetryPeriod,
		// The process ends with the manager, so nothing works on after the lease is given back.
		LeaderElectionReleaseOnCancel: true,
		Controller: controllerconfig.Controller{
			CacheSyncTimeout: syncPatience,
			// Tests run several managers in one process.
			SkipNameValidation: new(true),
		},
	}
}
