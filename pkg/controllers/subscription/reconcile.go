// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package subscription

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"berth.dev/berth/pkg/model/workload"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/controllers/room"
	"berth.dev/berth/pkg/controllers/state"
	"berth.dev/berth/pkg/model/topology"
	"berth.dev/berth/pkg/placement/subscription"
)

const subscriptionKind = "Subscription"

// pass is one look at all Subscriptions.
type pass struct {
	*Reconciler
	now      metav1.Time
	snapshot *topology.Snapshot
	index    *subscription.Index
	// members are the Subscriptions in the order in which they are served.
	members []*member
	ledger  *ledger
	// next is when time alone changes something, 0 for never.
	next time.Duration
}

// Reconcile brings all Subscriptions up to date.
func (r *Reconciler) Reconcile(ctx context.Context, _ All) (reconcile.Result, error) {
	var cached berthv1alpha1.SubscriptionList
	if err := r.Client.List(ctx, &cached); err != nil {
		return reconcile.Result{}, fmt.Errorf("listing Subscriptions: %w", err)
	}
	r.any.Store(len(cached.Items) > 0)
	if len(cached.Items) == 0 {
		totals.publish(summary{})
		return reconcile.Result{}, nil
	}
	start := r.Clock.Now()
	p, err := r.gather(ctx, r.written.newest(cached.Items))
	if err != nil {
		return reconcile.Result{}, err
	}
	if err := p.plan(); err != nil {
		return reconcile.Result{}, err
	}
	var failures []error
	stale := false
	for _, m := range p.members {
		err := p.write(ctx, m)
		if apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) {
			stale = true // The cache will catch up.
		} else if err != nil {
			failures = append(failures, err)
		}
	}
	if stale {
		p.again(afterConflict)
	}
	p.forgetCopies()
	totals.publish(p.count())
	passDuration.Observe(r.Clock.Since(start).Seconds())
	return reconcile.Result{RequeueAfter: p.next}, errors.Join(failures...)
}

// afterConflict is the pause until the cache may have caught up.
const afterConflict = 200 * time.Millisecond

// again asks for another pass after a while.
func (p *pass) again(after time.Duration) {
	if p.next == 0 || after < p.next {
		p.next = max(after, time.Millisecond)
	}
}

// gather reads what the Subscriptions are about.
func (r *Reconciler) gather(ctx context.Context, subscriptions []*berthv1alpha1.Subscription) (*pass, error) {
	p := &pass{Reconciler: r, now: metav1.NewTime(r.Clock.Now().Truncate(time.Second)), index: subscription.NewIndex(subscriptions)}
	var err error
	if p.snapshot, err = r.Topology.Snapshot(ctx); err != nil {
		return nil, err
	}
	p.ledger = newLedger(func() *room.Estimator {
		return room.NewEstimator(klog.FromContext(ctx), p.snapshot.Nodes, r.PodsOn(ctx))
	})
	observed := map[string]*surroundings{}
	for _, s := range subscriptions {
		if s.DeletionTimestamp != nil {
			continue // Its policies go with it.
		}
		known, seen := observed[s.Namespace]
		if !seen {
			objects, err := state.ListWorkloads(ctx, r.Client, s.Namespace)
			if err != nil {
				return nil, err
			}
			known = &surroundings{objects: objects, known: observe(objects), looks: looks(objects)}
			observed[s.Namespace] = known
		}
		m, err := r.member(ctx, p, s, known)
		if err != nil {
			return nil, err
		}
		p.members = append(p.members, m)
	}
	slices.SortFunc(p.members, func(a, b *member) int { return subscription.Compare(a.object, b.object) })
	return p, nil
}

// surroundings are the workloads of a namespace.
type surroundings struct {
	objects *workload.Objects
	known   observations
	looks   map[object]string
}

// member reads what belongs to one Subscription.
func (r *Reconciler) member(
	ctx context.Context, p *pass, s *berthv1alpha1.Subscription, around *surroundings,
) (*member, error) {
	m := &member{
		object: s, strategy: subscription.StrategyOf(&s.Spec), bundled: subscription.Bundled(&s.Spec), pledge: s.Status.Pledge,
		known: around.known, looks: around.looks, existing: existing(around.objects, s),
	}
	m.selectClusters(p.snapshot)
	if value := s.Annotations[berthv1alpha1.RebalanceAnnotation]; value != "" {
		m.rebalance = value[:min(len(value), maxRebalance)]
	}
	var err error
	if m.policies, m.named, err = r.policiesOf(ctx, s); err != nil {
		return nil, err
	}
	inventory := &berthv1alpha1.FeedInventory{}
	if err := r.Client.Get(ctx, client.ObjectKeyFromObject(s), inventory); err != nil {
		if !apierrors.IsNotFound(err) {
			return nil, fmt.Errorf("getting the inventory of Subscription %s/%s: %w", s.Namespace, s.Name, err)
		}
		inventory = nil
	}
	if r.OwnInventories && inventory != nil && inventory.Status.ObservedGeneration == 0 {
		inventory = nil
	}
	for i := range s.Spec.Feeds {
		f := &feed{ref: &s.Spec.Feeds[i]}
		f.observed = around.known[objectOf(f.ref)]
		m.read(p.index, f, i, inventory)
		f.count(p.snapshot)
		m.feeds = append(m.feeds, f)
	}
	return m, nil
}

// maxRebalance is how much of the value of the annotation counts.
const maxRebalance = 256

var _ reconcile.TypedReconciler[All] = (*Reconciler)(nil)
