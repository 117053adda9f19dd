// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package application

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/controllers/accounts"
	"berth.dev/berth/pkg/controllers/state"
	"berth.dev/berth/pkg/placement/migrate"
	"berth.dev/berth/pkg/placement/rank"
)

// controllerName is the name of the controller in logs, metrics and events.
const controllerName = "application"

// fieldOwner is the field manager under which objects of Applications are applied.
const fieldOwner = "berth-application"

const (
	// DefaultSettleTimeout is how long a first choice waits for knowledge unless something else is
	// set.
	DefaultSettleTimeout = 30 * time.Second

	// conflictPause is the pause until the cache may have caught up, and refusedPause that before a
	// refused object is tried again.
	conflictPause, refusedPause = 200 * time.Millisecond, 30 * time.Second
	// resync is how often objects are applied although nothing is known to have changed, and
	// watchedResync that of objects that are watched.
	resync, watchedResync = 10 * time.Minute, 10 * time.Hour
)

// Options are what a Reconciler needs.
type Options struct {
	// Client reads from the cache and writes.
	Client client.Client
	// Clusters returns the Clusters as the cache has them, which nobody may change. As long as one
	// stays the same, so does its address.
	Clusters func() []*berthv1alpha1.Cluster
	// Live reads from the API server.
	Live client.Reader
	// Account returns the account of a namespace that writes what Applications list, see
	// accounts.Accounts.Of.
	Account func(ctx context.Context, namespace, name string) (*accounts.Account, error)
	// Mapper knows the kinds that the API server serves.
	Mapper apimeta.RESTMapper
	// Recorder takes events about Applications.
	Recorder events.EventRecorder
	// Clock tells the time.
	Clock clock.PassiveClock
	// Adviser answers which clusters have room.
	Adviser Adviser
	// Moves limits how many pods begin to move, together with all else that moves pods.
	Moves *state.Moves
	// Watching lets objects be watched that the controller has made; nil for not at all.
	Watching *Watching
	// SettleTimeout is how long a first choice waits for what is still unknown of clusters.
	SettleTimeout time.Duration
	// Schedulers are the names of the schedulers that Berth's plugins run in. Pods that name none
	// get the first.
	Schedulers []string
	// Stickiness is that of Applications that set none.
	Stickiness rank.Stickiness
	// RescheduleAfter is how long a choice stands for Applications that do not say.
	RescheduleAfter time.Duration
}

// Reconciler runs Applications. Use New to make one.
type Reconciler struct {
	Options
	candidates candidates
	keeper     keeper
	watches    watches

	mu    sync.Mutex
	memos map[types.NamespacedName]*memo
	// queue takes requests for passes, nil before the controller runs.
	queue workqueue.TypedRateLimitingInterface[reconcile.Request]
}

// memo is what is remembered of an Application. To lose it costs requests and nothing else.
type memo struct {
	uid     types.UID
	decided time.Time
	// review asks for a review as soon as no move is under way. It is asked for again when what was
	// given up has come to rest, see forgetReplicas.
	review bool
	// promised is the room that the choice has taken, nil if its pods fill it.
	promised *promise
	// waiting is when the Application began to wait for its first choice.
	waiting time.Time
	applied map[berthv1alpha1.ApplicationObject]application
	// scaled are the workloads whose number of replicas the move has set that is under way.
	scaled map[string]*scaled
}

// application says what was applied of an object, and when.
type application struct {
	digest [32]byte
	at     time.Time
}

// New returns a Reconciler.
func New(options Options) *Reconciler {
	return &Reconciler{Options: options, memos: map[types.NamespacedName]*memo{}}
}

func (r *Reconciler) remember(key types.NamespacedName, uid types.UID) *memo {
	r.mu.Lock()
	known := r.memos[key]
	r.mu.Unlock()
	if known != nil && known.uid == uid {
		return known
	}
	if known != nil {
		r.forget(key) // one of this name that is gone
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.memos[key] = &memo{uid: uid, applied: map[berthv1alpha1.ApplicationObject]application{}}
	return r.memos[key]
}

func (r *Reconciler) forget(key types.NamespacedName) {
	r.Adviser.Promise(promiser(key), nil)
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.memos, key)
	r.keeper.forget(key)
}

// Reconcile makes one pass over an Application.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	if request == anyRoom {
		r.wakeWaiting(ctx)
		return reconcile.Result{}, nil
	}
	stored := &berthv1alpha1.Application{}
	if err := r.Client.Get(ctx, request.NamespacedName, stored); err != nil {
		if apierrors.IsNotFound(err) {
			r.forget(request.NamespacedName)
		}
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if stored.DeletionTimestamp != nil {
		// Garbage collection deletes what the Application owns.
		r.forget(request.NamespacedName)
		return reconcile.Result{}, nil
	}
	p := &pass{
		app: working(stored), stored: stored, memo: r.remember(request.NamespacedName, stored.UID), now: r.Clock.Now(),
	}
	decided, review := p.memo.decided, p.memo.review
	err := r.run(ctx, p)
	if err != nil && p.stored == stored {
		// Nothing was written of what was decided, so it is still to be decided.
		p.memo.decided, p.memo.review = decided, review
	}
	if apierrors.IsConflict(err) {
		// The next pass sees what somebody else wrote in between.
		return reconcile.Result{RequeueAfter: conflictPause}, nil
	}
	return reconcile.Result{RequeueAfter: p.next}, err
}

func (r *Reconciler) run(ctx context.Context, p *pass) error {
	objects, err := (&parser{p.app, r.Mapper, r.Schedulers}).parse()
	if err != nil {
		p.unreadable(err)
		p.again(refusedPause) // A kind that is missing may be installed.
		r.keepPromise(p, &observed{})
		return r.writeStatus(ctx, p)
	}
	seen, err := read(ctx, r.Client, p.app, objects, r.Schedulers, p.now)
	if err != nil {
		return err
	}
	seen.scaled = p.memo.scaled
	r.keepPromise(p, seen)
	if p.app.Status.ScheduledTo == "" {
		p.app.Status.Ready = readyOf(p.app, objects, seen).String()
	}
	if !seen.next.IsZero() {
		p.again(seen.next.Sub(p.now))
	}
	if rests := p.suspended(seen); rests {
		if p.app.Status.ScheduledTo != "" {
			p.runs(objects, seen)
		}
		return r.writeStatus(ctx, p)
	}
	if err := r.review(ctx, p, objects, seen); err != nil {
		return err
	}
	if p.app.Status.ScheduledTo == "" {
		p.condition(berthv1alpha1.ApplicationReady, false, berthv1alpha1.ReasonWaitingForCluster,
			"no cluster is chosen yet, so nothing is made")
		return r.writeStatus(ctx, p)
	}
	if !p.list(objects) {
		failure := r.clear(ctx, p, objects, seen)
		return errors.Join(failure, r.writeStatus(ctx, p))
	}
	if err := r.writeStatus(ctx, p); err != nil {
		return err
	}
	failure := r.make(ctx, p, objects, seen)
	if apierrors.IsConflict(failure) {
		return failure
	}
	return errors.Join(p.report(objects, seen, failure), r.writeStatus(ctx, p))
}

// review decides about the move that is under way, and about the cluster, which stays while the
// Application is suspended.
func (r *Reconciler) review(ctx context.Context, p *pass, objects []*object, seen *observed) error {
	if err := r.reviewMove(ctx, p, objects, seen); err != nil || p.app.Spec.Suspend {
		return err
	}
	return r.decide(ctx, p, objects, seen)
}

// suspended tells that the Application is suspended, and reports whether nothing at all is to be
// done for it: while a move rests where it is, or no cluster has been chosen.
func (p *pass) suspended(seen *observed) bool {
	if !p.app.Spec.Suspend {
		return false
	}
	p.seen()
	if p.app.Status.ScheduledTo == "" {
		p.condition(berthv1alpha1.ApplicationScheduled, false, berthv1alpha1.ReasonSuspended, "no cluster is chosen while it is suspended")
		p.condition(berthv1alpha1.ApplicationReady, false, berthv1alpha1.ReasonWaitingForCluster, "no cluster is chosen yet, so nothing is made")
		return true
	}
	suits := apimeta.IsStatusConditionTrue(p.app.Status.Conditions, berthv1alpha1.ApplicationScheduled)
	p.condition(berthv1alpha1.ApplicationScheduled, suits, berthv1alpha1.ReasonSuspended,
		fmt.Sprintf("cluster %s stays chosen while it is suspended", p.app.Status.ScheduledTo))
	p.waitsForNothing()
	if p.app.Status.Move != nil {
		p.condition(berthv1alpha1.ApplicationMoving, true, berthv1alpha1.ReasonSuspended, "the move rests while the Application is suspended")
	}
	return p.app.Status.Move != nil || seen.moving()
}

// make brings the objects to where they should be, and removes what is not in the spec any more.
func (r *Reconciler) make(ctx context.Context, p *pass, objects []*object, seen *observed) error {
	w, err := r.writer(ctx, p)
	if err != nil {
		return err
	}
	for _, o := range objects {
		r.watch(ctx, o.GroupVersionKind(), p.now)
	}
	moving, err := w.bringAll(ctx, objects, seen)
	p.contested = w.contested
	if moving {
		p.again(migrate.Pause(p.sinceChosen()))
	}
	if err != nil {
		return err
	}
	return w.prune(ctx, objects, seen.policies)
}

// writer returns who writes the objects of an Application.
func (r *Reconciler) writer(ctx context.Context, p *pass) (*writer, error) {
	account, err := r.Account(ctx, p.app.Namespace, p.app.Spec.ServiceAccountName)
	if err != nil {
		return nil, err
	}
	return &writer{
		client: r.Client, live: r.Live, account: account, app: p.app, applied: p.memo.applied, now: p.now,
		keeper: &r.keeper, watches: &r.watches, again: p.again, scaled: p.scales(),
	}, nil
}

// sinceChosen returns for how long the cluster has been chosen.
func (p *pass) sinceChosen() time.Duration {
	if p.app.Status.Scheduled == nil {
		return 0
	}
	return p.now.Sub(p.app.Status.Scheduled.Time)
}

// report writes into the status what became of the objects. It returns the failure unless that is
// for the user.
func (p *pass) report(objects []*object, seen *observed, failure error) error {
	reason, told := refusedFor(failure)
	switch {
	case told != nil:
		p.app.Status.Ready = readyOf(p.app, objects, seen).String()
		p.condition(berthv1alpha1.ApplicationReady, false, reason, told.Error())
		p.again(refusedPause)
		return nil
	case failure != nil:
		return failure
	}
	p.app.Status.Objects = nil
	for _, o := range objects {
		p.app.Status.Objects = append(p.app.Status.Objects, o.key())
	}
	p.runs(objects, seen)
	return nil
}

// refusedFor returns the part of a failure that is for the user, with its reason; nil if there is
// none.
func refusedFor(failure error) (reason string, told error) {
	var denied *accounts.Refusal
	if errors.As(failure, &denied) {
		return berthv1alpha1.ReasonNotAllowed, denied
	}
	var refused *refusal
	if errors.As(failure, &refused) {
		return berthv1alpha1.ReasonManifestRefused, refused
	}
	return "", nil
}
