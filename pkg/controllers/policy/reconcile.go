// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/controllers/adviser"
	"berth.dev/berth/pkg/controllers/state"
	"berth.dev/berth/pkg/history"
	modelpolicy "berth.dev/berth/pkg/model/policy"
	"berth.dev/berth/pkg/placement/promise"
)

// controllerName is the name of the controller in logs, metrics and events.
const controllerName = "policy"

// Options are what a Reconciler needs.
type Options struct {
	// Client reads from the cache and writes.
	Client client.Client
	// Stamps writes what pods carry. It should have limits of its own: many pods may need it at once.
	Stamps client.Writer
	// Live reads from the API server.
	Live client.Reader
	// Topology tells the nodes of each Cluster.
	Topology *state.Tracker
	// Owners looks up owners of kinds beyond the table; nil for none.
	Owners state.Owners
	// Adviser answers how much room clusters have.
	Adviser *adviser.Adviser
	// Evictor evicts pods.
	Evictor Evictor
	// Recorder takes events about policies.
	Recorder events.EventRecorder
	// History remembers what is done to pods; nil for nothing.
	History *history.Background
	// Clock tells the time.
	Clock clock.PassiveClock
	// Schedulers are the names of the schedulers that Berth's plugins run in.
	Schedulers []string
	// Restamps limits how many pods get a new seat, over all policies.
	Restamps flowcontrol.RateLimiter
	// Moves limits how many pods are evicted, together with all else that moves pods.
	Moves *state.Moves
	// PromiseLife is how long room is kept for replacements since the last pod was made;
	// promise.DefaultLife if 0.
	PromiseLife time.Duration
}

// Reconciler carries out the policies of a namespace. Passes over different namespaces may run at
// the same time.
type Reconciler struct {
	Options
	memory  memory
	lookups lookups
	asks    *asks
	changes changes
	// queue is where passes are asked for; it is set before the first pass over allNamespaces.
	queue atomic.Pointer[queue]
}

// New returns a Reconciler. The first round of evictions of each workload waits until its cool-down
// has passed since now: another process may have ended a round a moment ago.
func New(options Options) *Reconciler {
	options.PromiseLife = cmp.Or(options.PromiseLife, promise.DefaultLife)
	return &Reconciler{
		Options: options, memory: memory{began: options.Clock.Now(), namespaces: map[string]*notes{}}, asks: newAsks(),
	}
}

// Reconcile makes one pass over a namespace, unless a glance at what has changed there is enough.
func (r *Reconciler) Reconcile(ctx context.Context, namespace string) (reconcile.Result, error) {
	if namespace == allNamespaces {
		return reconcile.Result{}, r.askEverywhere(ctx)
	}
	result, enough, err := r.glance(ctx, namespace, r.asks.take(namespace))
	if err == nil && !enough {
		result, err = r.pass(ctx, namespace)
	}
	if err != nil {
		r.asks.whole(namespace)
	}
	return result, err
}

// pass makes one pass over a namespace.
func (r *Reconciler) pass(ctx context.Context, namespace string) (reconcile.Result, error) {
	p, err := r.gather(ctx, namespace)
	if err != nil {
		return reconcile.Result{}, err
	}
	p.confine(ctx)
	errs := []error{p.release(ctx)}
	if len(p.policies) == 0 {
		r.memory.keep(namespace, nil)
		forgetReplicas(namespace)
		p.publish()
		return reconcile.Result{RequeueAfter: p.next}, errors.Join(errs...)
	}
	errs = append(errs, p.restamp(ctx))
	for _, in := range p.policies {
		errs = append(errs, p.move(ctx, in))
		p.scale(ctx, in)
		errs = append(errs, p.report(ctx, in))
	}
	p.publish()
	countReplicas(namespace, p.policies)
	err = errors.Join(errs...)
	if err == nil {
		p.makePeace()
	}
	return reconcile.Result{RequeueAfter: p.next}, err
}

// reportPause is the least time between two writes of the status of a policy. While pods come and
// go in masses it keeps the requests for what matters more.
const reportPause = 500 * time.Millisecond

// report writes the status of a policy if it differs from what it should be, also where it cannot
// be told how much room there is.
func (p *pass) report(ctx context.Context, in *inForce) error {
	after := in.policy.DeepCopy()
	modelpolicy.SetLeft(&after.Status, p.leave(in))
	limited, err := p.limit(ctx, in)
	after.Status.Limited = limited
	setStatus(&after.Status, in)
	return errors.Join(err, p.writeStatus(ctx, in, after))
}

// writeStatus writes the status of a policy unless it is there already.
func (p *pass) writeStatus(ctx context.Context, in *inForce, after *berthv1alpha1.PropagationPolicy) error {
	if apiequality.Semantic.DeepEqual(in.policy.Status, after.Status) {
		return nil
	}
	if wait := reportPause - p.now.Sub(p.notes.reported[in.Policy]); wait > 0 {
		p.requeueAfter(wait)
		return nil
	}
	patch := client.MergeFromWithOptions(in.policy, client.MergeFromWithOptimisticLock{})
	p.notes.reported[in.Policy] = p.now
	err := p.Client.Status().Patch(ctx, after, patch)
	switch {
	case apierrors.IsConflict(err):
		p.requeueAfter(changedAgain)
		return nil
	case err != nil && !apierrors.IsNotFound(err):
		return fmt.Errorf("writing the status of policy %s/%s: %w", in.policy.Namespace, in.policy.Name, err)
	}
	return nil
}
