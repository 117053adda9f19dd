// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/source"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/controllers/state"
	modelpolicy "berth.dev/berth/pkg/model/policy"
	"berth.dev/berth/pkg/model/stamp"
	"berth.dev/berth/pkg/model/workload"
)

const (
	// pause is how long a change waits for others of its namespace.
	pause = 100 * time.Millisecond
	// firstRetry and longestRetry bound the pause after a pass that failed.
	firstRetry, longestRetry = 100 * time.Millisecond, 10 * time.Second
	// passes is the number of namespaces looked at in parallel.
	passes = 4
)

// stampedIndex is the index of the pods that policies have placed, all under isStamped, and
// controllerIndex that of pods by the UID of their controller.
const stampedIndex, isStamped, controllerIndex = "berth.dev/stamped", "true", "berth.dev/controller"

type queue = workqueue.TypedRateLimitingInterface[string]

// IndexPods adds the indices of pods that the controller needs. It is to be called once, before the
// cache starts.
func IndexPods(ctx context.Context, indexer client.FieldIndexer) error {
	err := indexer.IndexField(ctx, &corev1.Pod{}, stampedIndex, func(object client.Object) []string {
		if pod, ok := object.(*corev1.Pod); ok {
			if _, stamped := stamp.Of(pod); stamped {
				return []string{isStamped}
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("indexing pods that policies have placed: %w", err)
	}
	err = indexer.IndexField(ctx, &corev1.Pod{}, controllerIndex, func(object client.Object) []string {
		if ref := metav1.GetControllerOfNoCopy(object); ref != nil {
			return []string{string(ref.UID)}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("indexing pods by their controllers: %w", err)
	}
	return nil
}

// SetupWithManager registers the controller.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager) error {
	c := mgr.GetCache()
	b := builder.TypedControllerManagedBy[string](mgr).
		Named(controllerName).
		WithOptions(controller.TypedOptions[string]{
			MaxConcurrentReconciles: passes,
			RateLimiter:             workqueue.NewTypedItemExponentialFailureRateLimiter[string](firstRetry, longestRetry),
			LogConstructor: func(namespace *string) logr.Logger {
				logger := mgr.GetLogger().WithValues("controller", controllerName)
				if namespace != nil && *namespace != allNamespaces {
					logger = logger.WithValues("namespace", *namespace)
				}
				return logger
			},
		}).
		WatchesRawSource(source.TypedKind(c, &berthv1alpha1.PropagationPolicy{},
			onChange(r, anything[*berthv1alpha1.PropagationPolicy]),
			policyChanges())).
		WatchesRawSource(source.TypedKind(c, &corev1.Pod{}, onChange(r, controllerAlone), podChanges())).
		WatchesRawSource(source.TypedKind(c, &corev1.Node{}, everywhere(r, nodeChange), state.NodeChanges())).
		WatchesRawSource(source.TypedKind(c, &berthv1alpha1.Cluster{}, everywhere(r, clusterChange), clusterChanges())).
		WatchesRawSource(source.TypedKind(c, &berthv1alpha1.ClusterResource{}, everywhere(r, grantChange), r.grantChanges()))
	for _, kind := range workload.Kinds() {
		b.WatchesRawSource(workloadSource(r, c, kind.NewObject()))
	}
	if r.Owners != nil {
		b.WatchesRawSource(source.TypedFunc[string](func(_ context.Context, q queue) error {
			r.Owners.Listen(func(namespace string, _ types.UID) { r.askWhole(namespace, q, pause) })
			return nil
		}))
	}
	if err := b.Complete(r); err != nil {
		return fmt.Errorf("setting up the policy controller: %w", err)
	}
	return nil
}

// clusterChanges lets those events of Clusters pass that change which nodes belong to one, who
// selects it, or what it gets: what its nodes have, and whether it is online.
func clusterChanges() predicate.TypedPredicate[*berthv1alpha1.Cluster] {
	return predicate.Or(state.ClusterChanges(), state.OnlineChanges(), predicate.TypedFuncs[*berthv1alpha1.Cluster]{
		UpdateFunc: func(e event.TypedUpdateEvent[*berthv1alpha1.Cluster]) bool {
			return !apiequality.Semantic.DeepEqual(e.ObjectOld.Status.Allocatable, e.ObjectNew.Status.Allocatable) ||
				!apiequality.Semantic.DeepEqual(e.ObjectOld.Status.Room, e.ObjectNew.Status.Room) ||
				!slices.Equal(e.ObjectOld.Status.Pools, e.ObjectNew.Status.Pools)
		},
	})
}

// grantChanges lets pass what was granted anew of a ClusterResource, if that may be what pods lack
// that are to move.
func (r *Reconciler) grantChanges() predicate.TypedPredicate[*berthv1alpha1.ClusterResource] {
	return predicate.TypedFuncs[*berthv1alpha1.ClusterResource]{
		CreateFunc: func(event.TypedCreateEvent[*berthv1alpha1.ClusterResource]) bool { return false },
		UpdateFunc: func(e event.TypedUpdateEvent[*berthv1alpha1.ClusterResource]) bool {
			return e.ObjectOld.Status.GrantsRevision != e.ObjectNew.Status.GrantsRevision && len(r.Adviser.Lacks()) > 0
		},
		DeleteFunc: func(event.TypedDeleteEvent[*berthv1alpha1.ClusterResource]) bool { return false },
	}
}

// policyChanges lets pass what changes the meaning of a policy: its spec, which clusters are left,
// and for how many replicas it is divided.
func policyChanges() predicate.TypedPredicate[*berthv1alpha1.PropagationPolicy] {
	return predicate.TypedFuncs[*berthv1alpha1.PropagationPolicy]{
		UpdateFunc: func(e event.TypedUpdateEvent[*berthv1alpha1.PropagationPolicy]) bool {
			return e.ObjectOld.UID != e.ObjectNew.UID || e.ObjectOld.Generation != e.ObjectNew.Generation ||
				!modelpolicy.SameMeaning(e.ObjectOld, e.ObjectNew)
		},
	}
}

func workloadSource[T client.Object](r *Reconciler, c cache.Cache, object T) source.TypedSource[string] {
	return source.TypedKind(c, object, onChange(r, statusAlone[T]), predicate.TypedResourceVersionChangedPredicate[T]{})
}
