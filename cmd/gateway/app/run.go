// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"

	"berth.dev/berth/pkg/gateway"
	"berth.dev/berth/pkg/generated/clientset/versioned"
	"berth.dev/berth/pkg/ui"
)

const (
	program = "berth-gateway"

	// shutdownTimeout is how long requests may go on once the process is told to end.
	shutdownTimeout = 25 * time.Second

	headerTimeout  = 5 * time.Second
	idleTimeout    = 60 * time.Second
	maxHeaderBytes = 16 << 10
)

// run serves until the context ends, and then until all requests are answered.
func run(ctx context.Context, opts *options) error {
	var secure *genericapiserver.SecureServingInfo
	if err := opts.SecureServing.MaybeDefaultWithSelfSignedCerts("localhost", nil, []net.IP{net.IPv4(127, 0, 0, 1)}); err != nil {
		return fmt.Errorf("making a certificate: %w", err)
	}
	if err := opts.SecureServing.ApplyTo(&secure); err != nil {
		return fmt.Errorf("listening: %w", err)
	}
	handler, err := newHandler(ctx, opts, secure)
	if err != nil {
		return err
	}
	stop, err := servePlain(ctx, opts.InsecureHTTPAddress, handler)
	if err != nil {
		return err
	}
	defer stop()
	if secure == nil {
		<-ctx.Done()
		return nil
	}
	stopped, _, err := secure.Serve(handler, shutdownTimeout, ctx.Done())
	if err != nil {
		return fmt.Errorf("serving: %w", err)
	}
	<-stopped
	return nil
}

// newHandler makes the gateway. Its clients have its own rights; what callers may do is asked of
// the API server.
func newHandler(ctx context.Context, opts *options, secure *genericapiserver.SecureServingInfo) (http.Handler, error) {
	config, err := clientcmd.BuildConfigFromFlags("", opts.kubeconfig())
	if err != nil {
		return nil, fmt.Errorf("finding the API server: %w", err)
	}
	rest.AddUserAgent(config, program)
	config.QPS, config.Burst = opts.KubeAPIQPS, opts.KubeAPIBurst
	config.WarningHandlerWithContext = rest.NoWarnings{}
	kube, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("making a client: %w", err)
	}
	berth, err := versioned.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("making a client: %w", err)
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	g := gateway.Config{
		Clusters: berth.BerthV1alpha1(), Pods: kube.CoreV1(), Registry: registry, Limits: opts.Limits,
		TokenClients: tokenClients(config), Done: ctx.Done(),
	}
	if err := delegate(opts, secure, &g); err != nil {
		return nil, err
	}
	if g.Known, err = gateway.Follow(ctx, berth); err != nil {
		return nil, err
	}
	return gateway.New(g), nil
}

// tokenClients makes clients for the same API server that have the rights of a token alone.
func tokenClients(config *rest.Config) gateway.TokenClients {
	return func(token string) (ui.Clients, error) {
		anonymous := rest.AnonymousClientConfig(config)
		anonymous.BearerToken = token
		kube, err := kubernetes.NewForConfig(anonymous)
		if err != nil {
			return ui.Clients{}, fmt.Errorf("making a client: %w", err)
		}
		berth, err := versioned.NewForConfig(anonymous)
		if err != nil {
			return ui.Clients{}, fmt.Errorf("making a client: %w", err)
		}
		return ui.Clients{Kubernetes: kube, Berth: berth, Config: anonymous}, nil
	}
}

// delegate lets the API server decide who callers are and what they may do.
func delegate(opts *options, secure *genericapiserver.SecureServingInfo, g *gateway.Config) error {
	if opts.Authentication.RemoteKubeConfigFile == "" {
		opts.Authentication.RemoteKubeConfigFile = opts.kubeconfig()
	}
	if opts.Authorization.RemoteKubeConfigFile == "" {
		opts.Authorization.RemoteKubeConfigFile = opts.kubeconfig()
	}
	var authentication genericapiserver.AuthenticationInfo
	if err := opts.Authentication.ApplyTo(&authentication, secure, nil); err != nil {
		return fmt.Errorf("setting up authentication: %w", err)
	}
	var authorization genericapiserver.AuthorizationInfo
	if err := opts.Authorization.ApplyTo(&authorization); err != nil {
		return fmt.Errorf("setting up authorization: %w", err)
	}
	g.Authenticator, g.Authorizer = authentication.Authenticator, authorization.Authorizer
	return nil
}

// servePlain serves on a loopback address, if there is one, until the function it returns is
// called.
func servePlain(ctx context.Context, address string, handler http.Handler) (func(), error) {
	if address == "" {
		return func() {}, nil
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("--insecure-http-address: %w", err)
	}
	server := &http.Server{
		Handler: handler, ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeaderBytes,
	}
	logger := klog.FromContext(ctx)
	logger.Info("Serving without TLS", "address", listener.Addr().String())
	go func() {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			logger.Error(err, "Serving without TLS ended")
		}
	}()
	return func() {
		ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
		defer cancel()
		if err := server.Shutdown(ending); err != nil {
			logger.Error(err, "Requests without TLS were cut off")
		}
	}, nil
}
