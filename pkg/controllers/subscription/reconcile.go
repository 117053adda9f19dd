// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package subscription

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/controllers/adviser"
	"berth.dev/berth/pkg/controllers/internal/singleton"
	"berth.dev/berth/pkg/model/division"
	"berth.dev/berth/pkg/placement/bundle"
	"berth.dev/berth/pkg/simulator"
)

const subscriptionKind = "Subscription"

// afterConflict is the pause until the cache may have caught up.
const afterConflict = 200 * time.Millisecond

// afterDenial is the pause before it is tried again to write copies without a right to.
const afterDenial = 30 * time.Second

// outcome is a Subscription with what has been decided about it.
type outcome struct {
	*item
	decision bundle.Result
	// limitedBy says for each feed some replicas of which have no room what stops the next one, for
	// each cluster that is full.
	limitedBy [][]string
	// pledge is the admission of a bundle, nil if it has none.
	pledge *berthv1alpha1.Pledge
	// failedOver are the Clusters that others have the shares of.
	failedOver []berthv1alpha1.FailedOverCluster
	// denied says which right is missing to write its copies, empty if none is.
	denied string
	// promiseLife is how long room is kept for pods that nobody makes.
	promiseLife time.Duration
}

// policyOf returns the policy that carries out the division of a feed; see division.Outcome.Policy.
func (o *outcome) policyOf(i int) (policy *berthv1alpha1.PropagationPolicy, keep bool) {
	return (&division.Outcome{Object: o.expanded, Input: &o.input, Decision: &o.decision}).Policy(i)
}

// Reconcile brings all Subscriptions up to date.
func (r *Reconciler) Reconcile(ctx context.Context, _ singleton.Key) (reconcile.Result, error) {
	var cached berthv1alpha1.SubscriptionList
	if err := r.Client.List(ctx, &cached); err != nil {
		return reconcile.Result{}, fmt.Errorf("listing Subscriptions: %w", err)
	}
	r.any.Store(len(cached.Items) > 0)
	if len(cached.Items) == 0 {
		totals.publish(summary{})
		r.Adviser.Promise(controllerName, nil)
		r.Adviser.Hold(nil)
		return reconcile.Result{}, nil
	}
	start := r.Clock.Now()
	now := metav1.NewTime(start.Truncate(time.Second))
	snapshot, err := r.Topology.Snapshot(ctx)
	if err != nil {
		return reconcile.Result{}, err
	}
	items, err := r.gather(ctx, r.written.newest(cached.Items), snapshot, now)
	if err != nil {
		return reconcile.Result{}, err
	}
	observed := r.observeStuck(ctx, items, now.Time)
	var outcomes []outcome
	err = r.Adviser.Reserve(ctx, controllerName, promisedHere(items), func(asked *simulator.Snapshot) ([]adviser.Promise, error) {
		room := asked.Ledger(ctx, func(ref bundle.Ref) *corev1.Pod { return items[ref.Subscription].feeds[ref.Feed].sample })
		r.limit(items, observed, room)
		outcomes, err = decide(items, room, now, r.PromiseLife)
		return promisesOf(items, room.Reserved()), err
	})
	if err != nil {
		return reconcile.Result{}, err
	}
	again, err := r.writeAll(ctx, outcomes)
	passDuration.Observe(r.Clock.Since(start).Seconds())
	return r.after(nextPass(outcomes, now, again), err)
}

// after ends a pass: another one is due after a pause. What is due at a time, of all namespaces,
// does not wait for the pause that follows an error.
func (r *Reconciler) after(pause time.Duration, err error) (reconcile.Result, error) {
	if err == nil {
		return reconcile.Result{RequeueAfter: pause}, nil
	}
	if later := r.later.Load(); later != nil {
		(*later)(pause)
	}
	return reconcile.Result{}, err
}

// decide divides the feeds of all Subscriptions. Life is how long a bundle is admitted of which no
// pod has a node.
func decide(items []*item, room *simulator.Ledger, now metav1.Time, life time.Duration) ([]outcome, error) {
	inputs := make([]bundle.Subscription, len(items))
	for i := range items {
		inputs[i] = items[i].input
	}
	results, err := bundle.Decide(inputs, room)
	if err := errors.Join(room.Err(), err); err != nil {
		return nil, err
	}
	outcomes := make([]outcome, len(items))
	for i := range results {
		feeds := results[i].Feeds
		outcomes[i] = outcome{
			item: items[i], decision: results[i], promiseLife: life, limitedBy: make([][]string, len(feeds)),
			failedOver: division.FailedOver(items[i].object, results[i].Left, now),
		}
		for f := range feeds {
			if feeds[f].Unplaced+feeds[f].Lacking > 0 {
				outcomes[i].limitedBy[f] = room.LimitedBy(bundle.Ref{Subscription: i, Feed: f})
			}
		}
		switch results[i].Admission {
		case bundle.Kept:
			outcomes[i].pledge = items[i].object.Status.Pledge
		case bundle.Granted:
			outcomes[i].pledge = &berthv1alpha1.Pledge{AdmissionTime: now, ExpirationTime: metav1.NewTime(now.Add(life))}
		case bundle.NotNeeded, bundle.Waits:
		}
	}
	return outcomes, nil
}

// writeAll makes known what has been decided. It returns after what pause another pass is due
// because not all of it could be written, 0 if it was: because the cache was too old, something
// failed, or namespaces had their turns. The error is what failed.
func (r *Reconciler) writeAll(ctx context.Context, outcomes []outcome) (again time.Duration, err error) {
	var failed []error
	total, held := summary{reasons: map[conditionReason]int{}}, holds{}
	turns := newTurns(outcomes, r.lastTurns, r.failures, &r.allowances, r.Clock.Now())
	for _, i := range turns.order {
		o := &outcomes[i]
		if turns.over(o) {
			total.add(o, o.object)
			held.note(o, o.object)
			continue
		}
		before := r.requests
		after, err := r.write(ctx, o)
		if r.requests > before {
			r.allTurns++
			r.lastTurns[o.object.UID] = r.allTurns
			turns.spend(o.object.Namespace)
		}
		pause, err := r.noteFailure(o, err)
		turns.due(pause)
		failed = append(failed, err)
		total.add(o, after)
		held.note(o, after)
	}
	r.forgetCopies(outcomes)
	keepOnly(r.failures, outcomes)
	keepOnly(r.lastTurns, outcomes)
	totals.publish(total)
	r.Adviser.Hold(held)
	return turns.again, errors.Join(failed...)
}

// noteFailure remembers whether a Subscription could be written, and returns after what pause it is
// tried again, 0 for never, and the error unless time will mend it.
func (r *Reconciler) noteFailure(o *outcome, err error) (time.Duration, error) {
	uid := o.object.UID
	if err == nil && o.denied == "" {
		delete(r.failures, uid)
		return 0, nil
	}
	pause := r.failures.add(uid)
	switch {
	case err == nil:
		return afterDenial, nil
	case apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err):
		return afterConflict, nil // The cache will catch up.
	}
	return pause, err
}

// nextPass returns after what time another pass is due although nothing changes, 0 for never. Again
// is what writeAll has returned.
func nextPass(outcomes []outcome, now metav1.Time, again time.Duration) (next time.Duration) {
	sooner := func(after time.Duration) {
		if next == 0 || after < next {
			next = max(after, time.Millisecond)
		}
	}
	for i := range outcomes {
		if o := &outcomes[i]; o.decision.Provisional {
			sooner(o.pledge.ExpirationTime.Sub(now.Time))
		}
		if next := outcomes[i].next; !next.IsZero() {
			sooner(next.Sub(now.Time))
		}
	}
	if again > 0 {
		sooner(again)
	}
	return next
}

var _ reconcile.TypedReconciler[singleton.Key] = (*Reconciler)(nil)
