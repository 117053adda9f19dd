// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strconv"
	"time"

	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"

	"berth.dev/berth/pkg/controllers/clouds"
	"berth.dev/berth/pkg/controllers/metrics"
	"berth.dev/berth/pkg/metricsources"
)

// MetricsOptions are the settings of reading metrics.
type MetricsOptions struct {
	// Interval is how often each metric is read.
	Interval time.Duration
	// WriteThreshold is by how much a normalised value must change to be written.
	WriteThreshold float64
	// NamespacedHosts are the hosts that MetricsProviders may name.
	NamespacedHosts []string
}

func defaultMetricsOptions() MetricsOptions {
	return MetricsOptions{Interval: 15 * time.Second, WriteThreshold: 0.001}
}

// validate returns what is wrong with the options.
func (o *MetricsOptions) validate() error {
	var errs []error
	if o.Interval < time.Second || o.Interval > time.Hour {
		errs = append(errs, errors.New("--metrics-interval must be from 1s to 1h"))
	}
	if !(o.WriteThreshold >= 0 && o.WriteThreshold < 1) {
		errs = append(errs, errors.New("--metrics-write-threshold must be at least 0 and less than 1"))
	}
	return utilerrors.NewAggregate(errs)
}

// metricKinds are the kinds without which no metric is read.
var metricKinds = []string{
	"Cluster", "GlobalMetric", "Metric", "GlobalMetricsProvider", "MetricsProvider", "Cloud", "GlobalCloud", "OpenStackProject",
	"MagnumCluster",
}

// startMetrics starts to read metrics, and to choose clouds by them, as soon as their kinds are served. Nothing else waits for that.
func startMetrics(mgr ctrl.Manager, opts *Options) func(context.Context) error {
	return func(ctx context.Context) error {
		err := wait.PollUntilContextCancel(ctx, crdPoll, true, func(context.Context) (bool, error) {
			return served(mgr.GetRESTMapper(), metricKinds...), nil
		})
		if err != nil {
			return nil //nolint:nilerr // the process is told to end
		}
		servers, err := apiServers(ctx, mgr.GetConfig())
		if err != nil {
			return err
		}
		sampler := metrics.NewSampler(metrics.Options{
			Reader:    mgr.GetClient(),
			Secrets:   mgr.GetAPIReader(),
			Namespace: opts.LeaderElectionNamespace,
			Interval:  opts.Metrics.Interval,
			Guard:     &metricsources.Guard{APIServers: servers},
			AllowHost: metricsources.HostList(opts.Metrics.NamespacedHosts),
			Clock:     clock.RealClock{},
		})
		if err := metrics.New(mgr.GetClient(), sampler, opts.Metrics.WriteThreshold).SetupWithManager(mgr); err != nil {
			return err
		}
		if err := clouds.ForClusters(mgr.GetClient(), clock.RealClock{}).SetupWithManager(mgr); err != nil {
			return err
		}
		if err := clouds.ForMagnumClusters(mgr.GetClient(), clock.RealClock{}).SetupWithManager(mgr); err != nil {
			return err
		}
		<-ctx.Done()
		return nil
	}
}

// lookupPatience is how long the name of the API server may take to resolve.
const lookupPatience = 10 * time.Second

// apiServers returns the addresses of the API server: the one that is used, and the one that pods use.
func apiServers(ctx context.Context, config *rest.Config) ([]netip.AddrPort, error) {
	server, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return nil, fmt.Errorf("reading the address of the API server: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, lookupPatience)
	defer cancel()
	port := server.Port()
	if port == "" {
		port = map[string]string{"http": "80"}[server.Scheme]
	}
	found, err := resolve(ctx, server.Hostname(), port)
	if err != nil {
		return nil, err
	}
	if host := os.Getenv("KUBERNETES_SERVICE_HOST"); host != "" {
		more, err := resolve(ctx, host, os.Getenv("KUBERNETES_SERVICE_PORT"))
		if err != nil {
			return nil, err
		}
		found = append(found, more...)
	}
	return found, nil
}

// resolve returns the addresses of a host. A port that is missing is that of https.
func resolve(ctx context.Context, host, port string) ([]netip.AddrPort, error) {
	number, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		number = 443
	}
	addresses, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return nil, fmt.Errorf("looking up the API server: %w", err)
	}
	found := make([]netip.AddrPort, 0, len(addresses))
	for _, address := range addresses {
		found = append(found, netip.AddrPortFrom(address, uint16(number)))
	}
	return found, nil
}
