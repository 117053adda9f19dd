// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"

	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	genericoptions "k8s.io/apiserver/pkg/server/options"
	cliflag "k8s.io/component-base/cli/flag"
	logsapi "k8s.io/component-base/logs/api/v1"

	"berth.dev/berth/pkg/gateway"
)

const (
	// securePort is where the gateway serves over TLS.
	securePort = 8443

	// apiQPS and apiBurst are what the gateway asks of the API server at most. A request to the
	// gateway takes one to three.
	apiQPS, apiBurst = 400, 800
)

// options are the flags of berth-gateway.
type options struct {
	// Kubeconfig names the API server. Empty means the environment variable KUBECONFIG, or the
	// cluster the gateway runs in.
	Kubeconfig string
	// KubeAPIQPS and KubeAPIBurst limit the requests to the API server.
	KubeAPIQPS   float32
	KubeAPIBurst int
	// InsecureHTTPAddress, if not empty, is a loopback address where the API is served without TLS
	// too.
	InsecureHTTPAddress string
	// Limits bound what clients may ask for.
	Limits gateway.Limits

	// SecureServing says where and with which certificate the API is served over TLS.
	SecureServing *genericoptions.SecureServingOptions
	// Authentication and Authorization say how the API server is asked who callers are and what
	// they may do.
	Authentication *genericoptions.DelegatingAuthenticationOptions
	Authorization  *genericoptions.DelegatingAuthorizationOptions
	// Logging are the flags of logging.
	Logging *logsapi.LoggingConfiguration
}

// newOptions returns the defaults: TLS on port 8443, with a certificate made in memory.
func newOptions() *options {
	o := &options{
		KubeAPIQPS: apiQPS, KubeAPIBurst: apiBurst,
		Limits:         gateway.DefaultLimits(),
		SecureServing:  genericoptions.NewSecureServingOptions(),
		Authentication: genericoptions.NewDelegatingAuthenticationOptions(),
		Authorization:  genericoptions.NewDelegatingAuthorizationOptions(),
		Logging:        logsapi.NewLoggingConfiguration(),
	}
	o.SecureServing.BindPort = securePort
	// Nothing is written to disk: the file system of the container may be read-only.
	o.SecureServing.ServerCert.CertDirectory = ""
	return o
}

// Flags returns the flags in groups.
func (o *options) Flags() cliflag.NamedFlagSets {
	var sets cliflag.NamedFlagSets
	api := sets.FlagSet("API server")
	api.StringVar(&o.Kubeconfig, "kubeconfig", o.Kubeconfig,
		"Path to a kubeconfig. It stands in for --authentication-kubeconfig and --authorization-kubeconfig too.")
	api.Float32Var(&o.KubeAPIQPS, "kube-api-qps", o.KubeAPIQPS, "Requests per second to the API server.")
	api.IntVar(&o.KubeAPIBurst, "kube-api-burst", o.KubeAPIBurst, "Requests to the API server in a burst.")

	serving := sets.FlagSet("serving")
	o.SecureServing.AddFlags(serving)
	serving.StringVar(&o.InsecureHTTPAddress, "insecure-http-address", o.InsecureHTTPAddress,
		"Address, such as 127.0.0.1:8080, where the API is served without TLS as well. Only loopback addresses are taken. "+
			"Callers need credentials there too.")

	limits := sets.FlagSet("limits")
	limits.Float32Var(&o.Limits.ClientQPS, "client-qps", o.Limits.ClientQPS, "Requests per second of one user.")
	limits.IntVar(&o.Limits.ClientBurst, "client-burst", o.Limits.ClientBurst, "Requests of one user in a burst.")
	limits.IntVar(&o.Limits.InFlight, "max-requests-in-flight", o.Limits.InFlight, "Requests that are worked on at once.")
	limits.DurationVar(&o.Limits.BodyTimeout, "body-timeout", o.Limits.BodyTimeout,
		"How long a client may take to send the body of a request.")

	o.Authentication.AddFlags(sets.FlagSet("authentication"))
	o.Authorization.AddFlags(sets.FlagSet("authorization"))
	logsapi.AddFlags(o.Logging, sets.FlagSet("logging"))
	return sets
}

// Validate returns what is wrong with the options, all at once.
func (o *options) Validate() error {
	var errs []error
	errs = append(errs, o.SecureServing.Validate()...)
	errs = append(errs, o.Authentication.Validate()...)
	errs = append(errs, o.Authorization.Validate()...)
	if o.KubeAPIQPS <= 0 || o.KubeAPIBurst <= 0 {
		errs = append(errs, errors.New("--kube-api-qps and --kube-api-burst must be positive"))
	}
	if o.Limits.ClientQPS <= 0 || o.Limits.ClientBurst <= 0 || o.Limits.InFlight <= 0 || o.Limits.BodyTimeout <= 0 {
		errs = append(errs, errors.New("--client-qps, --client-burst, --max-requests-in-flight and --body-timeout must be positive"))
	}
	if o.InsecureHTTPAddress != "" {
		errs = append(errs, checkLoopback(o.InsecureHTTPAddress))
	} else if o.SecureServing.BindPort == 0 {
		errs = append(errs, errors.New("--secure-port must not be 0 unless there is an --insecure-http-address"))
	}
	return utilerrors.NewAggregate(errs)
}

// checkLoopback refuses addresses that others can reach. A name could mean any address by the time
// it is looked up.
func checkLoopback(address string) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("--insecure-http-address: %w", err)
	}
	ip, err := netip.ParseAddr(host)
	if err != nil || !ip.IsLoopback() {
		return fmt.Errorf("--insecure-http-address: %q is no loopback address such as 127.0.0.1", host)
	}
	return nil
}

// kubeconfig returns the path of the kubeconfig, empty for the cluster that the gateway runs in.
func (o *options) kubeconfig() string {
	if o.Kubeconfig != "" {
		return o.Kubeconfig
	}
	return os.Getenv("KUBECONFIG")
}
