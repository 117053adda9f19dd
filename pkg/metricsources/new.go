// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package metricsources

import (
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"net/url"
	"strings"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// Credentials are sent to a provider: a token, or a name and a password.
type Credentials struct {
	Token, Username, Password string
}

// Options are what a Source may do.
type Options struct {
	// Guard decides which addresses are connected to. Nil stands for the zero Guard.
	Guard *Guard
	// AllowHost reports whether a host may be asked at all. Nil allows all.
	AllowHost func(host string) bool
	// PlainHTTP permits providers that set allowPlainHTTP to be asked without TLS.
	PlainHTTP bool
	// Credentials are sent with each request. Nil sends none.
	Credentials *Credentials
}

// New returns the source that a provider describes. It connects to nothing yet. An error is an
// *Error.
func New(spec *berthv1alpha1.MetricsProviderSpec, options Options) (Source, error) {
	switch {
	case spec.Type == berthv1alpha1.StaticMetrics && spec.Static != nil:
		return static(spec.Static.Metrics), nil
	case spec.Type == berthv1alpha1.PrometheusMetrics && spec.Prometheus != nil:
		endpoint, client, err := connect(spec, spec.Prometheus.URL, spec.Prometheus.CABundle, options)
		if err != nil {
			return nil, err
		}
		return newPrometheus(endpoint, client)
	case spec.Type == berthv1alpha1.KafkaMetrics && spec.Kafka != nil:
		endpoint, client, err := connect(spec, spec.Kafka.URL, spec.Kafka.CABundle, options)
		if err != nil {
			return nil, err
		}
		return newKSQL(endpoint, client, spec.Kafka)
	}
	return nil, outage(berthv1alpha1.ReasonInvalidProvider, "the provider does not have the section that its type asks for")
}

// connect checks a URL and returns the client for it.
func connect(
	spec *berthv1alpha1.MetricsProviderSpec, text berthv1alpha1.ProviderURL, bundle []byte, options Options,
) (*url.URL, *http.Client, error) {
	endpoint, err := url.Parse(string(text))
	if err != nil || !plain(endpoint) {
		return nil, nil, outage(berthv1alpha1.ReasonInvalidProvider,
			"the URL must be http or https, with a host and without credentials, query or fragment")
	}
	if options.AllowHost != nil && !options.AllowHost(endpoint.Hostname()) {
		return nil, nil, outage(berthv1alpha1.ReasonAddressNotAllowed,
			"the operator of Berth does not allow this host for providers of namespaces")
	}
	if endpoint.Scheme == "http" && (!spec.AllowPlainHTTP || !options.PlainHTTP) {
		return nil, nil, outage(berthv1alpha1.ReasonTLSRequired,
			"the URL must be https: plain HTTP takes allowPlainHTTP of the provider and the consent of the operator of Berth")
	}
	tlsConfig := &tls.Config{MinVersion: tls.VersionTLS12}
	if len(bundle) > 0 {
		tlsConfig.RootCAs = x509.NewCertPool()
		if !tlsConfig.RootCAs.AppendCertsFromPEM(bundle) {
			return nil, nil, outage(berthv1alpha1.ReasonInvalidProvider, "caBundle holds no PEM certificate")
		}
	}
	guard := options.Guard
	if guard == nil {
		guard = &Guard{}
	}
	return endpoint, newClient(guard, tlsConfig, endpoint, options.Credentials), nil
}

// plain reports whether a URL names a server and a path over HTTP, and nothing else.
func plain(u *url.URL) bool {
	return (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != "" && u.User == nil && u.RawQuery == "" && u.Fragment == ""
}

// HostList returns a function that allows the listed hosts. "*.example.com" stands for all hosts
// below example.com.
func HostList(hosts []string) func(host string) bool {
	return func(host string) bool {
		host = strings.TrimSuffix(strings.ToLower(host), ".")
		for _, allowed := range hosts {
			allowed = strings.ToLower(allowed)
			below, wildcard := strings.CutPrefix(allowed, "*")
			if host == allowed || wildcard && strings.HasPrefix(below, ".") && strings.HasSuffix(host, below) {
				return true
			}
		}
		return false
	}
}
