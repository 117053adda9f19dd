// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package ownership looks up the objects that control pods and are of kinds that Berth does not
// know by itself: those of operators. Kinds that say how many pods they want, and those that a
// policy names, are followed by informers that keep metadata and that number only. Objects of other
// kinds are asked for one by one, at a limited rate for each namespace. What Berth may read is said
// by the rules that Kubernetes gathers in the ClusterRole berth-owner-reader.
package ownership

import (
	"context"
	"fmt"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/workload"
)

const (
	// patience is how long a pod may have to wait until its owners are looked up. Then the chain ends
	// with what is confirmed.
	patience = 10 * time.Second

	// fresh is how long an answer about a single object counts, freshError how long one that says no,
	// or that an informer contradicts, and freshKind how long what is known of a kind.
	fresh, freshError, freshKind = 2 * time.Minute, 10 * time.Second, 30 * time.Second

	// perSecond and burst limit the requests for the owners of the pods of one namespace.
	perSecond, burst = 10, 20
	// throttled is the pause of what the limit stopped, and again that of what failed.
	throttled, again = 200 * time.Millisecond, time.Second

	// workers is how many requests are under way at the same time.
	workers = 4
	// maxLookups, maxKinds and maxFollowed bound the memory.
	maxLookups, maxKinds, maxFollowed = 20_000, 1000, 64
	// maxNumberless is how many of the kinds that are followed may say nothing of how many pods they
	// want.
	maxNumberless = maxFollowed / 2
	// maxReason bounds in bytes why an object cannot be understood.
	maxReason = 256
)

// resources tells which kinds an API server serves.
type resources interface {
	ServerResourcesForGroupVersion(groupVersion string) (*metav1.APIResourceList, error)
}

// Options are what a Directory needs.
type Options struct {
	// Objects and Metadata read objects, Discovery finds out how they are asked for.
	Objects   dynamic.Interface
	Metadata  metadata.Interface
	Discovery resources
	// Rules returns the FeedParsers, which say where objects have their number of replicas.
	Rules func(ctx context.Context) ([]berthv1alpha1.FeedParser, error)
	// Named reports whether a policy names the kind.
	Named func(kind schema.GroupKind) bool
	// Clock tells the time.
	Clock clock.WithDelayedExecution
	// Namespace is the only one that is asked for, empty for all of them.
	Namespace string
	// AtTheirWord has references taken at their word, as NotRead of package workload does, where the
	// rights do not suffice to look them up.
	AtTheirWord bool
}

// Directory knows the owners of kinds beyond the table of package workload. It is safe for
// concurrent use.
type Directory struct {
	Options
	queue workqueue.TypedDelayingInterface[key]

	mu      sync.RWMutex
	kinds   map[schema.GroupVersionKind]*kind
	lookups map[key]*lookup
	limits  map[string]flowcontrol.PassiveRateLimiter
	// listeners want to know of changes.
	listeners []func(namespace string, owner types.UID)
	// refreshing is true while a refresh is to come.
	refreshing bool
	// lifetime is the context of Run: informers outlive the request that starts them.
	lifetime context.Context //nolint:containedctx // see above
}

var _ workload.FurtherSource = &Directory{}

// key is what a reference means. One without a name stands for the kind.
type key struct {
	schema.GroupVersionKind
	types.NamespacedName
	uid types.UID
}

// lookup is what is known of a single object.
type lookup struct {
	owner *workload.FurtherOwner
	// err is why it cannot be confirmed.
	err error
	// asked is since when the answer is awaited, answered when it came, tried when it was last asked
	// for.
	asked, answered, tried time.Time
}

// newDirectory returns a Directory that answers once Run is called.
func newDirectory(options Options) *Directory {
	return &Directory{
		Options: options, queue: workqueue.NewTypedDelayingQueue[key](), kinds: map[schema.GroupVersionKind]*kind{},
		lookups: map[key]*lookup{}, limits: map[string]flowcontrol.PassiveRateLimiter{}, lifetime: context.Background(),
	}
}

// Run looks up what is asked for until the context ends.
func (d *Directory) Run(ctx context.Context) {
	d.mu.Lock()
	d.lifetime = ctx
	d.mu.Unlock()
	var running sync.WaitGroup
	for range workers {
		running.Go(func() { d.work(ctx) })
	}
	<-ctx.Done()
	d.queue.ShutDown()
	running.Wait()
}

// Listen has a function called whenever something has become known of an owner in a namespace, of
// which it gets the UID, or of owners of which nobody knows: then the UID is empty. The function
// must not block.
func (d *Directory) Listen(changed func(namespace string, owner types.UID)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.listeners = append(d.listeners, changed)
}

// changed tells the listeners. It must not be called with the lock.
func (d *Directory) changed(namespace string, owner types.UID) {
	d.mu.RLock()
	listeners := d.listeners
	d.mu.RUnlock()
	for _, listener := range listeners {
		listener(namespace, owner)
	}
}

// Refresh is to be called when FeedParsers have changed, or the kinds that policies name. Several
// calls in a short time cost as much as one.
func (d *Directory) Refresh() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.refreshing {
		d.refreshing = true
		d.Clock.AfterFunc(throttled, d.refresh)
	}
}

// refresh has all known kinds looked up anew.
func (d *Directory) refresh() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.refreshing = false
	for gvk, k := range d.kinds {
		k.resolved = time.Time{}
		d.queue.Add(key{GroupVersionKind: gvk})
	}
}

// Further implements workload.FurtherSource. It does not wait, and does not allocate for what is
// known.
func (d *Directory) Further(namespace string, ref *metav1.OwnerReference) (*workload.FurtherOwner, error) {
	object := key{
		schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind), types.NamespacedName{Namespace: namespace, Name: ref.Name}, ref.UID,
	}
	d.mu.RLock()
	k, l := d.kinds[object.GroupVersionKind], d.lookups[object]
	var owner *workload.FurtherOwner
	followed := false
	if k != nil {
		owner, followed = k.followed(object.NamespacedName)
	}
	if owner != nil && owner.GetUID() == ref.UID {
		d.mu.RUnlock()
		return owner, nil
	}
	now := d.Clock.Now()
	if l != nil && !l.due(now, followed) {
		defer d.mu.RUnlock()
		return l.answer(object, now)
	}
	d.mu.RUnlock()
	return d.ask(object, now)
}

// due reports whether an answer is to be asked for, perhaps anew.
func (l *lookup) due(now time.Time, followed bool) bool {
	switch {
	case now.Sub(l.tried) < again:
		return false
	case l.answered.IsZero():
		return now.Sub(l.tried) >= patience
	case followed || l.owner == nil:
		return now.Sub(l.answered) >= freshError
	default:
		return now.Sub(l.answered) >= fresh
	}
}

// answer returns what is known at a time.
func (l *lookup) answer(object key, now time.Time) (*workload.FurtherOwner, error) {
	switch {
	case l.owner != nil:
		return l.owner, nil
	case l.err != nil:
		return nil, l.err
	case now.Sub(l.asked) >= patience:
		return nil, fmt.Errorf("%s: no answer for %s: %w", object, patience, workload.ErrUnconfirmed)
	default:
		return nil, fmt.Errorf("%s is being looked up: %w", object, workload.ErrOwnerNotFound)
	}
}

func (k key) String() string {
	return fmt.Sprintf("%s %s", k.Kind, k.NamespacedName)
}

// ask has an object looked up, and returns what is known of it by now.
func (d *Directory) ask(object key, now time.Time) (*workload.FurtherOwner, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	l := d.lookups[object]
	if l == nil {
		d.forget(now)
		l = &lookup{asked: now}
		d.lookups[object] = l
		d.Clock.AfterFunc(patience, func() { d.changed(object.Namespace, object.uid) })
	}
	l.tried = now
	d.queue.Add(object)
	return l.answer(object, now)
}

// forget makes room for one more object.
func (d *Directory) forget(now time.Time) {
	if len(d.lookups) < maxLookups {
		return
	}
	for object, l := range d.lookups {
		if now.Sub(l.tried) > patience {
			delete(d.lookups, object)
		}
	}
	if len(d.lookups) >= maxLookups {
		clear(d.lookups)
	}
}

// Problem says why objects of a kind cannot be read, nil if they can, or nobody has asked yet.
func (d *Directory) Problem(of schema.GroupKind) error {
	d.mu.RLock()
	defer d.mu.RUnlock()
	for gvk, k := range d.kinds {
		if gvk.GroupKind() == of && k.err != nil {
			return k.err
		}
	}
	return nil
}
