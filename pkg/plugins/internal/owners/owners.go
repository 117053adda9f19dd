// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package owners looks up the owners of pods in the scheduler's informers, and finds the pods that
// wait.
package owners

import (
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"

	"berth.dev/berth/pkg/model/workload"
	"berth.dev/berth/pkg/plugins/internal/trim"
)

const (
	// pendingIndex lists the pods that are not bound yet by namespace, so that waking them does not
	// touch all the others.
	pendingIndex = "berth.dev/pending"

	// waitingIndex lists the pods that are not bound yet by the UID of their controller.
	waitingIndex = "berth.dev/waiting"

	// parentIndex lists objects that have a controller by its UID.
	parentIndex = "berth.dev/parent"
)

// Owners is a workload.Source over the scheduler's shared informers. It is safe for concurrent use.
type Owners struct {
	workload.FurtherSource

	pods cache.Indexer
	// kinds are the stores of the kinds that control pods, or what does.
	kinds map[*workload.Kind]cache.Indexer

	keys keys
}

var _ workload.Source = &Owners{}

// New registers the informers it needs with the factory, which must not have been started yet.
// Whenever an owner appears or changes in a way that matters to where its pods go, wake is called
// with those of its pods that wait. Owners of kinds that are not in the table are looked up in
// further.
func New(
	factory informers.SharedInformerFactory, further workload.FurtherSource, wake func(pods []*corev1.Pod),
) (*Owners, error) {
	pods := factory.Core().V1().Pods().Informer()
	if err := pods.AddIndexers(cache.Indexers{pendingIndex: pendingNamespace, waitingIndex: waitingFor}); err != nil {
		return nil, fmt.Errorf("indexing pods that wait: %w", err)
	}
	o := &Owners{FurtherSource: further, pods: pods.GetIndexer(), kinds: map[*workload.Kind]cache.Indexer{}}
	for _, kind := range workload.Kinds() {
		generic, err := factory.ForResource(kind.GroupVersionResource())
		if err != nil {
			return nil, fmt.Errorf("watching %s: %w", kind.Resource, err)
		}
		informer := generic.Informer()
		trim.Informer(informer)
		if _, err := informer.AddEventHandler(o.handler(wake)); err != nil {
			return nil, fmt.Errorf("watching %s: %w", kind.Resource, err)
		}
		o.kinds[kind] = informer.GetIndexer()
		if err := informer.AddIndexers(cache.Indexers{parentIndex: parentOf}); err != nil {
			return nil, fmt.Errorf("indexing %s: %w", kind.Resource, err)
		}
	}
	return o, nil
}

func pending(object any) (*corev1.Pod, bool) {
	pod, ok := object.(*corev1.Pod)
	return pod, ok && workload.Pending(pod)
}

func pendingNamespace(object any) ([]string, error) {
	if pod, waits := pending(object); waits {
		return []string{pod.Namespace}, nil
	}
	return nil, nil
}

func waitingFor(object any) ([]string, error) {
	if pod, waits := pending(object); waits {
		return parentOf(pod)
	}
	return nil, nil
}

func parentOf(object any) ([]string, error) {
	if owned, ok := object.(metav1.Object); ok {
		if ref := metav1.GetControllerOfNoCopy(owned); ref != nil {
			return []string{string(ref.UID)}, nil
		}
	}
	return nil, nil
}

// handler wakes the pods of an owner that appears or wants something else for them.
func (o *Owners) handler(wake func([]*corev1.Pod)) cache.ResourceEventHandler {
	notify := func(object any) {
		owner, ok := object.(metav1.Object)
		if !ok {
			return
		}
		if pods := o.waitingFor(owner.GetUID(), maxSteps); len(pods) > 0 {
			wake(pods)
		}
	}
	return cache.ResourceEventHandlerFuncs{
		AddFunc: notify,
		UpdateFunc: func(oldObj, newObj any) {
			before, okBefore := oldObj.(metav1.Object)
			after, okAfter := newObj.(metav1.Object)
			if okBefore && okAfter && (wishOf(before) != wishOf(after) || !maps.Equal(before.GetLabels(), after.GetLabels())) {
				notify(newObj)
			}
		},
	}
}

// wish is what decides, beside labels, which policy is in force for the pods of an owner and how
// they are shared out.
type wish struct {
	uid, parent     types.UID
	replicas, start int32
}

func wishOf(object metav1.Object) wish {
	w := wish{uid: object.GetUID(), start: workload.FirstOrdinal(object)}
	parent := metav1.GetControllerOfNoCopy(object)
	if parent != nil {
		w.parent = parent.UID
	}
	// In a rollout the Deployment resizes its ReplicaSets step by step, but the shares are those of
	// its own replicas.
	if revision := workload.KindOf(object).IsRevision(); revision && parent != nil {
		if above, _ := workload.ControllerKind(parent); above != nil {
			return w
		}
	}
	w.replicas, _ = workload.ReplicasOf(object)
	return w
}

// maxSteps is how far the pods of an owner are looked for below it.
const maxSteps = 8

// waitingFor returns the pods that wait and are controlled by the owner, directly or through others
// in so many steps.
func (o *Owners) waitingFor(owner types.UID, steps int) []*corev1.Pod {
	pods := list[*corev1.Pod](o.pods, waitingIndex, string(owner))
	if steps <= 1 {
		return pods
	}
	for _, store := range o.kinds {
		for _, owned := range list[metav1.Object](store, parentIndex, string(owner)) {
			pods = append(pods, o.waitingFor(owned.GetUID(), steps-1)...)
		}
	}
	return pods
}

// All returns all pods.
func (o *Owners) All() []*corev1.Pod {
	objects := o.pods.List()
	pods := make([]*corev1.Pod, 0, len(objects))
	for _, object := range objects {
		if pod, ok := object.(*corev1.Pod); ok {
			pods = append(pods, pod)
		}
	}
	return pods
}

// Pending returns the pods of a namespace that are not bound yet, of all namespaces if it is empty.
func (o *Owners) Pending(namespace string) []*corev1.Pod {
	if namespace != "" {
		return list[*corev1.Pod](o.pods, pendingIndex, namespace)
	}
	var pods []*corev1.Pod
	for _, ns := range o.pods.ListIndexFuncValues(pendingIndex) {
		pods = append(pods, list[*corev1.Pod](o.pods, pendingIndex, ns)...)
	}
	return pods
}

func list[T any](indexer cache.Indexer, index, value string) []T {
	objects, err := indexer.ByIndex(index, value)
	if err != nil {
		// The index exists from the start.
		return nil
	}
	found := make([]T, 0, len(objects))
	for _, object := range objects {
		if t, ok := object.(T); ok {
			found = append(found, t)
		}
	}
	return found
}

// Owner returns the named object of a kind from its informer. It goes to the store itself, because
// a lister allocates for each lookup.
func (o *Owners) Owner(kind *workload.Kind, namespace, name string) (metav1.Object, error) {
	if owner, found := get[metav1.Object](o, o.kinds[kind], namespace, name); found {
		return owner, nil
	}
	return nil, apierrors.NewNotFound(kind.GroupVersionResource().GroupResource(), name)
}

// get looks an object up. A store in memory does not fail.
func get[T any](o *Owners, store cache.Indexer, namespace, name string) (object T, found bool) {
	stored, _, _ := store.GetByKey(o.keys.of(namespace, name))
	object, found = stored.(T)
	return object, found
}

// BoundPods returns all pods that are bound to a node.
func (o *Owners) BoundPods() []*corev1.Pod {
	var bound []*corev1.Pod
	for _, object := range o.pods.List() {
		if pod, ok := object.(*corev1.Pod); ok && pod.Spec.NodeName != "" {
			bound = append(bound, pod)
		}
	}
	return bound
}

// Pod returns the pod, or nil if it is gone.
func (o *Owners) Pod(namespace, name string) *corev1.Pod {
	pod, _ := get[*corev1.Pod](o, o.pods, namespace, name)
	return pod
}
