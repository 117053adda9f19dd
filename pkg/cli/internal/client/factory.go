// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package client connects the commands of berthctl to a Kubernetes cluster, and says in one line
// why it cannot.
package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"berth.dev/berth/pkg/generated/clientset/versioned"
)

const (
	// A command lists about ten kinds of objects at once, large kinds in several pages.
	requestsPerSecond = 50
	requestBurst      = 100
)

// Clients talk to one cluster.
type Clients struct {
	// Kubernetes reads pods, nodes and the owners of pods.
	Kubernetes kubernetes.Interface
	// Berth reads clusters and policies.
	Berth versioned.Interface
	// Config is how to reach the cluster by other means; nil with clients that a test has made.
	Config *rest.Config
}

// ServerTime returns the time of the API server, as it says in the Date header of an answer, to the
// second. With clients that a test has made it is the time of this machine.
func (c Clients) ServerTime(ctx context.Context) (time.Time, error) {
	if c.Config == nil {
		return time.Now(), nil
	}
	caller, err := rest.HTTPClientFor(c.Config)
	if err != nil {
		return time.Time{}, fmt.Errorf("asking the API server for the time: %w", err)
	}
	base, _, err := rest.DefaultServerUrlFor(c.Config)
	if err != nil {
		return time.Time{}, fmt.Errorf("asking the API server for the time: %w", err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, base.JoinPath("version").String(), http.NoBody)
	if err != nil {
		return time.Time{}, fmt.Errorf("asking the API server for the time: %w", err)
	}
	answer, err := caller.Do(request)
	if err != nil {
		return time.Time{}, DescribeError("asking the API server for the time", err)
	}
	defer answer.Body.Close()
	now, err := http.ParseTime(answer.Header.Get("Date"))
	if err != nil {
		return time.Time{}, fmt.Errorf("asking the API server for the time: %w", err)
	}
	return now, nil
}

// Constructor makes the clients for a configuration.
type Constructor func(genericclioptions.RESTClientGetter) (kubernetes.Interface, versioned.Interface, error)

// Factory holds the flags by which the user chooses the cluster. The clients are made when a
// command asks for them, so that commands which need no cluster work without one.
type Factory struct {
	flags     *genericclioptions.ConfigFlags
	construct Constructor
}

// NewFactory returns a factory. A nil constructor stands for the real clients.
func NewFactory(construct Constructor) *Factory {
	f := &Factory{flags: genericclioptions.NewConfigFlags(true), construct: construct}
	// Discovery is the only user of the cache directory, and berthctl does not use discovery.
	f.flags.CacheDir = nil
	return f
}

// AddFlags adds kubectl's flags for the cluster, the user and the namespace.
func (f *Factory) AddFlags(flags *pflag.FlagSet) { f.flags.AddFlags(flags) }

// Namespace returns the namespace that the user chose by flag or kubeconfig, "default" if none.
func (f *Factory) Namespace() (string, error) {
	namespace, _, err := f.flags.ToRawKubeConfigLoader().Namespace()
	if err != nil {
		return "", fmt.Errorf("reading the kubeconfig: %w", err)
	}
	return namespace, nil
}

// Clients returns clients for the cluster that the user chose. It sends nothing yet.
func (f *Factory) Clients() (Clients, error) {
	clients, err := f.newClients()
	if err != nil {
		return Clients{}, fmt.Errorf("reading the kubeconfig: %w", err)
	}
	return clients, nil
}

func (f *Factory) newClients() (Clients, error) {
	if f.construct != nil {
		kube, berth, err := f.construct(f.flags)
		return Clients{Kubernetes: kube, Berth: berth}, err
	}
	config, err := f.flags.ToRESTConfig()
	if err != nil {
		return Clients{}, err
	}
	if unconfigured(f.flags.ToRawKubeConfigLoader(), config) {
		return Clients{}, errors.New("it names no cluster: set --kubeconfig, or the environment variable KUBECONFIG")
	}
	config = rest.CopyConfig(config)
	config.QPS, config.Burst = requestsPerSecond, requestBurst
	kube, err := kubernetes.NewForConfig(config)
	if err != nil {
		return Clients{}, err
	}
	berth, err := versioned.NewForConfig(config)
	if err != nil {
		return Clients{}, err
	}
	return Clients{Kubernetes: kube, Berth: berth, Config: config}, nil
}

// unconfigured reports whether the configuration is the one that client-go makes up if there is
// none: a server on this machine which nobody runs any more.
func unconfigured(loader clientcmd.ClientConfig, config *rest.Config) bool {
	raw, err := loader.RawConfig()
	return err == nil && len(raw.Clusters) == 0 && config.Host == clientcmd.ClusterDefaults.Server
}
