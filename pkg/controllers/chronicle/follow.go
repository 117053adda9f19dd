// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package chronicle remembers what the controllers have decided, as far as the status of Berth's
// objects tells of it: how conditions, shares, limits, homes, pools and the choices for
// Applications change. What happens to single pods is remembered by who does it.
package chronicle

import (
	"context"
	"errors"
	"fmt"
	"sync"

	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/history"
)

// followed are the kinds of which it is remembered what their status says.
var followed = map[string]func() client.Object{
	"Application":              func() client.Object { return &berthv1alpha1.Application{} },
	"Cluster":                  func() client.Object { return &berthv1alpha1.Cluster{} },
	"ClusterPropagationPolicy": func() client.Object { return &berthv1alpha1.ClusterPropagationPolicy{} },
	"ClusterResource":          func() client.Object { return &berthv1alpha1.ClusterResource{} },
	"PropagationPolicy":        func() client.Object { return &berthv1alpha1.PropagationPolicy{} },
	"Scheduler":                func() client.Object { return &berthv1alpha1.Scheduler{} },
	"Subscription":             func() client.Object { return &berthv1alpha1.Subscription{} },
}

// Follow remembers each change until the context ends. A kind is followed as soon as awaits reports
// that it is there; if it never is, nothing else waits for it. Of several instances only the one
// that leads should follow.
func Follow(
	ctx context.Context, informers cache.Informers, past *history.Background, awaits func(ctx context.Context, kind string) bool,
) error {
	var running sync.WaitGroup
	errs := make(chan error, len(followed))
	for kind, newObject := range followed {
		running.Go(func() {
			if awaits(ctx, kind) {
				errs <- follow(ctx, informers, past, kind, newObject())
			}
		})
	}
	running.Wait()
	close(errs)
	var all []error
	for err := range errs {
		all = append(all, err)
	}
	return errors.Join(all...)
}

// follow remembers the changes of one kind until the context ends.
func follow(ctx context.Context, informers cache.Informers, past *history.Background, kind string, object client.Object) error {
	informer, err := informers.GetInformer(ctx, object, cache.BlockUntilSynced(false))
	if err != nil {
		return fmt.Errorf("following objects of kind %s: %w", kind, err)
	}
	registration, err := informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{UpdateFunc: func(before, after any) {
		for _, e := range said(kind, before, after) {
			past.Note(func() history.Entry { return e })
		}
	}})
	if err != nil {
		return fmt.Errorf("following objects of kind %s: %w", kind, err)
	}
	<-ctx.Done()
	_ = informer.RemoveEventHandler(registration) // the informer has ended as well, or goes on without
	return nil
}
