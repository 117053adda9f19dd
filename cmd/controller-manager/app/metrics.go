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

	"github.com/spf13/pflag"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
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
	// CredentialsNamespace is the only namespace of which Secrets are sent to providers.
	CredentialsNamespace string
	// PlainHTTP permits providers that set allowPlainHTTP to be asked without TLS, and Loopback
	// those on loopback addresses.
	PlainHTTP, Loopback bool
}

func defaultMetricsOptions() MetricsOptions {
	return MetricsOptions{ //nolint:gosec // the name of a namespace is no secret
		Interval: 15 * time.Second, WriteThreshold: 0.001, CredentialsNamespace: "berth-credentials",
	}
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
	if o.CredentialsNamespace == "" {
		errs = append(errs, errors.New("--metrics-credentials-namespace must not be empty"))
	}
	return utilerrors.NewAggregate(errs)
}

func (o *MetricsOptions) addTo(flags *pflag.FlagSet) {
	flags.DurationVar(&o.Interval, "metrics-interval", o.Interval, "How often each metric is read from its provider.")
	flags.Float64Var(&o.WriteThreshold, "metrics-write-threshold", o.WriteThreshold,
		"By which part of its range the value of a metric must change to be written.")
	flags.StringSliceVar(&o.NamespacedHosts, "metrics-namespaced-hosts", o.NamespacedHosts,
		"Hosts that MetricsProviders of namespaces may name; *.example.com for all below example.com. None by default.")
	flags.StringVar(&o.CredentialsNamespace, "metrics-credentials-namespace", o.CredentialsNamespace,
		"Namespace of the Secrets that GlobalMetricsProviders name. It should have nothing else.")
	flags.BoolVar(&o.PlainHTTP, "metrics-allow-plain-http", o.PlainHTTP,
		"Ask providers of metrics over plain HTTP if they set allowPlainHTTP. What is sent then can be read and changed on the way.")
	flags.BoolVar(&o.Loopback, "metrics-allow-loopback", o.Loopback,
		"Let providers of metrics have loopback addresses. Only for a control plane on one machine.")
}

// metricKinds are the kinds without which no metric is read.
var metricKinds = []string{
	"Cluster", "GlobalMetric", "Metric", "GlobalMetricsProvider", "MetricsProvider", "Cloud", "GlobalCloud", "OpenStackProject",
	"MagnumCluster",
}

// startMetrics starts to read metrics, and to choose clouds by them, as soon as their kinds are
// served. Nothing else waits for that.
func startMetrics(mgr ctrl.Manager, opts *Options) func(context.Context) error {
	return func(ctx context.Context) error {
		if !awaitKinds(ctx, mgr, metricKinds...) {
			return nil
		}
		servers, err := apiServers(ctx, mgr.GetConfig())
		if err != nil {
			return err
		}
		sampler := metrics.NewSampler(metrics.Options{
			Reader:    mgr.GetClient(),
			Secrets:   mgr.GetAPIReader(),
			Namespace: opts.Metrics.CredentialsNamespace,
			Interval:  opts.Metrics.Interval,
			Guard:     &metricsources.Guard{APIServers: servers, Loopback: opts.Metrics.Loopback},
			PlainHTTP: opts.Metrics.PlainHTTP,
			AllowHost: metricsources.HostList(opts.Metrics.NamespacedHosts),
			Clock:     clock.RealClock{},
		})
		err = setUp(mgr, metrics.New(mgr.GetClient(), sampler, opts.Metrics.WriteThreshold),
			clouds.ForClusters(mgr.GetClient(), clock.RealClock{}), clouds.ForMagnumClusters(mgr.GetClient(), clock.RealClock{}))
		if err != nil {
			return err
		}
		<-ctx.Done()
		return nil
	}
}

// lookupPatience is how long the name of the API server may take to resolve.
const lookupPatience = 10 * time.Second

// apiServers returns the addresses of the API server: the one that is used, and the one that pods
// use.
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
