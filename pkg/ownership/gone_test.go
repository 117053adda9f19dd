// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package ownership_test

import (
	"bytes"
	"errors"
	"flag"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/klog/v2"

	"berth.dev/berth/pkg/model/workload"
	"berth.dev/berth/pkg/ownership"
)

// withdrawn serves what kinds serves, but for Rings while these are gone.
type withdrawn struct {
	kinds

	gone     atomic.Bool
	asked    atomic.Int64
	requests atomic.Int64
	watches  []watch.Interface
}

func (s *withdrawn) ServerResourcesForGroupVersion(gv string) (*metav1.APIResourceList, error) {
	s.asked.Add(1)
	list, err := s.kinds.ServerResourcesForGroupVersion(gv)
	if list != nil && s.gone.Load() {
		kept := list.APIResources[:0]
		for _, r := range list.APIResources {
			if !strings.HasPrefix(r.Name, "rings") {
				kept = append(kept, r)
			}
		}
		list.APIResources = kept
	}
	return list, err
}

// serve has a world answer for Rings as an API server does that has their definition, or not.
func (s *withdrawn) serve(w *world) {
	refused := func(action clienttesting.Action) error {
		s.requests.Add(1)
		if s.gone.Load() {
			return apierrors.NewNotFound(action.GetResource().GroupResource(), "")
		}
		return nil
	}
	w.objects.PrependReactor("*", "rings", func(action clienttesting.Action) (bool, runtime.Object, error) {
		err := refused(action)
		return err != nil, nil, err
	})
	w.objects.PrependWatchReactor("rings", func(action clienttesting.Action) (bool, watch.Interface, error) {
		if err := refused(action); err != nil {
			return true, nil, err
		}
		events, err := w.objects.Tracker().Watch(action.GetResource(), action.GetNamespace())
		s.watches = append(s.watches, events)
		return true, events, err
	})
}

// withdraw has Rings served no longer, and their watches ended.
func (s *withdrawn) withdraw() {
	s.gone.Store(true)
	for _, events := range s.watches {
		events.Stop()
	}
	s.watches = nil
}

// logged returns what is logged until the test ends.
func logged(t *testing.T) *bytes.Buffer {
	t.Helper()
	var log bytes.Buffer
	flags := flag.NewFlagSet("klog", flag.PanicOnError)
	klog.InitFlags(flags)
	if err := flags.Set("logtostderr", "false"); err != nil {
		t.Fatal(err)
	}
	klog.SetOutput(&log)
	t.Cleanup(func() {
		if err := flags.Set("logtostderr", "true"); err != nil {
			t.Error(err)
		}
	})
	return &log
}

func TestAKindThatIsServedNoLonger(t *testing.T) {
	log := logged(t)
	synctest.Test(t, func(t *testing.T) {
		served := &withdrawn{}
		w := newWorld(t, served, object("Ring", "a", map[string]any{"size": int64(3)}), object("Fleet", "a", nil))
		w.named = true
		served.serve(w)
		ring, fleet := ref(groupVersion, "Ring", "a", "a"), ref(groupVersion, "Fleet", "a", "a")
		for _, known := range []*metav1.OwnerReference{ring, fleet} {
			if _, err := w.ask(t, known); err != nil {
				t.Fatal(err)
			}
		}

		sleep(ownership.Patience)
		changes := w.told()
		served.withdraw()
		sleep(time.Minute)
		if _, err := w.Further(namespace, ring); !errors.Is(err, workload.ErrUnconfirmed) || !strings.Contains(err.Error(), "is not served") {
			t.Errorf("error %v, want that the kind is not served", err)
		}
		if got := w.told() - changes; got != 1 {
			t.Errorf("told %d times that the kind has gone, want once", got)
		}
		if w.Problem(schema.GroupKind{Group: "example.com", Kind: "Ring"}) == nil {
			t.Error("policies that name the kind learn nothing")
		}
		if _, err := w.Further(namespace, fleet); err != nil {
			t.Errorf("another kind: %v", err)
		}

		expectQuiet(t, w, served, ring)
		served.gone.Store(false)
		changes = w.told()
		sleep(ownership.FreshKind + time.Second)
		if w.told() == changes {
			t.Error("nobody was told that the kind has come back")
		}
		w.expectFollowed(t, ring)
	})
	if log.Len() > 0 {
		t.Errorf("logged:\n%s", log)
	}
}

// expectQuiet checks that an hour without the kind costs few requests, although a pod waits.
func expectQuiet(t *testing.T, w *world, served *withdrawn, ring *metav1.OwnerReference) {
	t.Helper()
	asked, requests := served.asked.Load(), served.requests.Load()
	for range 60 {
		sleep(time.Minute)
		w.Further(namespace, ring) //nolint:errcheck // a pod waits
	}
	asked, requests = served.asked.Load()-asked, served.requests.Load()-requests
	if asked > 60*4 || requests > 0 {
		t.Errorf("in an hour it was asked for %d times, and for its objects %d times", asked, requests)
	}
}

// expectFollowed checks that a change of a Ring is told.
func (w *world) expectFollowed(t *testing.T, ring *metav1.OwnerReference) {
	t.Helper()
	if _, err := w.Further(namespace, ring); err != nil {
		t.Fatal(err)
	}
	rings := w.objects.Resource(schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "rings"}).Namespace(namespace)
	if _, err := rings.Update(t.Context(), object("Ring", "a", map[string]any{"size": int64(5)}), metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	synctest.Wait()
	if owner, err := w.Further(namespace, ring); err != nil || owner.Replicas != 5 {
		t.Errorf("owner %+v, error %v, want 5 replicas", owner, err)
	}
}

// A definition is often replaced within seconds, and the first pods of its new objects must not be
// placed as if these had no kind.
func TestAKindThatIsServedAgainCountsForNewObjectsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		served := &withdrawn{}
		w := newWorld(t, served, object("Ring", "a", nil), object("Ring", "b", nil))
		served.serve(w)
		served.gone.Store(true)
		if _, err := w.ask(t, ref(groupVersion, "Ring", "a", "a")); !errors.Is(err, workload.ErrUnconfirmed) {
			t.Fatalf("error %v, want that the kind is not served", err)
		}
		served.gone.Store(false)
		sleep(2 * time.Second)
		if _, err := w.ask(t, ref(groupVersion, "Ring", "b", "b")); err != nil {
			t.Error(err)
		}
	})
}
