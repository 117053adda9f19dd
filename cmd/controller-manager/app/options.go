// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"errors"
	"flag"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/pflag"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	cliflag "k8s.io/component-base/cli/flag"
	"k8s.io/component-base/featuregate"
	logsapi "k8s.io/component-base/logs/api/v1"
	"sigs.k8s.io/controller-runtime/pkg/client/config"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/controllers/cluster"
	"berth.dev/berth/pkg/history/serve"
	"berth.dev/berth/pkg/placement/movelimit"
	"berth.dev/berth/pkg/placement/promise"
	"berth.dev/berth/pkg/placement/rendezvous"
)

// leaseName is the lease that the running instance holds.
const leaseName = "berth-controller-manager"

// Options are the settings of the controller manager.
type Options struct {
	// LeaderElect lets one instance at a time work, so that several can be started.
	LeaderElect bool
	// LeaderElectionNamespace is where the lease lies. The namespace must exist. If it is not the
	// usual one, the usual lease is held as well.
	LeaderElectionNamespace string
	// LeaseDuration, RenewDeadline and RetryPeriod are the times of the leader election.
	LeaseDuration, RenewDeadline, RetryPeriod time.Duration
	// MetricsBindAddress is where metrics are served over TLS, to those whom the API server lets
	// read them; "0" for not at all.
	MetricsBindAddress string
	// MetricsCertDir holds tls.crt and tls.key of the metrics endpoint; empty for a self-signed
	// certificate.
	MetricsCertDir string
	// HealthProbeBindAddress is where /healthz and /readyz are served; "0" for not at all.
	HealthProbeBindAddress string
	// HistoryBindAddress is where it is served over TLS what the controllers have decided; empty for
	// not at all, and then nothing is remembered.
	HistoryBindAddress string
	// KubeAPIQPS and KubeAPIBurst limit the requests to the API server.
	KubeAPIQPS   float32
	KubeAPIBurst int
	// SchedulerNames are the values of spec.schedulerName that Berth's scheduler serves.
	SchedulerNames []string
	// BindClustersBy is the place whose clusters go to one Scheduler where the balance allows: None,
	// Region, Province or City.
	BindClustersBy string
	// SchedulerConfig is the file with the KubeSchedulerConfiguration of berth-scheduler, by which
	// it is known what fits where; empty for the one that is shipped.
	SchedulerConfig string
	// Metrics are the settings of reading metrics.
	Metrics MetricsOptions
	// Applications are the settings of Applications.
	Applications ApplicationOptions
	// PromiseTimeout is how long room is kept for replicas since the last of their pods was made.
	PromiseTimeout time.Duration
	// Moves limit how many pods begin to move to another cluster.
	Moves movelimit.Limits
	// OnlineShares are the shares of ready nodes at which Clusters come online and go offline.
	OnlineShares cluster.Shares
	// FeatureGates switch features on and off.
	FeatureGates featuregate.MutableFeatureGate
	// FeedParsers are the kinds whose parsers are used of those that are built in, "*" for all.
	FeedParsers []string
	// Logging are the flags of logging.
	Logging *logsapi.LoggingConfiguration
}

// NewOptions returns the defaults.
func NewOptions() *Options {
	return &Options{
		LeaderElect:             true,
		LeaderElectionNamespace: berthv1alpha1.SystemNamespace,
		LeaseDuration:           15 * time.Second,
		RenewDeadline:           10 * time.Second,
		RetryPeriod:             2 * time.Second,
		MetricsBindAddress:      ":8443",
		HealthProbeBindAddress:  ":8081",
		KubeAPIQPS:              100,
		KubeAPIBurst:            200,
		SchedulerNames:          []string{"berth-scheduler"},
		BindClustersBy:          "None",
		Metrics:                 defaultMetricsOptions(),
		Applications:            defaultApplicationOptions(),
		PromiseTimeout:          promise.DefaultLife,
		Moves:                   defaultMoves,
		OnlineShares:            cluster.DefaultShares,
		FeatureGates:            newFeatureGates(),
		FeedParsers:             []string{allParsers},
		Logging:                 logsapi.NewLoggingConfiguration(),
	}
}

// Flags returns the flags that set the options, in the groups in which the help shows them.
func (o *Options) Flags() cliflag.NamedFlagSets {
	var sets cliflag.NamedFlagSets
	api := sets.FlagSet("api server")
	api.AddGoFlag(flag.CommandLine.Lookup(config.KubeconfigFlagName))
	api.Float32Var(&o.KubeAPIQPS, "kube-api-qps", o.KubeAPIQPS, "Requests per second to the API server.")
	api.IntVar(&o.KubeAPIBurst, "kube-api-burst", o.KubeAPIBurst, "Requests to the API server that may come at once.")

	leader := sets.FlagSet("leader election")
	leader.BoolVar(&o.LeaderElect, "leader-elect", o.LeaderElect,
		"Work only while holding the lease "+leaseName+". Switch this off only if there is a single instance.")
	leader.StringVar(&o.LeaderElectionNamespace, "leader-election-namespace", o.LeaderElectionNamespace,
		"Namespace of the lease. It must exist. In another than "+berthv1alpha1.SystemNamespace+" the lease there is held as well, so "+
			"that two that do not know of each other do not work at a time.")
	leader.DurationVar(&o.LeaseDuration, "leader-elect-lease-duration", o.LeaseDuration,
		"How long others wait after the last renewal before they take the lease.")
	leader.DurationVar(&o.RenewDeadline, "leader-elect-renew-deadline", o.RenewDeadline,
		"How long the holder tries to renew the lease before it gives up and exits.")
	leader.DurationVar(&o.RetryPeriod, "leader-elect-retry-period", o.RetryPeriod, "Pause between two attempts.")

	serving := sets.FlagSet("serving")
	serving.StringVar(&o.MetricsBindAddress, "metrics-bind-address", o.MetricsBindAddress,
		"Address of /metrics, served over TLS to clients that the API server authenticates and authorizes. 0 switches it off.")
	serving.StringVar(&o.MetricsCertDir, "metrics-cert-dir", o.MetricsCertDir,
		"Directory with tls.crt and tls.key for the metrics. Without it a self-signed certificate is made.")
	serving.StringVar(&o.HealthProbeBindAddress, "health-probe-bind-address", o.HealthProbeBindAddress,
		"Address of /healthz and /readyz. 0 switches them off.")
	serving.StringVar(&o.HistoryBindAddress, serve.Flag, o.HistoryBindAddress, serve.FlagUsage)

	berth := sets.FlagSet("berth")
	berth.StringSliceVar(&o.SchedulerNames, "scheduler-names", o.SchedulerNames,
		"Values of spec.schedulerName that Berth's scheduler serves: the names of its profiles.")
	berth.StringVar(&o.BindClustersBy, "bind-clusters-by", o.BindClustersBy,
		"Place whose Clusters go to one Scheduler where the balance allows: None, Region, Province or City.")
	berth.StringVar(&o.SchedulerConfig, "scheduler-config", o.SchedulerConfig,
		"File with the KubeSchedulerConfiguration of berth-scheduler: what fits where is asked of its plugins. "+
			"The first profile with one of the scheduler names counts. Without it the configuration that is shipped.")
	berth.StringSliceVar(&o.FeedParsers, "feed-parsers", o.FeedParsers,
		"Kinds that the built-in parsers of feeds read, such as Deployment,StatefulSet; * for all. FeedParsers come first.")
	o.Metrics.addTo(berth)
	berth.Float64Var(&o.OnlineShares.Online, "cluster-online-share", o.OnlineShares.Online,
		"Share of ready nodes at which a Cluster comes online.")
	berth.Float64Var(&o.OnlineShares.Offline, "cluster-offline-share", o.OnlineShares.Offline,
		"Share of ready nodes below which a Cluster goes offline.")
	o.addPlacing(berth)
	o.FeatureGates.AddFlag(berth)
	o.Applications.addTo(&sets)

	logsapi.AddFlags(o.Logging, sets.FlagSet("logging"))
	return sets
}

// addPlacing adds the flags of what is promised and moved.
func (o *Options) addPlacing(flags *pflag.FlagSet) {
	flags.DurationVar(&o.PromiseTimeout, "promise-timeout", o.PromiseTimeout,
		"How long room that was promised is kept: for replicas whose pods nobody makes, since the last one was made, and for a bundle "+
			"of which no pod has a node, since it was admitted.")
	flags.IntVar(&o.Moves.PerMinute, "max-moves-per-minute", o.Moves.PerMinute,
		"How many pods may begin to move to another Cluster in a minute, over all policies and Applications. 0 is no limit.")
	flags.IntVar(&o.Moves.PerCluster, "max-moves-per-cluster", o.Moves.PerCluster,
		"How many of these may begin to move to one Cluster in a minute. 0 is no limit.")
}

// Validate returns what is wrong with the options, all at once.
func (o *Options) Validate() error {
	var errs []error
	if o.LeaderElect {
		if o.LeaderElectionNamespace == "" {
			errs = append(errs, errors.New("--leader-election-namespace must not be empty"))
		}
		if o.RetryPeriod <= 0 || o.RenewDeadline <= o.RetryPeriod || o.LeaseDuration <= o.RenewDeadline {
			errs = append(errs, fmt.Errorf(
				"--leader-elect-lease-duration (%v) must exceed --leader-elect-renew-deadline (%v), "+
					"and that --leader-elect-retry-period (%v), and all must be positive",
				o.LeaseDuration, o.RenewDeadline, o.RetryPeriod))
		}
	}
	if o.KubeAPIQPS <= 0 || o.KubeAPIBurst <= 0 {
		errs = append(errs, errors.New("--kube-api-qps and --kube-api-burst must be positive"))
	}
	if len(o.SchedulerNames) == 0 || slices.Contains(o.SchedulerNames, "") {
		errs = append(errs, errors.New("--scheduler-names must list at least one name, and no empty one"))
	}
	errs = append(errs, o.Metrics.validate(), o.Applications.validate(), o.validateShares(), o.validatePlacing())
	if _, known := places[o.BindClustersBy]; !known {
		errs = append(errs, fmt.Errorf("--bind-clusters-by must be None, Region, Province or City, not %.64q", o.BindClustersBy))
	}
	if _, err := feedParsers(o.FeedParsers); err != nil {
		errs = append(errs, err)
	}
	return utilerrors.NewAggregate(errs)
}

// minPromiseTimeout leaves controllers and schedulers the time to make pods and to bind them.
const minPromiseTimeout, maxPromiseTimeout = 10 * time.Second, 24 * time.Hour

// defaultMoves let what a small site holds move at once, 50 pods and 25 of these to one Cluster,
// and slow down what concerns many sites or large ones.
var defaultMoves = movelimit.Limits{PerMinute: 600, PerCluster: 300}

// maxMoves is the highest limit of moves.
const maxMoves = 1_000_000

func (o *Options) validatePlacing() error {
	var errs []error
	if o.PromiseTimeout < minPromiseTimeout || o.PromiseTimeout > maxPromiseTimeout {
		errs = append(errs, errors.New("--promise-timeout must be from 10s to 24h"))
	}
	if min(o.Moves.PerMinute, o.Moves.PerCluster) < 0 || max(o.Moves.PerMinute, o.Moves.PerCluster) > maxMoves {
		errs = append(errs, fmt.Errorf("--max-moves-per-minute and --max-moves-per-cluster must be from 0 to %d", maxMoves))
	}
	return utilerrors.NewAggregate(errs)
}

// places are the values of --bind-clusters-by.
var places = map[string]rendezvous.GroupBy{
	"None": rendezvous.GroupByNone, "Region": rendezvous.GroupByRegion,
	"Province": rendezvous.GroupByProvince, "City": rendezvous.GroupByCity,
}

func (o *Options) validateShares() error {
	if err := o.OnlineShares.Validate(); err != nil {
		return fmt.Errorf("--cluster-online-share, --cluster-offline-share: %w", err)
	}
	return nil
}
