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

// ask is what has changed in a namespace since its last pass began.
type ask struct {
	// whole is true if it may be anything.
	whole bool
	// objects are those of which something has changed that others have nothing to do with: what runs
	// below them, or how far their controllers are.
	objects sets.Set[types.UID]
	// around is true if something has changed of nodes or Clusters. Clusters are those of these that
	// it matters to even if all of their pods are where they should be.
	around   bool
	clusters sets.Set[string]
}

// asks is what has changed in each namespace. It is safe for concurrent use.
type asks struct {
	mu         sync.Mutex
	namespaces map[string]*ask
}

func newAsks() *asks { return &asks{namespaces: map[string]*ask{}} }

// add notes what has changed in a namespace.
func (a *asks) add(namespace string, changed *ask) {
	a.mu.Lock()
	defer a.mu.Unlock()
	known := a.namespaces[namespace]
	if known == nil {
		known = &ask{objects: sets.New[types.UID](), clusters: sets.New[string]()}
		a.namespaces[namespace] = known
	}
	known.whole, known.around = known.whole || changed.whole, known.around || changed.around
	maps.Copy(known.objects, changed.objects)
	maps.Copy(known.clusters, changed.clusters)
}

// whole notes that anything may have changed in a namespace.
func (a *asks) whole(namespace string) { a.add(namespace, &ask{whole: true}) }

// take returns what has changed in a namespace, nil if nobody has told, and forgets it.
func (a *asks) take(namespace string) *ask {
	a.mu.Lock()
	defer a.mu.Unlock()
	changed := a.namespaces[namespace]
	delete(a.namespaces, namespace)
	return changed
}

// onChange asks for a pass over the namespace of an object: about what an update concerns alone, if
// about tells that, and about everything otherwise.
func onChange[T client.Object](r *Reconciler, about func(before, after T) types.UID) handler.TypedEventHandler[T, string] {
	note := func(object T, concerns types.UID, q queue) {
		if concerns == "" {
			r.asks.whole(object.GetNamespace())
		} else {
			r.asks.add(object.GetNamespace(), &ask{objects: sets.New(concerns)})
		}
		q.AddAfter(object.GetNamespace(), pause)
	}
	return handler.TypedFuncs[T, string]{
		CreateFunc: func(_ context.Context, e event.TypedCreateEvent[T], q queue) { note(e.Object, "", q) },
		UpdateFunc: func(_ context.Context, e event.TypedUpdateEvent[T], q queue) {
			note(e.ObjectNew, about(e.ObjectOld, e.ObjectNew), q)
		},
		DeleteFunc: func(_ context.Context, e event.TypedDeleteEvent[T], q queue) { note(e.Object, "", q) },
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
