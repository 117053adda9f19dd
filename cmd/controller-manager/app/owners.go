// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/ownership"
)

// newOwners makes what looks up the owners of kinds that Berth does not know by itself.
func newOwners(mgr ctrl.Manager) (*ownership.Directory, error) {
	return ownership.NewForConfig(mgr.GetConfig(), mgr.GetHTTPClient(), ownership.Options{
		Clock: clock.RealClock{},
		Rules: func(ctx context.Context) ([]berthv1alpha1.FeedParser, error) { return feedParserRules(ctx, mgr) },
		Named: func(kind schema.GroupKind) bool { return named(mgr.GetClient(), kind) },
	})
}

// feedParserRules returns the FeedParsers, none while there is no such kind.
func feedParserRules(ctx context.Context, mgr ctrl.Manager) ([]berthv1alpha1.FeedParser, error) {
	if !served(mgr.GetRESTMapper(), "FeedParser") {
		return nil, nil
	}
	var list berthv1alpha1.FeedParserList
	err := mgr.GetClient().List(ctx, &list)
	return list.Items, err
}

// named reports whether a policy names a kind.
func named(reader client.Reader, kind schema.GroupKind) bool {
	var list berthv1alpha1.PropagationPolicyList
	if err := reader.List(context.Background(), &list, client.UnsafeDisableDeepCopy); err != nil {
		return false
	}
	for i := range list.Items {
		for _, selector := range list.Items[i].Spec.ResourceSelectors {
			if schema.FromAPIVersionAndKind(selector.APIVersion, selector.Kind).GroupKind() == kind {
				return true
			}
		}
	}
	return false
}

// startOwners lets owners be looked up, as soon as there are policies. Nothing else waits for that.
func startOwners(mgr ctrl.Manager, owners *ownership.Directory) func(context.Context) error {
	return func(ctx context.Context) error {
		if err := follow(ctx, mgr, owners, "PropagationPolicy", &berthv1alpha1.PropagationPolicy{}); err != nil {
			return err
		}
		go func() {
			if err := follow(ctx, mgr, owners, "FeedParser", &berthv1alpha1.FeedParser{}); err != nil {
				mgr.GetLogger().Error(err, "Cannot follow FeedParsers")
			}
		}()
		owners.Run(ctx)
		return nil
	}
}

// follow tells of changes of what users ask for in objects of a kind, once the kind is served.
func follow(ctx context.Context, mgr ctrl.Manager, owners *ownership.Directory, kind string, object client.Object) error {
	if !awaitKinds(ctx, mgr, kind) {
		return nil
	}
	informer, err := mgr.GetCache().GetInformer(ctx, object)
	if err != nil {
		if ctx.Err() != nil {
			return nil //nolint:nilerr // the process is told to end
		}
		return fmt.Errorf("following %s: %w", kind, err)
	}
	_, err = informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		AddFunc: func(any) { owners.Refresh() },
		UpdateFunc: func(oldObj, newObj any) {
			before, okBefore := oldObj.(client.Object)
			after, okAfter := newObj.(client.Object)
			if okBefore && okAfter && before.GetGeneration() != after.GetGeneration() {
				owners.Refresh()
			}
		},
		DeleteFunc: func(any) { owners.Refresh() },
	})
	if err != nil {
		return fmt.Errorf("following %s: %w", kind, err)
	}
	return nil
}
