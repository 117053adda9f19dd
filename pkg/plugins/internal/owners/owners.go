// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package owners looks up the owners of pods in the scheduler's informers, and finds the pods that wait.
package owners

import (
	"fmt"
	"maps"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"

	"berth.dev/berth/pkg/model/workload"
)

const (
	// pendingIndex lists the pods that are not bound yet by namespace, so that waking them does not touch all the others.
	pendingIndex = "berth.dev/pending"

	// waitingIndex lists the pods that are not bound yet by the UID of their controller.
	waitingIndex = "berth.dev/waiting"

	// parentIndex lists ReplicaSets by the UID of their controller.
	parentIndex = "berth.dev/parent"
)

// Owners is a workload.Source over the scheduler's shared informers. It is safe for concurrent use.
type Owners struct {
	deployments, replicaSets, statefulSets, jobs, controllers, pods cache.Indexer

	keys keys
}

var _ workload.Source = &Owners{}

// New registers the informers it needs with the factory, which must not have been started yet. Whenever an owner appears or
// changes in a way that matters to where its pods go, wake is called with those of its pods that wait.
func New(factory informers.SharedInformerFactory, wake func(pods []*corev1.Pod)) (*Owners, error) {
	pods, replicaSets := factory.Core().V1().Pods().Informer(), factory.Apps().V1().ReplicaSets().Informer()
	if err := pods.AddIndexers(cache.Indexers{pendingIndex: pendingNamespace, waitingIndex: waitingFor}); err != nil {
		return nil, fmt.Errorf("indexing pods that wait: %w", err)
	}
	if err := replicaSets.AddIndexers(cache.Indexers{parentIndex: parentOf}); err != nil {
		return nil, fmt.Errorf("indexing ReplicaSets: %w", err)
	}
	o := &Owners{pods: pods.GetIndexer()}
	for _, kind := range []struct {
		name     string
		informer cache.SharedIndexInformer
		store    *cache.Indexer
	}{
		{"Deployments", factory.Apps().V1().Deployments().Informer(), &o.deployments},
		{"ReplicaSets", replicaSets, &o.replicaSets},
		{"StatefulSets", factory.Apps().V1().StatefulSets().Informer(), &o.statefulSets},
		{"Jobs", factory.Batch().V1().Jobs().Informer(), &o.jobs},
		{"ReplicationControllers", factory.Core().V1().ReplicationControllers().Informer(), &o.controllers},
	} {
		*kind.store = kind.informer.GetIndexer()
		if _, err := kind.informer.AddEventHandler(o.handler(wake)); err != nil {
			return nil, fmt.Errorf("watching %s: %w", kind.name, err)
		}
	}
	return o, nil
}

func pending(object any) (*corev1.Pod, bool) {
	pod, ok := object.(*corev1.Pod)
	return pod, ok && pod.Spec.NodeName == "" && pod.DeletionTimestamp == nil
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
		if pods := o.waitingFor(owner.GetUID()); len(pods) > 0 {
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

// wish is what decides, beside labels, which policy is in force for the pods of an owner and how they are shared out.
type wish struct {
	uid, parent     types.UID
	replicas, start int32
}

func wishOf(object metav1.Object) wish {
	parent := ptr.Deref(metav1.GetControllerOfNoCopy(object), metav1.OwnerReference{})
	w := wish{uid: object.GetUID(), parent: parent.UID}
	switch owner := object.(type) {
	case *appsv1.Deployment:
		w.replicas = ptr.Deref(owner.Spec.Replicas, 1)
	case *appsv1.ReplicaSet:
		// In a rollout the Deployment resizes its ReplicaSets step by step, but the shares are those of its own replicas.
		if parent.Kind != "Deployment" {
			w.replicas = ptr.Deref(owner.Spec.Replicas, 1)
		}
	case *appsv1.StatefulSet:
		w.replicas = ptr.Deref(owner.Spec.Replicas, 1)
		if owner.Spec.Ordinals != nil {
			w.start = owner.Spec.Ordinals.Start
		}
	case *corev1.ReplicationController:
		w.replicas = ptr.Deref(owner.Spec.Replicas, 1)
	case *batchv1.Job:
		w.replicas = workload.JobReplicas(owner)
	}
	return w
}

// waitingFor returns the pods that wait and are controlled by the owner, directly or through a ReplicaSet.
func (o *Owners) waitingFor(owner types.UID) []*corev1.Pod {
	pods := list[*corev1.Pod](o.pods, waitingIndex, string(owner))
	for _, set := range list[*appsv1.ReplicaSet](o.replicaSets, parentIndex, string(owner)) {
		pods = append(pods, list[*corev1.Pod](o.pods, waitingIndex, string(set.UID))...)
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

// get looks an object up. It goes to the store itself, because a lister allocates for each lookup.
func get[T any](o *Owners, indexer cache.Indexer, resource schema.GroupResource, namespace, name string) (T, error) {
	var none T
	object, found, err := indexer.GetByKey(o.keys.of(namespace, name))
	if err != nil {
		return none, fmt.Errorf("getting %s %s/%s: %w", resource, namespace, name, err)
	}
	t, ok := object.(T)
	if !found || !ok {
		return none, apierrors.NewNotFound(resource, name)
	}
	return t, nil
}

// Deployment returns the named Deployment from the informer.
func (o *Owners) Deployment(namespace, name string) (*appsv1.Deployment, error) {
	return get[*appsv1.Deployment](o, o.deployments, appsv1.Resource("deployments"), namespace, name)
}

// ReplicaSet returns the named ReplicaSet from the informer.
func (o *Owners) ReplicaSet(namespace, name string) (*appsv1.ReplicaSet, error) {
	return get[*appsv1.ReplicaSet](o, o.replicaSets, appsv1.Resource("replicasets"), namespace, name)
}

// StatefulSet returns the named StatefulSet from the informer.
func (o *Owners) StatefulSet(namespace, name string) (*appsv1.StatefulSet, error) {
	return get[*appsv1.StatefulSet](o, o.statefulSets, appsv1.Resource("statefulsets"), namespace, name)
}

// Job returns the named Job from the informer.
func (o *Owners) Job(namespace, name string) (*batchv1.Job, error) {
	return get[*batchv1.Job](o, o.jobs, batchv1.Resource("jobs"), namespace, name)
}

// ReplicationController returns the named ReplicationController from the informer.
func (o *Owners) ReplicationController(namespace, name string) (*corev1.ReplicationController, error) {
	return get[*corev1.ReplicationController](o, o.controllers, corev1.Resource("replicationcontrollers"), namespace, name)
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
	pod, err := get[*corev1.Pod](o, o.pods, corev1.Resource("pods"), namespace, name)
	if err != nil {
		return nil
	}
	return pod
}
