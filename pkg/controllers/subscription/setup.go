// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package subscription

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/source"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/controllers/accounts"
	"berth.dev/berth/pkg/controllers/adviser"
	"berth.dev/berth/pkg/controllers/internal/fairqueue"
	"berth.dev/berth/pkg/controllers/internal/singleton"
	"berth.dev/berth/pkg/controllers/state"
	"berth.dev/berth/pkg/model/workload"
	"berth.dev/berth/pkg/placement/promise"
)

// Name of the controller in logs and metrics.
const controllerName = "subscription"

const (
	// pause is how long a change waits for others.
	pause = 100 * time.Millisecond
	// firstRetry and longestRetry bound the pause after a pass that failed.
	firstRetry, longestRetry = 100 * time.Millisecond, 10 * time.Second
)

// Options are what the controller needs.
type Options struct {
	// Client reads from a cache, and writes.
	Client client.Client
	// Live reads from the API server what the cache does not have: events.
	Live client.Reader
	// Account returns the account of a namespace that reads what is copied and writes the copies,
	// see accounts.Accounts.Of.
	Account func(ctx context.Context, namespace, name string) (*accounts.Account, error)
	// Owners looks up owners of kinds beyond the table; nil for none.
	Owners state.Owners
	// Topology tells which node belongs to which Cluster.
	Topology *state.Tracker
	// Adviser answers how much room clusters have.
	Adviser *adviser.Adviser
	// OwnInventories says that Berth writes the FeedInventories. One that has no status yet tells
	// nothing then: an entry without replicas may be one that was not understood, and not one that
	// is copied whole.
	OwnInventories bool
	// Recorder makes events about Subscriptions; none if nil.
	Recorder events.EventRecorder
	// Clock tells when a pledge ends; the real one if nil.
	Clock clock.PassiveClock
	// PromiseLife is how long room is kept for replicas since the last pod was made, and for a bundle
	// of which no pod has a node; promise.DefaultLife if 0.
	PromiseLife time.Duration
}

// Reconciler divides the feeds of Subscriptions. Use New to make one.
type Reconciler struct {
	Options

	written written
	// agreed are the copies that agree with their source.
	agreed map[copyKey]agreed
	// stuck remembers what waits in vain.
	stuck map[feedKey]*stuck
	// requests counts what has been asked of the API server to carry out a Subscription, see turns.
	requests int
	// failures are the Subscriptions that could not be carried out.
	failures failures
	// lastTurns are when Subscriptions were written, and allTurns counts that.
	lastTurns lastTurns
	allTurns  int
	// allowances are what namespaces may still have written, see turns.
	allowances fairqueue.Allowances
	// later asks for another pass after a pause; nil before the controller is started.
	later atomic.Pointer[func(time.Duration)]
	// any reports whether there are Subscriptions at all.
	any atomic.Bool
}

// New returns a controller.
func New(options Options) *Reconciler {
	if options.Clock == nil {
		options.Clock = clock.RealClock{}
	}
	options.PromiseLife = cmp.Or(options.PromiseLife, promise.DefaultLife)
	return &Reconciler{
		Options: options, written: written{}, agreed: map[copyKey]agreed{}, stuck: map[feedKey]*stuck{}, failures: failures{},
		lastTurns: lastTurns{},
	}
}

// SetupWithManager registers the controller.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager) error {
	c := mgr.GetCache()
	b := builder.TypedControllerManagedBy[singleton.Key](mgr).
		Named(controllerName).
		WithOptions(controller.TypedOptions[singleton.Key]{
			MaxConcurrentReconciles: 1, // passes know what the one before has written
			RateLimiter:             workqueue.NewTypedItemExponentialFailureRateLimiter[singleton.Key](firstRetry, longestRetry),
		}).
		WatchesRawSource(source.TypedKind(c, &berthv1alpha1.Subscription{}, singleton.After[*berthv1alpha1.Subscription](pause),
			predicate.Or(predicate.TypedGenerationChangedPredicate[*berthv1alpha1.Subscription]{},
				predicate.TypedAnnotationChangedPredicate[*berthv1alpha1.Subscription]{}, releaseChanges()))).
		WatchesRawSource(source.TypedKind(c, &berthv1alpha1.FeedInventory{}, singleton.After[*berthv1alpha1.FeedInventory](pause))).
		WatchesRawSource(source.TypedKind(c, &berthv1alpha1.PropagationPolicy{},
			singleton.After[*berthv1alpha1.PropagationPolicy](pause), policyChanges())).
		// Without a Subscription nothing else matters.
		WatchesRawSource(source.TypedKind(c, &corev1.Node{},
			singleton.AfterIf[*corev1.Node](pause, r.any.Load, r.Topology.Invalidate), state.NodeChanges())).
		WatchesRawSource(source.TypedKind(c, &berthv1alpha1.Cluster{},
			singleton.AfterIf[*berthv1alpha1.Cluster](pause, r.any.Load, r.Topology.Invalidate), clusterChanges())).
		WatchesRawSource(source.TypedKind(c, &corev1.Pod{}, singleton.AfterIf[*corev1.Pod](pause, r.any.Load), podChanges()))
	b.WatchesRawSource(r.room())
	for _, kind := range workload.Kinds() {
		b.WatchesRawSource(workloadSource(c, r, kind.NewObject()))
	}
	if err := b.Complete(r); err != nil {
		return fmt.Errorf("setting up the controller of Subscriptions: %w", err)
	}
	return nil
}

// room asks for a pass after each change of what decides how much room there is, or to whom pods
// belong, if there is a Subscription. It lets passes ask for others, too.
func (r *Reconciler) room() source.TypedSource[singleton.Key] {
	return source.TypedFunc[singleton.Key](func(_ context.Context, q workqueue.TypedRateLimitingInterface[singleton.Key]) error {
		ask := func() {
			if r.any.Load() {
				q.AddAfter(singleton.Key{}, pause)
			}
		}
		later := func(pause time.Duration) { q.AddAfter(singleton.Key{}, pause) }
		r.later.Store(&later)
		r.Adviser.OnChange(ask)
		if r.Owners != nil {
			r.Owners.Listen(func(string, types.UID) { ask() })
		}
		return nil
	})
}

func workloadSource[T client.Object](c cache.Cache, r *Reconciler, object T) source.TypedSource[singleton.Key] {
	return source.TypedKind(c, object, singleton.AfterIf[T](pause, r.any.Load), predicate.TypedResourceVersionChangedPredicate[T]{})
}

// policyChanges lets those events of the policies of Subscriptions pass that tell of something that
// Berth wrote, and of any policy those after which it may be no longer in the way of one.
func policyChanges() predicate.TypedPredicate[*berthv1alpha1.PropagationPolicy] {
	ours := func(policy *berthv1alpha1.PropagationPolicy) bool {
		owner := metav1.GetControllerOfNoCopy(policy)
		return owner != nil && owner.Kind == subscriptionKind
	}
	return predicate.TypedFuncs[*berthv1alpha1.PropagationPolicy]{
		CreateFunc:  func(e event.TypedCreateEvent[*berthv1alpha1.PropagationPolicy]) bool { return ours(e.Object) },
		GenericFunc: func(e event.TypedGenericEvent[*berthv1alpha1.PropagationPolicy]) bool { return ours(e.Object) },
		UpdateFunc: func(e event.TypedUpdateEvent[*berthv1alpha1.PropagationPolicy]) bool {
			before, after := e.ObjectOld, e.ObjectNew
			return !apiequality.Semantic.DeepEqual(before.OwnerReferences, after.OwnerReferences) ||
				!apiequality.Semantic.DeepEqual(before.Spec.ResourceSelectors, after.Spec.ResourceSelectors) ||
				ours(after) && (before.Generation != after.Generation || !maps.Equal(before.Annotations, after.Annotations))
		},
	}
}

// releaseChanges lets those updates of Subscriptions pass that tell of other objects of their Helm
// releases.
func releaseChanges() predicate.TypedPredicate[*berthv1alpha1.Subscription] {
	return predicate.TypedFuncs[*berthv1alpha1.Subscription]{
		UpdateFunc: func(e event.TypedUpdateEvent[*berthv1alpha1.Subscription]) bool {
			return !apiequality.Semantic.DeepEqual(e.ObjectOld.Status.HelmReleases, e.ObjectNew.Status.HelmReleases)
		},
	}
}

// clusterChanges lets those events of Clusters pass that change which nodes belong to one, who
// selects it, or whether it is online.
func clusterChanges() predicate.TypedPredicate[*berthv1alpha1.Cluster] {
	return predicate.Or(state.ClusterChanges(), state.OnlineChanges(), predicate.TypedLabelChangedPredicate[*berthv1alpha1.Cluster]{})
}

// podChanges lets those updates of pods pass that change who holds room, what runs, or why
// something does not.
func podChanges() predicate.TypedPredicate[*corev1.Pod] {
	return predicate.TypedFuncs[*corev1.Pod]{
		UpdateFunc: func(e event.TypedUpdateEvent[*corev1.Pod]) bool {
			before, after := e.ObjectOld, e.ObjectNew
			return before.UID != after.UID || before.Spec.NodeName != after.Spec.NodeName ||
				workload.Lives(before) != workload.Lives(after) || workload.Ready(before) != workload.Ready(after) ||
				workload.PendingMessage(before) != workload.PendingMessage(after) ||
				workload.Unschedulable(before) != workload.Unschedulable(after)
		},
	}
}
