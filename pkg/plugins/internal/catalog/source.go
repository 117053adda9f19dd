// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"context"
	"errors"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"berth.dev/berth/pkg/plugins/internal/trim"
)

// source watches one kind. A kind whose CRD is not installed has no objects: that is an answer, not
// a failure.
type source struct {
	kind     string // under which its objects are reported; empty if another source does that
	used     int    // how many objects the newest snapshot was built of
	informer cache.SharedIndexInformer
	handlers cache.ResourceEventHandlerRegistration
	clock    clock.PassiveClock
	changed  func()

	mu       sync.Mutex
	absent   bool
	watching time.Time // since when, for the first time
	watchErr error     // why there is no watch yet, and since when
	watchDue time.Time
	err      error
	errSince time.Time
}

// reader is what the generated clients of all kinds can do, L being the list of the kind.
type reader[L runtime.Object] interface {
	List(ctx context.Context, options metav1.ListOptions) (L, error)
	Watch(ctx context.Context, options metav1.ListOptions) (watch.Interface, error)
}

// listWatch makes of the client of a kind what an informer reads by.
func listWatch[L runtime.Object](client reader[L]) *cache.ListWatch {
	return &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			return client.List(ctx, options)
		},
		WatchFuncWithContext: client.Watch,
	}
}

// newSource makes the informer of a kind and calls changed whenever the answer of objects may
// differ in a way that matters.
func newSource(
	kind string, lw *cache.ListWatch, example runtime.Object, clk clock.PassiveClock, matters func(oldObj, newObj any) bool, changed func(),
) (*source, error) {
	s := &source{kind: kind, clock: clk, changed: changed}
	s.informer = cache.NewSharedIndexInformer(&observedListWatch{ListWatch: lw, observe: s.observe, watched: s.watched}, example, 0, cache.Indexers{})
	trim.Informer(s.informer)
	var err error
	s.handlers, err = s.informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(any) { changed() },
		DeleteFunc: func(any) { changed() },
		UpdateFunc: func(oldObj, newObj any) {
			if matters(oldObj, newObj) {
				changed()
			}
		},
	})
	return s, err
}

// specChanged tells a change of what the user asked for from a mere write of status.
func specChanged(oldObj, newObj any) bool {
	before, okBefore := oldObj.(metav1.Object)
	after, okAfter := newObj.(metav1.Object)
	if !okBefore || !okAfter {
		return true
	}
	return before.GetUID() != after.GetUID() || before.GetGeneration() != after.GetGeneration()
}

// observe notes the outcome of a list.
func (s *source) observe(err error) {
	s.mu.Lock()
	wasAbsent := s.absent
	s.absent = apierrors.IsNotFound(err)
	switch {
	case err == nil || s.absent:
		s.err = nil
	case s.err == nil:
		s.err, s.errSince = err, s.clock.Now()
	default:
		s.err = err
	}
	flipped := wasAbsent != s.absent
	if flipped && s.absent {
		// A kind that is installed again comes without what it had before, which must not show
		// until its first list is in.
		s.informer.GetStore().Replace(nil, "") //nolint:errcheck // only an object without a key can fail
	}
	s.mu.Unlock()
	// Who waits for the first list looks for failures of it himself, and later ones change nothing.
	if flipped {
		s.changed()
	}
}

// watched notes the outcome of an attempt to watch, until one succeeds.
func (s *source) watched(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case !s.watching.IsZero():
		return
	case err == nil:
		s.watching = s.clock.Now()
	case s.watchErr == nil:
		s.watchDue = s.clock.Now()
	}
	s.watchErr = err
}

// backlog is how long what happened between the first list and the first watch may take to arrive.
const backlog = 100 * time.Millisecond

// ready reports whether objects is the truth: the first list and what happened since have arrived,
// or the kind is not installed. An API server that has just been told of a kind answers lists of it
// before watches, by a second or more.
func (s *source) ready() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	current := !s.watching.IsZero() && s.clock.Since(s.watching) >= backlog
	return s.absent || s.handlers.HasSynced() && current
}

// failure returns the error of the last list and since when lists have failed; nil if the last one
// succeeded. If it was only never possible to watch, that is the error.
func (s *source) failure() (since time.Time, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		return s.watchDue, s.watchErr
	}
	return s.errSince, s.err
}

// objects returns what is known; nothing while the kind is not installed, whatever the store still
// holds of it.
func (s *source) objects() []any {
	s.mu.Lock()
	absent := s.absent
	s.mu.Unlock()
	if absent {
		return nil
	}
	return s.informer.GetStore().List()
}

// observedListWatch reports the outcome of every list, and every watch. It lists rather than
// streams the first state, because only a list says plainly that a kind is not installed.
type observedListWatch struct {
	*cache.ListWatch
	observe func(error)
	watched func(error)
}

// IsWatchListSemanticsUnSupported makes the reflector list.
func (*observedListWatch) IsWatchListSemanticsUnSupported() bool {
	return true
}

// List lists the kind and reports the outcome.
func (l *observedListWatch) List(options metav1.ListOptions) (runtime.Object, error) {
	return l.ListWithContext(context.Background(), options)
}

// ListWithContext lists the kind and reports the outcome. It tries again until it succeeds, unless
// the reflector has to ask for something else.
func (l *observedListWatch) ListWithContext(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
	var list runtime.Object
	err := persist(ctx, func() (again bool, err error) {
		list, err = l.ListWatch.ListWithContext(ctx, options)
		if ctx.Err() == nil {
			l.observe(err)
		}
		return !outdated(err), err
	})
	return list, err
}

// WatchWithContext watches the kind. It tries again while the API server does not answer.
func (l *observedListWatch) WatchWithContext(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	var watcher watch.Interface
	err := persist(ctx, func() (again bool, err error) {
		watcher, err = l.ListWatch.WatchWithContext(ctx, options)
		if apierrors.IsNotFound(err) {
			l.observe(err)
		}
		var answer apierrors.APIStatus
		return !errors.As(err, &answer), err
	})
	if ctx.Err() == nil {
		l.watched(err)
	}
	return watcher, err
}

// outdated reports whether a list failed because it asked for a version that the API server does
// not have, or not yet.
func outdated(err error) bool {
	return apierrors.IsResourceExpired(err) || apierrors.IsGone(err) ||
		apierrors.HasStatusCause(err, metav1.CauseTypeResourceVersionTooLarge)
}

// persist repeats a request until it succeeds, must not be tried again, or the context ends. The
// reflector by itself waits for up to a minute between two attempts. For as long pods would be
// placed by the policies of before the failure, or, once a CRD is installed, as if there were none.
func persist(ctx context.Context, request func() (again bool, err error)) error {
	pause := wait.Backoff{Duration: 250 * time.Millisecond, Factor: 2, Jitter: 0.2, Steps: 3}
	var failure error
	// The end of the context leaves the last failure, which says more.
	_ = pause.DelayFunc().Until(ctx, true, true, func(ctx context.Context) (done bool, err error) {
		first := failure == nil
		again, err := request()
		if failure = err; err == nil || !again {
			return true, nil
		}
		if first {
			klog.FromContext(ctx).Info("Objects cannot be read, trying again", "err", err)
		}
		return false, nil
	})
	return failure
}
