// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package grants shares the pools of ClusterResources out among several Schedulers. Each gives out
// no more than its grant, and all grants together are no more than is allocatable. They move to
// where pods wait, in the steps that pkg/placement/grants decides. What a scheduler held that has
// died is counted by the pods, after its Lease has been taken. With one Scheduler, or none, nothing
// is written.
package grants

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/controllers/adviser"
	"berth.dev/berth/pkg/controllers/internal/singleton"
	"berth.dev/berth/pkg/controllers/state"
	"berth.dev/berth/pkg/model/charges"
	"berth.dev/berth/pkg/model/workload"
	"berth.dev/berth/pkg/placement/grants"
	"berth.dev/berth/pkg/placement/pool"
)

// controllerName is the name of the controller in logs and metrics.
const controllerName = "grants"

const (
	// pause is how long a change waits for others.
	pause = 50 * time.Millisecond
	// again is when a pass looks again while something is under way.
	again = 500 * time.Millisecond
	// taken is how long after a pod has taken something a pass follows. Until then its Scheduler has
	// said what its other pods want. An earlier pass would grant once more what this one has.
	taken = time.Second
)

// Reconciler keeps the grants.
type Reconciler struct {
	// Client reads from the cache, which must have state.ConcernedIndex, and writes.
	Client client.Client
	// Live reads from the API server, for what must not be decided by an old state.
	Live client.Reader
	// Leases takes the Leases of schedulers that have died.
	Leases *state.Leases
	// Adviser knows what replicas lack that are to move to the Clusters of other schedulers; nil if
	// nobody tells.
	Adviser *adviser.Adviser
	// Clock gives the first revision.
	Clock clock.PassiveClock
}

// SetupWithManager registers the controller.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager) error {
	c := mgr.GetCache()
	err := builder.TypedControllerManagedBy[singleton.Key](mgr).
		Named(controllerName).
		WatchesRawSource(source.TypedKind(c, &berthv1alpha1.ClusterResource{}, singleton.After[*berthv1alpha1.ClusterResource](pause),
			singleton.Changes(resourceChanged))).
		WatchesRawSource(source.TypedKind(c, &berthv1alpha1.Scheduler{}, singleton.After[*berthv1alpha1.Scheduler](pause),
			singleton.Changes(schedulerChanged))).
		WatchesRawSource(source.TypedKind(c, &corev1.Pod{}, singleton.After[*corev1.Pod](pause), releases())).
		WatchesRawSource(source.TypedKind(c, &corev1.Pod{}, singleton.After[*corev1.Pod](taken), takes())).
		WatchesRawSource(source.TypedFunc[singleton.Key](r.listen)).
		Complete(r)
	if err != nil {
		return fmt.Errorf("setting up the grants controller: %w", err)
	}
	return nil
}

// listen lets what replicas lack ask for passes.
func (r *Reconciler) listen(_ context.Context, q workqueue.TypedRateLimitingInterface[singleton.Key]) error {
	if r.Adviser != nil {
		r.Adviser.OnLack(func() { q.AddAfter(singleton.Key{}, pause) })
	}
	return nil
}

func resourceChanged(before, after *berthv1alpha1.ClusterResource) bool {
	return before.Generation != after.Generation || before.Status.GrantsRevision != after.Status.GrantsRevision ||
		!apiequality.Semantic.DeepEqual(before.Status.Allocatable, after.Status.Allocatable)
}

func schedulerChanged(before, after *berthv1alpha1.Scheduler) bool {
	return before.DeletionTimestamp.IsZero() != after.DeletionTimestamp.IsZero() || state.IsAlive(before) != state.IsAlive(after) ||
		!apiequality.Semantic.DeepEqual(before.Status.Spending, after.Status.Spending)
}

func charged(pod *corev1.Pod) bool { return pod.Annotations[berthv1alpha1.ChargedAnnotation] != "" }

// takes lets the events pass by which a pod takes something out of a grant. Its Scheduler may want
// as much for the next pod as it has wanted for this one: then what it says stays the same, and no
// other event tells that there is a demand which has not been met.
func takes() predicate.TypedPredicate[*corev1.Pod] {
	holds := func(pod *corev1.Pod) bool {
		return charged(pod) && pod.Spec.NodeName != "" && pod.Annotations[berthv1alpha1.GranteeAnnotation] != ""
	}
	return predicate.TypedFuncs[*corev1.Pod]{
		CreateFunc: func(e event.TypedCreateEvent[*corev1.Pod]) bool { return holds(e.Object) },
		UpdateFunc: func(e event.TypedUpdateEvent[*corev1.Pod]) bool { return holds(e.ObjectNew) && !holds(e.ObjectOld) },
		DeleteFunc: func(event.TypedDeleteEvent[*corev1.Pod]) bool { return false },
	}
}

// releases lets the events pass by which a pod gives back what it held.
func releases() predicate.TypedPredicate[*corev1.Pod] {
	return predicate.TypedFuncs[*corev1.Pod]{
		CreateFunc: func(event.TypedCreateEvent[*corev1.Pod]) bool { return false },
		UpdateFunc: func(e event.TypedUpdateEvent[*corev1.Pod]) bool {
			return charged(e.ObjectNew) && workload.Finished(e.ObjectOld) != workload.Finished(e.ObjectNew)
		},
		DeleteFunc: func(e event.TypedDeleteEvent[*corev1.Pod]) bool { return charged(e.Object) },
	}
}

// Reconcile makes one step with the grants of each ClusterResource.
func (r *Reconciler) Reconcile(ctx context.Context, _ singleton.Key) (reconcile.Result, error) {
	var resources berthv1alpha1.ClusterResourceList
	if err := r.Client.List(ctx, &resources); err != nil {
		return reconcile.Result{}, fmt.Errorf("listing cluster resources: %w", err)
	}
	var known berthv1alpha1.SchedulerList
	if err := r.Client.List(ctx, &known, client.UnsafeDisableDeepCopy); err != nil {
		return reconcile.Result{}, fmt.Errorf("listing schedulers: %w", err)
	}
	if len(resources.Items) == 0 || len(known.Items) < 2 && !granted(resources.Items) {
		return reconcile.Result{}, nil
	}
	p, err := r.gather(ctx, resources.Items)
	if err != nil {
		return reconcile.Result{}, err
	}
	var errs []error
	for i := range p.resources {
		err := p.update(ctx, &p.resources[i])
		if apierrors.IsConflict(err) {
			p.unsettled = true // the cache lags behind, or another controller wrote in between
			continue
		}
		errs = append(errs, client.IgnoreNotFound(err))
	}
	result := reconcile.Result{}
	if p.unsettled {
		result.RequeueAfter = again
	}
	return result, errors.Join(errs...)
}

func granted(resources []berthv1alpha1.ClusterResource) bool {
	for i := range resources {
		if len(resources[i].Status.Grants) > 0 {
			return true
		}
	}
	return false
}

// pass is one look at everything.
type pass struct {
	*Reconciler
	resources []berthv1alpha1.ClusterResource
	// objects are the Schedulers as the API server has them, schedulers what that means for grants.
	objects    map[string]*berthv1alpha1.Scheduler
	schedulers map[string]grants.Grantee
	held       *pool.Account
	// lacks are what replicas lack that are to move, and places which pools select which node; nil
	// if nothing is lacking.
	lacks  []adviser.Lack
	places *charges.Pools
	// alone is true if there is one Scheduler that may charge everything, or none.
	alone bool
	// fencedUntil is until when the schedulers whose Leases were taken charge nothing for certain;
	// zero if none was.
	fencedUntil time.Time
	// unsettled is true if more is to come.
	unsettled bool
}

func (r *Reconciler) gather(ctx context.Context, resources []berthv1alpha1.ClusterResource) (*pass, error) {
	p := &pass{
		Reconciler: r, resources: resources, objects: map[string]*berthv1alpha1.Scheduler{},
	}
	var live berthv1alpha1.SchedulerList
	if err := r.Live.List(ctx, &live); err != nil {
		return nil, fmt.Errorf("listing schedulers: %w", err)
	}
	for i := range live.Items {
		p.objects[live.Items[i].Name] = &live.Items[i]
	}
	if err := p.qualify(ctx); err != nil {
		return nil, err
	}
	// After those have been settled that charge nothing any more.
	held, err := r.count(ctx, resources)
	if err != nil {
		return nil, err
	}
	p.held = held
	if err := p.findLacks(ctx); err != nil {
		return nil, err
	}
	return p, nil
}

// update makes one step with the grants of a ClusterResource.
func (p *pass) update(ctx context.Context, before *berthv1alpha1.ClusterResource) error {
	after := before.DeepCopy()
	if p.alone {
		after.Status.Grants = nil
	} else if before.DeletionTimestamp != nil || !p.step(after) {
		return nil
	}
	if apiequality.Semantic.DeepEqual(before.Status.Grants, after.Status.Grants) {
		return nil
	}
	after.Status.GrantsRevision = p.revisionAfter(before)
	if !p.fencedUntil.IsZero() {
		if !p.Clock.Now().Before(p.fencedUntil) {
			p.unsettled = true
			return nil
		}
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, p.fencedUntil)
		defer cancel()
	}
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if err := p.Client.Status().Patch(ctx, after, patch); err != nil {
		return fmt.Errorf("writing the grants of cluster resource %s: %w", before.Name, err)
	}
	return nil
}

// revisionAfter returns the revision of the next change. The first one is the time, so that nothing
// that was said of another ClusterResource of the same name speaks of it.
func (p *pass) revisionAfter(object *berthv1alpha1.ClusterResource) int64 {
	if object.Status.GrantsRevision == 0 {
		return p.Clock.Now().UnixNano()
	}
	return object.Status.GrantsRevision + 1
}
