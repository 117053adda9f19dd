// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package scheduler keeps the status of Schedulers, with two controllers:
//
//	Reconciler       the condition Ready, by the Scheduler's Lease; the Deployments of managed
//	                 Schedulers
//	UnionReconciler  what the clusters of each Scheduler have together
package scheduler

import (
	"context"
	"errors"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/controllers/state"
)

// controllerName is the name of the controller in logs and metrics.
const controllerName = "scheduler"

// pollInterval is how often the Lease of each Scheduler is read.
const pollInterval = time.Second

// Reconciler keeps the condition Ready of Schedulers and runs those that are managed.
type Reconciler struct {
	// Client reads from the cache and writes.
	Client client.Client
	// Live reads Deployments from the API server.
	Live client.Reader
	// Leases tells which Schedulers run.
	Leases *state.Leases
	// Recorder takes events about Schedulers that do not run.
	Recorder events.EventRecorder
	// Clock is the time that these events go by.
	Clock clock.PassiveClock
	// Template is the Deployment of which that of a managed Scheduler is a copy.
	Template types.NamespacedName

	warnings warnings
}

// SetupWithManager registers the controller.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager) error {
	err := builder.ControllerManagedBy(mgr).
		Named(controllerName).
		For(&berthv1alpha1.Scheduler{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Complete(r)
	if err != nil {
		return fmt.Errorf("setting up the scheduler controller: %w", err)
	}
	return nil
}

// Reconcile brings one Scheduler up to date, and looks again after a while.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (reconcile.Result, error) {
	before := &berthv1alpha1.Scheduler{}
	if err := r.Client.Get(ctx, request.NamespacedName, before); apierrors.IsNotFound(err) {
		r.warnings.forget(request.Name)
		return reconcile.Result{}, r.stop(ctx, request.Name)
	} else if err != nil {
		return reconcile.Result{}, fmt.Errorf("reading scheduler %s: %w", request.Name, err)
	}
	lease, err := r.Leases.Get(ctx, state.LeaseOf(before))
	if err != nil {
		return reconcile.Result{}, err
	}
	condition := ready(before, lease)
	condition.LastTransitionTime = metav1.NewTime(r.Clock.Now())
	errRun := r.run(ctx, before)
	if errors.Is(errRun, errNoTemplate) && condition.Status != metav1.ConditionTrue {
		condition.Reason, condition.Message = berthv1alpha1.ReasonNoTemplate, errRun.Error()
		errRun = nil
	}
	after := before.DeepCopy()
	if errRun == nil || before.Spec.Managed != nil {
		// That one is not managed any more has been seen only once its Deployment is gone.
		after.Status.ObservedGeneration = before.Generation
	}
	apimeta.SetStatusCondition(&after.Status.Conditions, condition)
	if !apiequality.Semantic.DeepEqual(before.Status, after.Status) {
		err = r.Client.Status().Patch(ctx, after, client.MergeFrom(before))
		if err = client.IgnoreNotFound(err); err != nil {
			return reconcile.Result{}, fmt.Errorf("writing the status of scheduler %s: %w", before.Name, err)
		}
	}
	r.warn(after)
	return reconcile.Result{RequeueAfter: pollInterval}, errRun
}

func ready(s *berthv1alpha1.Scheduler, lease state.Lease) metav1.Condition {
	c := metav1.Condition{
		Type: berthv1alpha1.SchedulerReady, Status: metav1.ConditionFalse, ObservedGeneration: s.Generation,
		Reason: berthv1alpha1.ReasonLeaseExpired,
	}
	key := state.LeaseOf(s)
	switch {
	case lease.Stranger:
		c.Reason = berthv1alpha1.ReasonLeaseHeldByStranger
		c.Message = fmt.Sprintf("lease %s is held by %.253q, which is no process of a scheduler", key, lease.Holder)
	case lease.Lost:
		c.Reason, c.Message = berthv1alpha1.ReasonNoLease, fmt.Sprintf("lease %s has been deleted, and its holder has not made it anew", key)
	case !lease.Exists:
		c.Reason, c.Message = berthv1alpha1.ReasonNoLease, fmt.Sprintf("lease %s does not exist yet: no process has started", key)
	case !lease.Alive:
		c.Message = fmt.Sprintf("no process of the scheduler renews lease %s", key)
	default:
		c.Status, c.Reason = metav1.ConditionTrue, berthv1alpha1.ReasonLeaseHeld
		c.Message = fmt.Sprintf("a process holds lease %s", key)
	}
	return c
}

var errNoTemplate = errors.New("there is no Deployment to copy")

// run makes the Deployment of a managed Scheduler, and deletes that of one which is not managed any
// more. It goes with its owner.
func (r *Reconciler) run(ctx context.Context, s *berthv1alpha1.Scheduler) error {
	switch {
	case s.DeletionTimestamp != nil:
		return nil
	case s.Spec.Managed == nil && s.Status.ObservedGeneration == s.Generation:
		return nil
	case s.Spec.Managed == nil:
		return r.remove(ctx, s.Name)
	}
	template := &appsv1.Deployment{}
	if err := r.Live.Get(ctx, r.Template, template); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("reading deployment %s: %w", r.Template, err)
	} else if err != nil {
		return fmt.Errorf("%w: deployment %s does not exist", errNoTemplate, r.Template)
	}
	want := deploymentOf(s, template)
	have := &appsv1.Deployment{}
	err := r.Live.Get(ctx, client.ObjectKeyFromObject(want), have)
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("reading deployment %s: %w", client.ObjectKeyFromObject(want), err)
	}
	switch {
	case err != nil:
		err = r.Client.Create(ctx, want)
	case !metav1.IsControlledBy(have, s):
		return fmt.Errorf("deployment %s exists and belongs to somebody else", client.ObjectKeyFromObject(want))
	case have.Annotations[specAnnotation] == want.Annotations[specAnnotation]:
		return nil
	default:
		want.ResourceVersion = have.ResourceVersion
		want.Spec.Selector = have.Spec.Selector
		err = r.Client.Update(ctx, want)
	}
	if err != nil {
		return fmt.Errorf("writing deployment %s: %w", client.ObjectKeyFromObject(want), err)
	}
	return nil
}

// stop deletes the Deployment of a Scheduler that is gone, and so has given everything up. The
// garbage collector would do it too, but it learns of a new kind only half a minute after its CRD
// came.
func (r *Reconciler) stop(ctx context.Context, name string) error {
	// Another Scheduler may have the name by now.
	if err := r.Live.Get(ctx, types.NamespacedName{Name: name}, &berthv1alpha1.Scheduler{}); !apierrors.IsNotFound(err) {
		return err
	}
	return r.remove(ctx, name)
}

// remove deletes the Deployment of a Scheduler, if there is one.
func (r *Reconciler) remove(ctx context.Context, name string) error {
	key := types.NamespacedName{Namespace: r.Template.Namespace, Name: berthv1alpha1.DefaultLeasePrefix + name}
	have := &appsv1.Deployment{}
	if err := r.Live.Get(ctx, key, have); apierrors.IsNotFound(err) {
		return nil
	} else if err != nil {
		return fmt.Errorf("reading deployment %s: %w", key, err)
	}
	owner := metav1.GetControllerOf(have)
	if owner == nil || owner.Kind != "Scheduler" || owner.Name != name || have.DeletionTimestamp != nil {
		return nil
	}
	err := r.Client.Delete(ctx, have, client.Preconditions{UID: &have.UID}, client.PropagationPolicy(metav1.DeletePropagationBackground))
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("deleting deployment %s: %w", key, err)
	}
	return nil
}
