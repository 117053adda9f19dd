// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package feedinventory

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/controllers/internal/fairqueue"
	"berth.dev/berth/pkg/placement/subscription"
)

// Reconciler writes FeedInventories. Use New to make one.
type Reconciler struct {
	client  client.Client
	mapper  apimeta.RESTMapper
	objects dynamic.Interface
	// recorder is nil if nobody wants events.
	recorder events.EventRecorder
	parsers  *parsers
	watches  *watches
	// allowances are what namespaces may have written.
	allowances fairqueue.Allowances

	mu sync.Mutex
	// memory is what was read for each Subscription.
	memory map[types.NamespacedName]map[target]remembered
	// kinds are those that are looked for in Helm releases, nil if they have to be worked out anew.
	kinds []servedKind
}

// divides reports whether a Subscription divides by room, or needs room for all its feeds at once:
// an inventory means something to no other.
func divides(spec *berthv1alpha1.SubscriptionSpec) bool {
	return subscription.ByRoom(spec) || subscription.Bundled(spec)
}

// Reconcile brings the inventory of one Subscription up to date.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	if registry, _ := r.parsers.current(); registry == nil {
		return reconcile.Result{}, nil // The first build asks for all Subscriptions.
	}
	subscription := &berthv1alpha1.Subscription{}
	if err := r.client.Get(ctx, request.NamespacedName, subscription); err != nil {
		if apierrors.IsNotFound(err) {
			r.forget(request.NamespacedName)
		}
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if !subscription.DeletionTimestamp.IsZero() {
		r.forget(request.NamespacedName) // The inventory goes with its owner.
		return reconcile.Result{}, nil
	}
	observed, findings, pause, err := r.findings(ctx, subscription)
	var pending errPending
	if errors.As(err, &pending) {
		return reconcile.Result{RequeueAfter: pending.left}, nil
	}
	if err != nil {
		return reconcile.Result{}, err
	}
	after, changed := parsed(subscription, observed, findings)
	if changed {
		// It may take a while until thousands of a namespace are told of; those of others do not wait.
		if wait := r.allowances.Book(request.NamespacedName, r.watches.clock.Now()); wait > 0 {
			return reconcile.Result{RequeueAfter: wait}, nil
		}
	}
	err = r.writeAll(ctx, subscription, after, changed, findings)
	if apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) {
		return reconcile.Result{RequeueAfter: afterConflict}, nil
	}
	return reconcile.Result{RequeueAfter: pause}, err
}

// writeAll brings the inventory of a Subscription up to date, and then its status if that has
// changed.
func (r *Reconciler) writeAll(ctx context.Context, before, after *berthv1alpha1.Subscription, changed bool, findings []finding) error {
	write := func() error { return r.remove(ctx, before) }
	if divides(&before.Spec) {
		write = func() error { return r.write(ctx, before, findings) }
	}
	if err := write(); err != nil || !changed {
		return err
	}
	return r.writeParsed(ctx, before, after)
}

// afterConflict is the pause until the cache may have caught up.
const afterConflict = 200 * time.Millisecond

func (r *Reconciler) forget(subscription types.NamespacedName) {
	r.allowances.Cancel(subscription)
	r.watches.want(subscription, nil)
	r.watches.wantReleases(subscription, nil, nil)
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.memory, subscription)
	feedsByReason.forget(subscription)
}

// findings returns what is known of each feed, and after what pause to read the feeds again if some
// trouble may end without an event. Observed is the Subscription with the objects of its Helm
// releases in its status; the feeds are these objects in place of the releases.
func (r *Reconciler) findings(
	ctx context.Context, s *berthv1alpha1.Subscription,
) (observed *berthv1alpha1.Subscription, findings []finding, pause time.Duration, err error) {
	if observed, err = r.resolve(s); err != nil {
		return nil, nil, 0, err
	}
	key := client.ObjectKeyFromObject(s)
	expanded, troubles := subscription.Expand(observed)
	targets, findings, pause := r.targets(expanded, troubles)
	wanted := sets.New(slices.Collect(maps.Values(targets))...)
	r.watches.want(key, wanted)

	r.mu.Lock()
	before := r.memory[key]
	r.mu.Unlock()
	now := map[target]remembered{}
	for i := range findings {
		feed := &expanded.Spec.Feeds[i]
		if t, ok := targets[i]; ok {
			if findings[i], err = r.read(ctx, feed, t, before, now); err != nil {
				return nil, nil, 0, err
			}
			if findings[i].mayEnd() {
				pause = retry
			}
		}
		findings[i].order.Feed = *feed
	}
	limit(findings)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.memory[key] = now
	feedsByReason.note(key, findings)
	return observed, findings, pause, nil
}

// targets returns the object that each feed names, by the index of the feed, findings for the feeds
// that name none, and a pause if that may change without an event.
func (r *Reconciler) targets(
	s *berthv1alpha1.Subscription, troubles map[int]subscription.Trouble,
) (targets map[int]target, findings []finding, pause time.Duration) {
	feeds := s.Spec.Feeds
	targets, findings = map[int]target{}, make([]finding, len(feeds))
	seen := sets.New[target]()
	for i := range feeds {
		if wrong, found := troubles[i]; found {
			findings[i] = finding{reason: wrong.Reason, message: wrong.Message}
			if findings[i].mayEnd() {
				pause = retry
			}
			continue
		}
		t, why := targetOf(r.mapper, s.Namespace, &feeds[i])
		switch {
		case why != nil:
			findings[i] = *why
			pause = retry
		case seen.Has(t):
			findings[i] = trouble(berthv1alpha1.ReasonFeedDuplicate, "the %s is listed twice", feeds[i].Kind)
		default:
			targets[i] = t
			seen.Insert(t)
		}
	}
	return targets, findings, pause
}

// subscriptions returns all Subscriptions that have been read.
func (r *Reconciler) subscriptions() []types.NamespacedName {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Collect(maps.Keys(r.memory))
}

// remove removes the inventory of a Subscription that has no use for it, unless somebody else made
// it.
func (r *Reconciler) remove(ctx context.Context, subscription *berthv1alpha1.Subscription) error {
	inventory := &berthv1alpha1.FeedInventory{}
	if err := r.client.Get(ctx, client.ObjectKeyFromObject(subscription), inventory); err != nil {
		return client.IgnoreNotFound(err)
	}
	if !belongs(inventory, subscription) || !inventory.DeletionTimestamp.IsZero() {
		return nil
	}
	err := r.client.Delete(ctx, inventory, client.Preconditions{UID: &inventory.UID})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("deleting the inventory of Subscription %s/%s: %w", subscription.Namespace, subscription.Name, err)
	}
	return nil
}

var _ reconcile.Reconciler = (*Reconciler)(nil)
