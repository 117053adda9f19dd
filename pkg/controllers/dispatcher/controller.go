// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package dispatcher gives each waiting pod a home while there are several Schedulers: the one that
// is to place it, recorded in a label of the pod. A pod of a policy goes where the policy has free
// seats; any other pod goes where its selectors and its constraints on clusters let it run, to the
// place it wishes for, and else to the scheduler with the least to do. With one Scheduler, or none,
// nothing is written.
//
// A pass has three steps:
//
//	read    gather.go, pools.go      schedulers, clusters, pods, policies, workloads
//	decide  decide.go, seats.go      and pkg/placement/dispatch, with the facts of nodes from
//	                                 selectors.go, constraints.go and pools.go
//	write   controller.go            the label of each pod whose home changes
//
// The home is a hint: what keeps two schedulers from placing pods on one cluster is the binding of
// clusters, and a pod can be bound only once.
package dispatcher

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/controllers/adviser"
	"berth.dev/berth/pkg/controllers/internal/singleton"
	"berth.dev/berth/pkg/controllers/state"
	"berth.dev/berth/pkg/history"
	"berth.dev/berth/pkg/model/policy"
	"berth.dev/berth/pkg/placement/dispatch"
)

// controllerName is the name of the controller in logs and metrics.
const controllerName = "dispatcher"

const (
	// pause is how long a change waits for others.
	pause = 50 * time.Millisecond
	// writers is how many pods are written at a time.
	writers = 32
	// mostQuestions bounds how often a pass asks the scheduler's plugins who has room for a pod.
	mostQuestions = 64
	// retryInterval is when the next pass finds out whose home has tried in vain.
	retryInterval = 2 * time.Second
)

// Reconciler writes the homes of pods.
type Reconciler struct {
	// Client reads from the cache.
	Client client.Client
	// Writer writes pods. It has limits of its own, so that a burst of pods does not hold the other
	// controllers up.
	Writer client.Client
	// Topology knows the nodes of each Cluster.
	Topology *state.Tracker
	// Adviser answers which nodes take a pod.
	Adviser *adviser.Adviser
	// Owners looks up owners of kinds beyond the table; nil for none.
	Owners state.Owners
	// Clock is the time by which pods wait at their homes.
	Clock clock.PassiveClock
	// SchedulerNames are the values of spec.schedulerName that Berth's schedulers serve.
	SchedulerNames []string
	// History remembers which pods get which home; nil for nothing.
	History *history.Background

	// What the last pass remembers: pods that wait, by their UID, those that it has put off asking
	// for, and policies, by namespace. Passes do not overlap.
	waits     map[types.UID]dispatch.Wait
	postponed []types.UID
	compiled  map[string]policy.Set
	// changes counts those of Schedulers, Clusters and policies, by which a pod may find a node.
	changes atomic.Uint64
}

// SetupWithManager registers the controller.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager) error {
	c, note := mgr.GetCache(), func() { r.changes.Add(1) }
	b := builder.TypedControllerManagedBy[singleton.Key](mgr).
		Named(controllerName).
		WatchesRawSource(source.TypedKind(c, &berthv1alpha1.Scheduler{}, singleton.After[*berthv1alpha1.Scheduler](pause, note),
			singleton.Changes(schedulerChanged))).
		WatchesRawSource(source.TypedKind(c, &berthv1alpha1.Cluster{}, singleton.After[*berthv1alpha1.Cluster](pause, note),
			singleton.Changes(func(a, b *berthv1alpha1.Cluster) bool {
				return a.Generation != b.Generation || a.Status.HomeRevision != b.Status.HomeRevision || !maps.Equal(a.Labels, b.Labels)
			}))).
		WatchesRawSource(source.TypedKind(c, &corev1.Pod{}, singleton.After[*corev1.Pod](pause), singleton.Changes(podChanged))).
		WatchesRawSource(source.TypedKind(c, &berthv1alpha1.PropagationPolicy{}, singleton.After[*berthv1alpha1.PropagationPolicy](pause, note),
			singleton.Changes(func(a, b *berthv1alpha1.PropagationPolicy) bool {
				return a.Generation != b.Generation || !policy.SameMeaning(a, b)
			})))
	if r.Owners != nil {
		b.WatchesRawSource(source.TypedFunc[singleton.Key](func(_ context.Context, q workqueue.TypedRateLimitingInterface[singleton.Key]) error {
			r.Owners.Listen(func(string, types.UID) { q.AddAfter(singleton.Key{}, pause) })
			return nil
		}))
	}
	if err := b.Complete(r); err != nil {
		return fmt.Errorf("setting up the dispatcher: %w", err)
	}
	return nil
}

func schedulerChanged(before, after *berthv1alpha1.Scheduler) bool {
	return takes(before) != takes(after) || (before.Status.Commons == nil) != (after.Status.Commons == nil)
}

// podChanged reports whether a change of a pod can change a home: its own, or that of one which
// wants its seat.
func podChanged(before, after *corev1.Pod) bool {
	return before.Spec.NodeName != after.Spec.NodeName || before.DeletionTimestamp.IsZero() != after.DeletionTimestamp.IsZero() ||
		before.Status.Phase != after.Status.Phase || len(before.Spec.SchedulingGates) != len(after.Spec.SchedulingGates) ||
		before.Labels[berthv1alpha1.HomeSchedulerLabel] != after.Labels[berthv1alpha1.HomeSchedulerLabel]
}

// takes reports whether a scheduler can place pods.
func takes(s *berthv1alpha1.Scheduler) bool {
	return s.DeletionTimestamp == nil && state.IsAlive(s)
}

// Reconcile gives every waiting pod its home.
func (r *Reconciler) Reconcile(ctx context.Context, _ singleton.Key) (reconcile.Result, error) {
	var schedulers berthv1alpha1.SchedulerList
	if err := r.Client.List(ctx, &schedulers, client.UnsafeDisableDeepCopy); err != nil {
		return reconcile.Result{}, fmt.Errorf("listing schedulers: %w", err)
	}
	if len(schedulers.Items) < 2 {
		return reconcile.Result{}, nil
	}
	in, err := r.gather(ctx, schedulers.Items)
	if err != nil || in == nil {
		return reconcile.Result{}, err
	}
	p := newPass(in, r.waits, r.postponed)
	changes := p.decide()
	r.waits, r.postponed, r.compiled = p.round.Waits(), p.postponed, map[string]policy.Set{}
	for i := range in.namespaces {
		r.compiled[in.namespaces[i].name] = in.namespaces[i].policies
	}
	return reconcile.Result{RequeueAfter: retryInterval}, errors.Join(r.write(ctx, changes), p.err)
}

// change is a new home of a pod.
type change struct {
	pod  *corev1.Pod
	home string
}

func (r *Reconciler) write(ctx context.Context, changes []change) error {
	errs := make([]error, len(changes))
	workqueue.ParallelizeUntil(ctx, writers, len(changes), func(i int) { errs[i] = r.label(ctx, changes[i]) })
	failed := 0
	var first error
	for _, err := range errs {
		if err != nil {
			failed++
			first = err
		}
	}
	if first != nil {
		return fmt.Errorf("%d of %d pods got no home: %w", failed, len(changes), first)
	}
	return nil
}

func (r *Reconciler) label(ctx context.Context, c change) error {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"uid": c.pod.UID, "labels": map[string]string{berthv1alpha1.HomeSchedulerLabel: c.home},
	}})
	if err != nil {
		return fmt.Errorf("writing the home of pod %s/%s: %w", c.pod.Namespace, c.pod.Name, err)
	}
	target := &corev1.Pod{}
	target.Namespace, target.Name = c.pod.Namespace, c.pod.Name
	err = r.Writer.Patch(ctx, target, client.RawPatch(types.MergePatchType, patch))
	if err == nil {
		r.History.Note(func() history.Entry {
			return history.Entry{About: history.Pod(c.pod), Decision: history.Dispatched, Message: wayOf(c)}
		})
	}
	if err == nil || apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil // it is gone, or another pod has its name
	}
	return fmt.Errorf("writing the home of pod %s/%s: %w", c.pod.Namespace, c.pod.Name, err)
}

// wayOf tells to which Scheduler a pod goes, and from which.
func wayOf(c change) string {
	text := "to Scheduler " + c.home
	if before := c.pod.Labels[berthv1alpha1.HomeSchedulerLabel]; before != "" {
		text += " instead of " + before
	}
	return text
}
