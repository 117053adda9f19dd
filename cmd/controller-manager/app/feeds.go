// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"
	"k8s.io/component-base/featuregate"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/controllers/feedinventory"
	"berth.dev/berth/pkg/controllers/state"
	"berth.dev/berth/pkg/feeds"
)

// FeedInventory is the feature gate of the controller that writes FeedInventories. Whoever runs a
// controller of their own for that switches it off.
const FeedInventory featuregate.Feature = "FeedInventory"

// allParsers as the value of --feed-parsers stands for all parsers that are built in.
const allParsers = "*"

func newFeatureGates() featuregate.MutableFeatureGate {
	gates := featuregate.NewFeatureGate()
	// It fails only for a feature that is there already.
	_ = gates.Add(map[featuregate.Feature]featuregate.FeatureSpec{
		FeedInventory: {Default: true, PreRelease: featuregate.Beta},
	})
	return gates
}

// feedParsers returns the parsers of the kinds that are listed.
func feedParsers(kinds []string) (map[schema.GroupKind]feeds.PluginFactory, error) {
	parsers := feeds.BuiltIn()
	known, listed := sets.New[string](), sets.New(kinds...)
	for kind := range parsers {
		known.Insert(kind.Kind)
	}
	if unknown := listed.Difference(known).Delete(allParsers); len(unknown) > 0 {
		return nil, fmt.Errorf("--feed-parsers: there is no parser for %.64q: use * or some of %s",
			sets.List(unknown)[0], strings.Join(sets.List(known), ", "))
	}
	maps.DeleteFunc(parsers, func(kind schema.GroupKind, _ feeds.PluginFactory) bool {
		return !listed.Has(kind.Kind) && !slices.Contains(kinds, allParsers)
	})
	return parsers, nil
}

// cached returns what the cache holds of each kind.
func cached() map[client.Object]cache.ByObject {
	objects := state.ByObject()
	objects[&apiextensionsv1.CustomResourceDefinition{}] = cache.ByObject{Transform: feedinventory.TrimDefinition}
	return objects
}

// feedKinds are the kinds without which there is nothing to do about feeds.
var feedKinds = []string{"Subscription", "FeedInventory", "FeedParser"}

// startFeeds starts the controller of FeedInventories as soon as its kinds are served. Nothing else
// waits for that.
func startFeeds(mgr ctrl.Manager, opts *Options) func(context.Context) error {
	return func(ctx context.Context) error {
		if !awaitKinds(ctx, mgr, feedKinds...) {
			return nil
		}
		parsers, err := feedParsers(opts.FeedParsers)
		if err != nil {
			return err
		}
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
			Recorder: mgr.GetEventRecorder(leaseName),
		})
		if err != nil {
			return err
		}
		if err := setUp(mgr, controller); err != nil {
			return err
		}
		<-ctx.Done()
		return nil
	}
}

// awaitKinds waits until the API server serves kinds of Berth, and reports whether it does; it does
// not if the process is told to end before.
func awaitKinds(ctx context.Context, mgr ctrl.Manager, kinds ...string) bool {
	return wait.PollUntilContextCancel(ctx, crdPoll, true, func(context.Context) (bool, error) {
		return served(mgr.GetRESTMapper(), kinds...), nil
	}) == nil
}

// served reports whether the API server serves kinds of Berth.
func served(mapper apimeta.RESTMapper, kinds ...string) bool {
	for _, kind := range kinds {
		gk := berthv1alpha1.SchemeGroupVersion.WithKind(kind).GroupKind()
		if _, err := mapper.RESTMapping(gk, berthv1alpha1.SchemeGroupVersion.Version); err != nil {
			return false
		}
	}
	return true
}
