// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package advisertest makes advisers for tests.
package advisertest

import (
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache/informertest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"berth.dev/berth/manifests"
	"berth.dev/berth/pkg/controllers/adviser"
	"berth.dev/berth/pkg/controllers/state"
	"berth.dev/berth/pkg/simulator"
)

// Watching returns an adviser that hears of changes from informers. It reads Berth's own objects
// from the client, again only if it watches these, too.
func Watching(tb testing.TB, c client.Reader, informers cache.Informers) *adviser.Adviser {
	tb.Helper()
	profile, err := simulator.ParseProfile(manifests.SchedulerConfiguration)
	if err != nil {
		tb.Fatal(err)
	}
	a, err := adviser.New(profile, c)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(a.Close)
	if err := errors.Join(a.Watch(tb.Context(), informers), a.WaitForSync(tb.Context())); err != nil {
		tb.Fatal(err)
	}
	return a
}

// New returns an adviser that knows what the client has at this moment, cut down as in the cache of
// the controllers.
func New(tb testing.TB, c client.Client) *adviser.Adviser {
	tb.Helper()
	informers := &informertest.FakeInformers{Scheme: c.Scheme()}
	a := Watching(tb, c, informers)
	for _, kind := range adviser.Kinds() {
		informer, err := informers.FakeInformerFor(tb.Context(), kind)
		if err != nil {
			tb.Fatal(err)
		}
		for _, object := range list(tb, c, kind) {
			informer.Add(object)
		}
	}
	return a
}

// list returns the objects of a kind.
func list(tb testing.TB, c client.Client, kind client.Object) []client.Object {
	tb.Helper()
	gvk, err := c.GroupVersionKindFor(kind)
	if err != nil {
		tb.Fatal(err)
	}
	made, err := c.Scheme().New(gvk.GroupVersion().WithKind(gvk.Kind + "List"))
	if err != nil {
		tb.Fatal(err)
	}
	objects, ok := made.(client.ObjectList)
	if !ok {
		tb.Fatalf("%T is no list", made)
	}
	if err := c.List(tb.Context(), objects); err != nil {
		tb.Fatal(err)
	}
	var found []client.Object
	if err := meta.EachListItem(objects, func(item runtime.Object) error {
		object := item.DeepCopyObject()
		if pod, isPod := object.(*corev1.Pod); isPod {
			state.Pod(pod)
		}
		if typed, ok := object.(client.Object); ok {
			found = append(found, typed)
		}
		return nil
	}); err != nil {
		tb.Fatal(err)
	}
	return found
}
