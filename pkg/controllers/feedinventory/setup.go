// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package feedinventory

import (
	"context"
	"fmt"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
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
	"berth.dev/berth/pkg/controllers/internal/singleton"
	"berth.dev/berth/pkg/feeds"
)

// Names of the controllers in logs and metrics.
const (
	controllerName = "feedinventory"
	feedParserName = "feedparser"
)

// burst is the pause between a change and the pass that takes it up, so that a burst makes few
// writes.
const burst = 100 * time.Millisecond

// Options are what the controller needs.
type Options struct {
	// Client reads Subscriptions, FeedInventories, FeedParsers and CustomResourceDefinitions from a
	// cache, and writes. Its scheme knows these kinds.
	Client client.Client
	// Mapper finds the resources of kinds, also of those that were defined a moment ago.
	Mapper apimeta.RESTMapper
	// Metadata follows feeds, and Objects reads them.
	Metadata metadata.Interface
	Objects  dynamic.Interface
	// Parsers read the kinds that no FeedParser reads; feeds.BuiltIn() if nil.
	Parsers map[schema.GroupKind]feeds.PluginFactory
	// Recorder makes events about Subscriptions; none if nil.
	Recorder events.EventRecorder
	// Clock tells how long something takes; the real one if nil.
	Clock clock.PassiveClock
}

// New returns a controller. It fails if a parser is listed under another kind than its own.
func New(options Options) (*Reconciler, error) {
	if options.Parsers == nil {
		options.Parsers = feeds.BuiltIn()
	}
	if _, err := feeds.NewRegistry(nil, options.Parsers); err != nil {
		return nil, err
	}
	if options.Clock == nil {
		options.Clock = clock.RealClock{}
	}
	r := &Reconciler{
		client: options.Client, mapper: options.Mapper, objects: options.Objects, recorder: options.Recorder,
		parsers: &parsers{builtIn: options.Parsers}, watches: newWatches(options.Metadata, options.Clock),
		memory: map[types.NamespacedName]map[target]remembered{},
	}
	return r, nil
}

// SetupWithManager registers the controller. The manager's scheme must know the kinds of Berth and
// CustomResourceDefinitions.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager) error {
	err := ctrl.NewControllerManagedBy(mgr).
		Named(controllerName).
		For(&berthv1alpha1.Subscription{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Watches(&berthv1alpha1.FeedInventory{}, &handler.EnqueueRequestForObject{}).
		WatchesRawSource(source.Func(r.listen)).
		WithOptions(controller.Options{MaxConcurrentReconciles: 2, NewQueue: fairqueue.New}).
		Complete(r)
	if err != nil {
		return fmt.Errorf("setting up the controller of FeedInventories: %w", err)
	}
	err = builder.TypedControllerManagedBy[singleton.Key](mgr).
		Named(feedParserName).
		WatchesRawSource(source.TypedKind(mgr.GetCache(), &berthv1alpha1.FeedParser{}, singleton.After[*berthv1alpha1.FeedParser](burst))).
		WatchesRawSource(source.TypedKind(mgr.GetCache(), &apiextensionsv1.CustomResourceDefinition{},
			singleton.After[*apiextensionsv1.CustomResourceDefinition](burst), definitionChanges())).
		WatchesRawSource(source.TypedFunc[singleton.Key](func(_ context.Context, q workqueue.TypedRateLimitingInterface[singleton.Key]) error {
			q.Add(singleton.Key{}) // The first registry is made even if there is no FeedParser.
			return nil
		})).
		Complete(&ruleKeeper{r})
	if err != nil {
		return fmt.Errorf("setting up the controller of FeedParsers: %w", err)
	}
	return nil
}

// listen lets the watches of feeds ask for passes, as long as the controller runs.
func (r *Reconciler) listen(ctx context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
	r.watches.begin(ctx, func(subscription types.NamespacedName) {
		queue.AddAfter(reconcile.Request{NamespacedName: subscription}, burst)
	})
	return nil
}

// definitionChanges lets updates pass that touch what a kind is, or whether it is served.
func definitionChanges() predicate.TypedPredicate[*apiextensionsv1.CustomResourceDefinition] {
	return predicate.TypedFuncs[*apiextensionsv1.CustomResourceDefinition]{
		UpdateFunc: func(e event.TypedUpdateEvent[*apiextensionsv1.CustomResourceDefinition]) bool {
			return !apiequality.Semantic.DeepEqual(e.ObjectOld.Spec, e.ObjectNew.Spec) ||
				!apiequality.Semantic.DeepEqual(e.ObjectOld.Status.Conditions, e.ObjectNew.Status.Conditions)
		},
	}
}
