// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"context"
	"maps"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"

	"berth.dev/berth/pkg/model/workload"
)

// asks are what has changed in each namespace since its last pass began. They are safe for
// concurrent use.
type asks struct {
	mu sync.Mutex
	// namespaces are the objects of which something has changed that others have nothing to do with:
	// what runs below them, or how far their controllers are. They are nil if it may be anything.
	namespaces map[string]sets.Set[types.UID]
}

func newAsks() *asks { return &asks{namespaces: map[string]sets.Set[types.UID]{}} }

// whole notes that anything may have changed in a namespace.
func (a *asks) whole(namespace string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.namespaces[namespace] = nil
}

// about notes that something has changed that concerns objects alone.
func (a *asks) about(namespace string, objects ...types.UID) {
	a.mu.Lock()
	defer a.mu.Unlock()
	known, noted := a.namespaces[namespace]
	switch {
	case !noted:
		a.namespaces[namespace] = sets.New(objects...)
	case known != nil:
		known.Insert(objects...)
	}
}

// take returns what has changed in a namespace, nil if it may be anything, and forgets it.
func (a *asks) take(namespace string) sets.Set[types.UID] {
	a.mu.Lock()
	defer a.mu.Unlock()
	objects := a.namespaces[namespace]
	delete(a.namespaces, namespace)
	return objects
}

// onChange asks for a pass over the namespace of an object: about what an update concerns alone, if
// about tells that, and about everything otherwise.
func onChange[T client.Object](r *Reconciler, about func(before, after T) types.UID) handler.TypedEventHandler[T, string] {
	ask := func(object T, concerns types.UID, q queue) {
		if concerns == "" {
			r.asks.whole(object.GetNamespace())
		} else {
			r.asks.about(object.GetNamespace(), concerns)
		}
		q.AddAfter(object.GetNamespace(), pause)
	}
	return handler.TypedFuncs[T, string]{
		CreateFunc: func(_ context.Context, e event.TypedCreateEvent[T], q queue) { ask(e.Object, "", q) },
		UpdateFunc: func(_ context.Context, e event.TypedUpdateEvent[T], q queue) {
			ask(e.ObjectNew, about(e.ObjectOld, e.ObjectNew), q)
		},
		DeleteFunc: func(_ context.Context, e event.TypedDeleteEvent[T], q queue) { ask(e.Object, "", q) },
	}
}

// anything is an about: whatever the change is, it may concern all others of the namespace.
func anything[T client.Object](_, _ T) types.UID { return "" }

// controllerAlone returns the controller of a pod whose change concerns that alone: it runs where
// it has run, and belongs to whom it has belonged.
func controllerAlone(before, after *corev1.Pod) types.UID {
	was, is := metav1.GetControllerOfNoCopy(before), metav1.GetControllerOfNoCopy(after)
	if was == nil || is == nil || was.UID != is.UID || before.UID != after.UID ||
		after.Spec.NodeName == "" || before.Spec.NodeName != after.Spec.NodeName || !workload.Lives(before) || !workload.Lives(after) {
		return ""
	}
	return is.UID
}

// statusAlone returns an object of which only the status has changed.
func statusAlone[T client.Object](before, after T) types.UID {
	if before.GetUID() != after.GetUID() || after.GetGeneration() == 0 || before.GetGeneration() != after.GetGeneration() ||
		!before.GetDeletionTimestamp().Equal(after.GetDeletionTimestamp()) ||
		!maps.Equal(before.GetLabels(), after.GetLabels()) || !maps.Equal(before.GetAnnotations(), after.GetAnnotations()) ||
		!apiequality.Semantic.DeepEqual(before.GetOwnerReferences(), after.GetOwnerReferences()) {
		return ""
	}
	return after.GetUID()
}
