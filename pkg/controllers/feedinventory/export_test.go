// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package feedinventory

import (
	"context"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"berth.dev/berth/pkg/controllers/internal/singleton"
)

// ReconcileRules is the pass over FeedParsers and definitions, which the manager runs as a
// controller of its own.
func ReconcileRules(ctx context.Context, r *Reconciler) (reconcile.Result, error) {
	return (&ruleKeeper{r}).Reconcile(ctx, singleton.Key{})
}

// Watched returns how many kinds are followed.
func Watched(r *Reconciler) int {
	r.watches.mu.Lock()
	defer r.watches.mu.Unlock()
	return len(r.watches.kinds)
}

// Tell lets the controller tell whose feeds have changed, as the manager does.
func Tell(ctx context.Context, r *Reconciler, notify func(subscription types.NamespacedName)) {
	r.watches.begin(ctx, notify)
}
