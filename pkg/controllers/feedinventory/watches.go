// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package feedinventory

import (
	"context"
	"fmt"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
)

// target is an object that some Subscription lists.
type target struct {
	resource schema.GroupVersionResource
	types.NamespacedName
}

// watches follows the metadata of objects. Its methods are safe for concurrent use.
type watches struct {
	client metadata.Interface
	clock  clock.PassiveClock

	mu sync.Mutex
	// lifetime is the context of the controller: watches outlive the pass that wants them.
	lifetime context.Context //nolint:containedctx // see above
	// notify tells that something about a Subscription's feeds has changed. It must not block.
	notify   func(subscription types.NamespacedName)
	kinds    map[scope]*kindWatch
	wanted   map[types.NamespacedName]sets.Set[target]
	wanters  map[target]sets.Set[types.NamespacedName]
	releases releaseWanters
}

// scope is what a watch follows: all objects of a kind, or those of Helm releases.
type scope struct {
	resource schema.GroupVersionResource
	helm     bool
}

// kindWatch follows all objects of a scope.
type kindWatch struct {
	informer cache.SharedIndexInformer
	stop     context.CancelFunc
	started  time.Time
	users    sets.Set[types.NamespacedName]

	// err is why the last list or watch failed, and version how far the informer was then: it
	// counts until the informer has come further.
	err     error
	version string

	// ended says that the kind was not served. Whoever still wants it may have it watched again
	// after a while.
	ended bool
}

func newWatches(client metadata.Interface, clk clock.PassiveClock) *watches {
	return &watches{
		client: client, clock: clk,
		lifetime: context.Background(), notify: func(types.NamespacedName) {},
		kinds:    map[scope]*kindWatch{},
		wanted:   map[types.NamespacedName]sets.Set[target]{},
		wanters:  map[target]sets.Set[types.NamespacedName]{},
		releases: newReleaseWanters(),
	}
}

// begin says how long watches may run, and whom to tell. It comes before any watch.
func (w *watches) begin(lifetime context.Context, notify func(subscription types.NamespacedName)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lifetime, w.notify = lifetime, notify
}

// changed tells that something about a Subscription's feeds may have changed.
func (w *watches) changed(subscriptions ...types.NamespacedName) {
	w.mu.Lock()
	notify := w.notify
	w.mu.Unlock()
	for _, subscription := range subscriptions {
		notify(subscription)
	}
}

// want replaces which objects a Subscription wants to follow; with no targets it wants none any
// more. Watches run until nobody wants them.
func (w *watches) want(subscription types.NamespacedName, targets sets.Set[target]) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for t := range w.wanted[subscription].Difference(targets) {
		w.wanters[t].Delete(subscription)
		if len(w.wanters[t]) == 0 {
			delete(w.wanters, t)
		}
	}
	scopes := sets.New[scope]()
	for t := range targets {
		scopes.Insert(scope{resource: t.resource})
		if w.wanters[t] == nil {
			w.wanters[t] = sets.New[types.NamespacedName]()
		}
		w.wanters[t].Insert(subscription)
	}
	if len(targets) == 0 {
		delete(w.wanted, subscription)
	} else {
		w.wanted[subscription] = targets
	}
	w.use(subscription, false, scopes)
}

// use replaces the watches that a Subscription uses of objects, or of Helm releases.
func (w *watches) use(subscription types.NamespacedName, helm bool, scopes sets.Set[scope]) {
	for of := range scopes {
		w.start(of).users.Insert(subscription)
	}
	for of, kind := range w.kinds {
		if of.helm != helm {
			continue
		}
		if !scopes.Has(of) {
			kind.users.Delete(subscription)
		}
		if len(kind.users) == 0 {
			kind.stop()
			delete(w.kinds, of)
		}
	}
}

// start returns the watch of a scope, which it starts if it does not run.
func (w *watches) start(of scope) *kindWatch {
	users := sets.New[types.NamespacedName]()
	if kind, known := w.kinds[of]; known {
		if !kind.ended || w.clock.Since(kind.started) < retry {
			return kind
		}
		users = kind.users
	}
	ctx, cancel := context.WithCancel(w.lifetime)
	indexers, tweak, transform, handler := cache.Indexers{}, metadatainformer.TweakListOptionsFunc(nil), trimmed, w.handler(of.resource)
	if of.helm {
		indexers, tweak, transform, handler = byRelease, onlyHelm, trimmedToRelease, w.releaseHandler()
	}
	informer := metadatainformer.NewFilteredMetadataInformer(
		w.client, of.resource, metav1.NamespaceAll, 0, indexers, tweak).Informer()
	kind := &kindWatch{informer: informer, stop: cancel, started: w.clock.Now(), users: users}
	w.kinds[of] = kind
	// These fail only once the informer runs.
	_ = informer.SetTransform(transform)
	_ = informer.SetWatchErrorHandlerWithContext(func(ctx context.Context, _ *cache.Reflector, err error) {
		w.failed(ctx, of.resource, kind, err)
	})
	_, _ = informer.AddEventHandler(handler)
	go informer.RunWithContext(ctx)
	go func() {
		if cache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
			w.notifyUsers(kind)
		}
	}()
	return kind
}

// trimmed cuts metadata down to what is read here.
func trimmed(object any) (any, error) {
	if full, ok := object.(*metav1.PartialObjectMetadata); ok {
		return &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
			Namespace: full.Namespace, Name: full.Name, UID: full.UID, ResourceVersion: full.ResourceVersion,
		}}, nil
	}
	return object, nil
}

// handler tells those who want an object that it has changed.
func (w *watches) handler(resource schema.GroupVersionResource) cache.ResourceEventHandler {
	tell := func(object any) {
		if gone, ok := object.(cache.DeletedFinalStateUnknown); ok {
			object = gone.Obj
		}
		meta, ok := object.(*metav1.PartialObjectMetadata)
		if !ok {
			return
		}
		w.mu.Lock()
		subscriptions := w.wanters[target{resource, types.NamespacedName{Namespace: meta.Namespace, Name: meta.Name}}].UnsortedList()
		w.mu.Unlock()
		w.changed(subscriptions...)
	}
	return cache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(object any, initial bool) {
			// What is there from the start is told once, when the list is complete.
			if !initial {
				tell(object)
			}
		},
		UpdateFunc: func(_, object any) { tell(object) },
		DeleteFunc: tell,
	}
}

// failed notes why a kind cannot be followed. The watch of a kind that is not served ends.
func (w *watches) failed(ctx context.Context, resource schema.GroupVersionResource, kind *kindWatch, err error) {
	klog.FromContext(ctx).V(2).Info("Cannot follow feeds", "resource", resource.String(), "reason", err.Error())
	w.mu.Lock()
	news := kind.err == nil || kind.err.Error() != err.Error()
	kind.err, kind.version = err, kind.informer.LastSyncResourceVersion()
	if apierrors.IsNotFound(err) {
		kind.ended = true
		kind.stop()
	}
	w.mu.Unlock()
	if news {
		w.notifyUsers(kind)
	}
}

// notifyUsers tells all who use a kind that something about it has changed.
func (w *watches) notifyUsers(kind *kindWatch) {
	w.mu.Lock()
	users := kind.users.UnsortedList()
	w.mu.Unlock()
	w.changed(users...)
}

// again lets kinds that were not served be watched again at once.
func (w *watches) again() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, kind := range w.kinds {
		if kind.ended {
			kind.started = kind.started.Add(-retry)
		}
	}
}

// retry is the pause before something is tried again that nobody tells about.
const retry = 5 * time.Second

// patience is how long the first list of a kind may take before its feeds are told to be
// unreadable.
const patience = 2 * time.Second

// errPending says that the first list of a kind is not complete yet.
type errPending struct{ left time.Duration }

func (errPending) Error() string { return "objects of the kind are being listed" }

// find returns the metadata of an object that is wanted, nil if the object does not exist. The
// error is that of store.
func (w *watches) find(t target) (*metav1.PartialObjectMetadata, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	store, err := w.store(scope{resource: t.resource})
	if err != nil {
		return nil, err
	}
	object, exists, err := store.GetByKey(t.String())
	if err != nil || !exists {
		return nil, err
	}
	meta, _ := object.(*metav1.PartialObjectMetadata)
	return meta, nil
}

// store returns what is known of a scope. An error is errPending, with what is left of the
// patience, or says why the kind cannot be followed.
func (w *watches) store(of scope) (cache.Indexer, error) {
	kind := w.kinds[of]
	if kind == nil || kind.ended {
		return nil, apierrors.NewNotFound(of.resource.GroupResource(), "")
	}
	synced := kind.informer.HasSynced()
	failed := kind.err != nil && (!synced || kind.informer.LastSyncResourceVersion() == kind.version)
	if failed && (!synced || apierrors.IsForbidden(kind.err)) {
		return nil, fmt.Errorf("following %s: %w", of.resource.GroupResource(), kind.err)
	}
	if !synced {
		return nil, errPending{left: patience - w.clock.Since(kind.started)}
	}
	return kind.informer.GetIndexer(), nil
}
