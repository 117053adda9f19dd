// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package feedinventory_test

import (
	"strconv"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/controllers/internal/fairqueue"
)

// tell lets the controller look at a new Subscription whose feed can never be read, and returns
// after what time it looks again, and whether the Subscription tells of that.
func (w *world) tell(namespace, name string) (again time.Duration, told bool) {
	w.t.Helper()
	s := &berthv1alpha1.Subscription{}
	s.Namespace, s.Name, s.UID = namespace, name, types.UID(namespace+name)
	feed := deployment("web")
	feed.Namespace = "elsewhere"
	s.Spec.Feeds = []berthv1alpha1.Feed{feed}
	if err := w.client.Create(w.t.Context(), s); err != nil {
		w.t.Fatal(err)
	}
	key := client.ObjectKeyFromObject(s)
	result, err := w.controller.Reconcile(w.t.Context(), reconcile.Request{NamespacedName: key})
	if err != nil {
		w.t.Fatal(err)
	}
	if err := w.client.Get(w.t.Context(), key, s); err != nil {
		w.t.Fatal(err)
	}
	return result.RequeueAfter, len(s.Status.Conditions) > 0
}

// Thousands of Subscriptions of one namespace are told of some a second; that of another namespace
// is told of at once.
func TestManyOfANamespaceAreToldOfOneAfterTheOther(t *testing.T) {
	w := newWorld(t)
	w.recorder.Events = make(chan string, fairqueue.AtOnce+1)
	for i := range fairqueue.AtOnce {
		if _, told := w.tell("loud", strconv.Itoa(i)); !told {
			t.Fatalf("number %d is not told of", i)
		}
	}
	if again, told := w.tell("loud", "late"); told || again != time.Second/fairqueue.PerSecond {
		t.Errorf("one more is told of: %t, and is looked at again after %v, want %v", told, again, time.Second/fairqueue.PerSecond)
	}
	if _, told := w.tell("quiet", "one"); !told {
		t.Error("that of another namespace waits")
	}
}
