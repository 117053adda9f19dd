// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package application

import (
	"context"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/controllers/internal/fairqueue"
	"berth.dev/berth/pkg/model/workload"
	"berth.dev/berth/pkg/placement/rank"
)

// passes is the number of Applications looked at in parallel.
const passes = 4

// SetupWithManager registers the controller.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager) error {
	err := builder.ControllerManagedBy(mgr).
		Named(controllerName).
		WithOptions(controller.Options{MaxConcurrentReconciles: passes, NewQueue: fairqueue.New}).
		For(&berthv1alpha1.Application{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Owns(&berthv1alpha1.PropagationPolicy{}, builder.WithPredicates(policyChanges())).
		Owns(&appsv1.Deployment{}, builder.WithPredicates(deploymentChanges())).
		Owns(&appsv1.StatefulSet{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Watches(&corev1.Pod{}, handler.EnqueueRequestsFromMapFunc(r.ofPod), builder.WithPredicates(podChanges())).
		Watches(&berthv1alpha1.Cluster{}, handler.EnqueueRequestsFromMapFunc(r.waiting), builder.WithPredicates(clusterChanges())).
		WatchesRawSource(r.room()).
		Complete(r)
	if err != nil {
		return fmt.Errorf("setting up the application controller: %w", err)
	}
	return nil
}

// anyRoom stands for all Applications that wait for a cluster: there may be room now.
var anyRoom = reconcile.Request{}

// roomPause is how long changes of what fits where are collected before it is asked for again.
const roomPause = time.Second

// room asks for passes over what waits after each change of how much room there is.
func (r *Reconciler) room() source.Source {
	return source.Func(func(ctx context.Context, q workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
		r.mu.Lock()
		r.queue = q
		r.mu.Unlock()
		r.watches.start(ctx)
		r.Adviser.OnChange(func() { q.AddAfter(anyRoom, roomPause) })
		return nil
	})
}

// wakeWaiting asks for a pass over each Application that waits for a cluster.
func (r *Reconciler) wakeWaiting(ctx context.Context) {
	r.mu.Lock()
	queue := r.queue
	r.mu.Unlock()
	for _, request := range r.waiting(ctx, nil) {
		queue.Add(request)
	}
}

// policyChanges lets pass changes of the spec, and that a spec has been seen.
func policyChanges() predicate.Predicate {
	return updates(func(before, after *berthv1alpha1.PropagationPolicy) bool {
		return before.Generation != after.Generation || before.Status.ObservedGeneration != after.Status.ObservedGeneration
	})
}

// deploymentChanges lets pass changes of the spec, and whether pods are refused.
func deploymentChanges() predicate.Predicate {
	return updates(func(before, after *appsv1.Deployment) bool {
		return before.Generation != after.Generation || workload.WhyRefused(before) != workload.WhyRefused(after)
	})
}

// podChanges lets pass what changes the census.
func podChanges() predicate.Predicate {
	return updates(func(before, after *corev1.Pod) bool {
		return before.Spec.NodeName != after.Spec.NodeName || before.Status.Phase != after.Status.Phase ||
			(before.DeletionTimestamp == nil) != (after.DeletionTimestamp == nil) ||
			!apiequality.Semantic.DeepEqual(before.Status.Conditions, after.Status.Conditions) ||
			!apiequality.Semantic.DeepEqual(before.Annotations, after.Annotations)
	})
}

// clusterChanges lets pass what may make a Cluster suit that did not.
func clusterChanges() predicate.Predicate {
	return updates(func(before, after *berthv1alpha1.Cluster) bool {
		return before.Generation != after.Generation ||
			!apiequality.Semantic.DeepEqual(before.Labels, after.Labels) ||
			!apiequality.Semantic.DeepEqual(before.Status.Metrics, after.Status.Metrics) ||
			rank.Unavailable(before) != rank.Unavailable(after) || (before.Online() == nil) != (after.Online() == nil)
	})
}

func updates[T client.Object](matters func(before, after T) bool) predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		before, ok := e.ObjectOld.(T)
		after, too := e.ObjectNew.(T)
		return !ok || !too || matters(before, after)
	}}
}

// ofPod finds the Application of a pod by its policy.
func (r *Reconciler) ofPod(ctx context.Context, pod client.Object) []reconcile.Request {
	name := pod.GetAnnotations()[berthv1alpha1.PolicyAnnotation]
	if name == "" || name == berthv1alpha1.PolicyNone {
		return nil
	}
	policy := &berthv1alpha1.PropagationPolicy{}
	if err := r.Client.Get(ctx, client.ObjectKey{Namespace: pod.GetNamespace(), Name: name}, policy, client.UnsafeDisableDeepCopy); err != nil {
		return nil // Without a policy there is no Application either.
	}
	owner := metav1.GetControllerOf(policy)
	if owner == nil || owner.Kind != "Application" {
		return nil
	}
	return []reconcile.Request{{NamespacedName: client.ObjectKey{Namespace: policy.Namespace, Name: owner.Name}}}
}

// waiting returns the Applications for which no cluster is chosen, and those in the cluster if it
// is drained, or has gone offline or come back. The choice of the others stands until its time is
// over.
func (r *Reconciler) waiting(ctx context.Context, object client.Object) []reconcile.Request {
	cluster, _ := object.(*berthv1alpha1.Cluster)
	drained := cluster != nil && cluster.Spec.Drain
	var list berthv1alpha1.ApplicationList
	if err := r.Client.List(ctx, &list, client.UnsafeDisableDeepCopy); err != nil {
		ctrl.LoggerFrom(ctx).V(2).Info("Cannot list applications", "err", err)
		return nil
	}
	var requests []reconcile.Request
	for i := range list.Items {
		to := list.Items[i].Status.ScheduledTo
		if to == "" || cluster != nil && to == cluster.Name && (drained || !agrees(&list.Items[i], cluster)) {
			requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&list.Items[i])})
		}
	}
	return requests
}
