// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package client connects the commands of berthctl to a Kubernetes cluster, and says in one line
// why it cannot.
package client

import (
	"errors"
	"fmt"

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
	if f.construct == nil {
		f.construct = newClients
	}
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
	kube, berth, err := f.construct(f.flags)
	if err != nil {
		return Clients{}, fmt.Errorf("reading the kubeconfig: %w", err)
	}
	return Clients{Kubernetes: kube, Berth: berth}, nil
}

func newClients(getter genericclioptions.RESTClientGetter) (kubernetes.Interface, versioned.Interface, error) {
	config, err := getter.ToRESTConfig()
	if err != nil {
		return nil, nil, err
	}
	if unconfigured(getter.ToRawKubeConfigLoader(), config) {
		return nil, nil, errors.New("it names no cluster: set --kubeconfig, or the environment variable KUBECONFIG")
	}
	config = rest.CopyConfig(config)
	config.QPS, config.Burst = requestsPerSecond, requestBurst
	kube, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, nil, err
	}
	berth, err := versioned.NewForConfig(config)
	if err != nil {
		return nil, nil, err
	}
	return kube, berth, nil
}

// unconfigured reports whether the configuration is the one that client-go makes up if there is
// none: a server on this machine which nobody runs any more.
func unconfigured(loader clientcmd.ClientConfig, config *rest.Config) bool {
	raw, err := loader.RawConfig()
	return err == nil && len(raw.Clusters) == 0 && config.Host == clientcmd.ClusterDefaults.Server
}
