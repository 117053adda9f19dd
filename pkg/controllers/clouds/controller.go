// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package clouds

import (
	"context"
	"fmt"
	"time"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/placement/rank"
)

// subject is what is to be bound.
type subject interface {
	client.Object
	*berthv1alpha1.Cluster | *berthv1alpha1.MagnumCluster
}

// Reconciler binds objects of one kind.
type Reconciler[T subject] struct {
	// Client reads from the cache and writes the status.
	Client client.Client
	// Clock tells the time.
	Clock clock.PassiveClock

	name string
	// object and list are new objects of the kind.
	object func() T
	list   func() client.ObjectList
	// places returns what can be chosen for an object, which are of the kinds of origins.
	places  func(context.Context, client.Reader, T) ([]place, error)
	origins []client.Object
	// open reports whether an object still is to be bound, and bound returns what it is bound to, nil
	// for nothing.
	open  func(T) bool
	bound func(T) *berthv1alpha1.CloudReference
	// condition tells of that among the conditions.
	condition  string
	conditions func(T) *[]metav1.Condition
	// wanted returns the constraints of an object.
	wanted func(T) (rank.Constraints, error)
	// set writes a choice into the status.
	set func(T, *choice)
	// observe notes which spec was read.
	observe func(T)
}

// ForClusters returns the reconciler of Clusters with a section provision.
func ForClusters(c client.Client, clock clock.PassiveClock) *Reconciler[*berthv1alpha1.Cluster] {
	return &Reconciler[*berthv1alpha1.Cluster]{
		Client: c, Clock: clock, name: "cloud",
		object:  func() *berthv1alpha1.Cluster { return &berthv1alpha1.Cluster{} },
		list:    func() client.ObjectList { return &berthv1alpha1.ClusterList{} },
		places:  cloudsFor,
		origins: []client.Object{&berthv1alpha1.Cloud{}, &berthv1alpha1.GlobalCloud{}},
		open: func(c *berthv1alpha1.Cluster) bool {
			return c.Spec.Provision != nil && c.Status.ScheduledTo == nil && c.DeletionTimestamp == nil
		},
		bound:      func(c *berthv1alpha1.Cluster) *berthv1alpha1.CloudReference { return c.Status.ScheduledTo },
		condition:  berthv1alpha1.ClusterCloudBound,
		conditions: func(c *berthv1alpha1.Cluster) *[]metav1.Condition { return &c.Status.Conditions },
		wanted: func(c *berthv1alpha1.Cluster) (rank.Constraints, error) {
			p := c.Spec.Provision
			return rank.ParseCloudConstraints("spec.provision.cloudLabels", p.CloudLabels, "spec.provision.cloudMetrics", p.CloudMetrics)
		},
		set: func(c *berthv1alpha1.Cluster, made *choice) {
			if made.chosen != nil {
				c.Status.ScheduledTo = &made.chosen.CloudReference
			}
		},
		observe: func(*berthv1alpha1.Cluster) {}, // the cluster controller does
	}
}

// ForMagnumClusters returns the reconciler of MagnumClusters.
func ForMagnumClusters(c client.Client, clock clock.PassiveClock) *Reconciler[*berthv1alpha1.MagnumCluster] {
	return &Reconciler[*berthv1alpha1.MagnumCluster]{
		Client: c, Clock: clock, name: "magnum",
		object:  func() *berthv1alpha1.MagnumCluster { return &berthv1alpha1.MagnumCluster{} },
		list:    func() client.ObjectList { return &berthv1alpha1.MagnumClusterList{} },
		places:  projectsFor,
		origins: []client.Object{&berthv1alpha1.OpenStackProject{}},
		open: func(m *berthv1alpha1.MagnumCluster) bool {
			return m.Status.ScheduledTo == nil && m.DeletionTimestamp == nil
		},
		bound:      func(m *berthv1alpha1.MagnumCluster) *berthv1alpha1.CloudReference { return m.Status.ScheduledTo },
		condition:  berthv1alpha1.MagnumClusterBound,
		conditions: func(m *berthv1alpha1.MagnumCluster) *[]metav1.Condition { return &m.Status.Conditions },
		wanted: func(m *berthv1alpha1.MagnumCluster) (rank.Constraints, error) {
			c := &m.Spec.Constraints
			return rank.ParseCloudConstraints(
				"spec.constraints.projectLabels", c.ProjectLabels, "spec.constraints.projectMetrics", c.ProjectMetrics)
		},
		set: func(m *berthv1alpha1.MagnumCluster, made *choice) {
			if made.chosen != nil {
				m.Status.ScheduledTo, m.Status.Template = &made.chosen.CloudReference, made.chosen.template
			}
			m.Status.Ranking = made.ranking
		},
		observe: func(m *berthv1alpha1.MagnumCluster) { m.Status.ObservedGeneration = m.Generation },
	}
}

func setBound(conditions *[]metav1.Condition, kind string, condition metav1.Condition, generation int64) {
	condition.Type, condition.ObservedGeneration = kind, generation
	apimeta.SetStatusCondition(conditions, condition)
}

// SetupWithManager registers the controller.
func (r *Reconciler[T]) SetupWithManager(mgr ctrl.Manager) error {
	controller := builder.ControllerManagedBy(mgr).Named(r.name).
		For(r.object(), builder.WithPredicates(predicate.GenerationChangedPredicate{}))
	for _, origin := range r.origins {
		controller.Watches(origin, handler.EnqueueRequestsFromMapFunc(r.concerned))
	}
	if err := controller.Complete(r); err != nil {
		return fmt.Errorf("setting up the %s controller: %w", r.name, err)
	}
	return nil
}

// concerned returns everything that is still to be bound, or is bound to a place.
func (r *Reconciler[T]) concerned(ctx context.Context, origin client.Object) []reconcile.Request {
	place := berthv1alpha1.CloudReference{Kind: kindOf(origin), Namespace: origin.GetNamespace(), Name: origin.GetName()}
	list := r.list()
	if err := r.Client.List(ctx, list); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "Cannot tell what is still to be bound")
		return nil
	}
	objects, err := apimeta.ExtractList(list)
	if err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "Cannot tell what is still to be bound")
		return nil
	}
	var requests []reconcile.Request
	for _, object := range objects {
		if typed, ok := object.(T); ok && (r.open(typed) || r.bound(typed) != nil && *r.bound(typed) == place) {
			requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(typed)})
		}
	}
	return requests
}

// Reconcile binds an object, or tells whether what it is bound to has gone.
func (r *Reconciler[T]) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	before := r.object()
	if err := r.Client.Get(ctx, request.NamespacedName, before); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	after, ok := before.DeepCopyObject().(T)
	if !ok || before.GetDeletionTimestamp() != nil {
		return reconcile.Result{}, nil
	}
	var result reconcile.Result
	var err error
	r.observe(after)
	switch {
	case r.bound(after) != nil:
		err = r.tellGone(ctx, after)
	case r.open(after):
		result.RequeueAfter, err = r.bind(ctx, after)
	default: // it is there after all
		apimeta.RemoveStatusCondition(r.conditions(after), r.condition)
	}
	if err != nil || apiequality.Semantic.DeepEqual(before, after) {
		return result, err
	}
	return r.write(ctx, before, after, result)
}

// bind chooses for an object that is open, and returns when to look again.
func (r *Reconciler[T]) bind(ctx context.Context, object T) (again time.Duration, err error) {
	places, err := r.places(ctx, r.Client, object)
	if err != nil {
		return 0, err
	}
	constraints, invalid := r.wanted(object)
	age := r.Clock.Since(object.GetCreationTimestamp().Time)
	made := choose(object.GetUID(), age, constraints, invalid, places)
	r.set(object, &made)
	setBound(r.conditions(object), r.condition, made.condition, object.GetGeneration())
	return made.again, nil
}

// write writes the status of an object.
func (r *Reconciler[T]) write(ctx context.Context, before, after T, result reconcile.Result) (reconcile.Result, error) {
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	err := r.Client.Status().Patch(ctx, after, patch)
	switch {
	case apierrors.IsConflict(err):
		// Another controller wrote its part in between.
		return reconcile.Result{RequeueAfter: metricsPoll}, nil
	case err != nil && !apierrors.IsNotFound(err):
		return reconcile.Result{}, fmt.Errorf("writing the status of %s %s: %w", r.name, client.ObjectKeyFromObject(before), err)
	}
	return result, nil
}
