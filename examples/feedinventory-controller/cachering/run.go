// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package cachering

import (
	"context"
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/controllers/feedinventory"
	"berth.dev/berth/pkg/feeds"
)

// Run runs the controller until the context ends. The options set what is not the controller's own:
// where metrics and health are served, and the leader election.
func Run(ctx context.Context, config *rest.Config, options ctrl.Options) error {
	options.Scheme = runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{berthv1alpha1.AddToScheme, apiextensionsv1.AddToScheme} {
		if err := add(options.Scheme); err != nil {
			return err
		}
	}
	options.Cache.ByObject = map[client.Object]cache.ByObject{
		&apiextensionsv1.CustomResourceDefinition{}: {Transform: feedinventory.TrimDefinition},
	}
	mgr, err := ctrl.NewManager(config, options)
	if err != nil {
		return fmt.Errorf("making the manager: %w", err)
	}
	if err := setUp(mgr); err != nil {
		return err
	}
	return mgr.Start(ctx)
}

// setUp registers the controller: the parsers of Berth, and ours beside them. A parser for a kind
// of Kubernetes would take the place of the one that is built in.
func setUp(mgr ctrl.Manager) error {
	parsers := feeds.BuiltIn()
	parsers[Kind] = Parser{}
	meta, err := metadata.NewForConfigAndClient(mgr.GetConfig(), mgr.GetHTTPClient())
	if err != nil {
		return fmt.Errorf("making a client for metadata: %w", err)
	}
	objects, err := dynamic.NewForConfigAndClient(mgr.GetConfig(), mgr.GetHTTPClient())
	if err != nil {
		return fmt.Errorf("making a client for objects of any kind: %w", err)
	}
	controller, err := feedinventory.New(feedinventory.Options{
		Client: mgr.GetClient(), Mapper: mgr.GetRESTMapper(), Metadata: meta, Objects: objects, Parsers: parsers,
		Recorder: mgr.GetEventRecorder("feedinventory-controller"),
	})
	if err != nil {
		return err
	}
	return controller.SetupWithManager(mgr)
}
