// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package owners looks up the owners of pods in the scheduler's informers, and finds the pods that wait.
package owners

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	appslisters "k8s.io/client-go/listers/apps/v1"
	batchlisters "k8s.io/client-go/listers/batch/v1"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"

	"berth.dev/berth/pkg/workload"
)

// pendingIndex lists the pods that are not bound yet by namespace, so that waking them does not touch all the others.
const pendingIndex = "berth.dev/pending"

// Owners is a workload.Source over the scheduler's shared informers. It is safe for concurrent use.
type Owners struct {
	deployments  appslisters.DeploymentLister
	replicaSets  appslisters.ReplicaSetLister
	statefulSets appslisters.StatefulSetLister
	jobs         batchlisters.JobLister
	controllers  corelisters.ReplicationControllerLister
	pods         corelisters.PodLister
	podIndex     cache.Indexer
}

var _ workload.Source = &Owners{}

// New registers the informers it needs with the factory, which must not have been started yet. Whenever the number of
// replicas that an owner wants changes, or an owner appears, wake is called with the pods that wait for it.
func New(factory informers.SharedInformerFactory, wake func(pods []*corev1.Pod)) (*Owners, error) {
	podInformer := factory.Core().V1().Pods()
	if err := podInformer.Informer().AddIndexers(cache.Indexers{pendingIndex: pendingNamespace}); err != nil {
		return nil, fmt.Errorf("indexing pods that wait: %w", err)
	}
	o := &Owners{
		deployments:  factory.Apps().V1().Deployments().Lister(),
		replicaSets:  factory.Apps().V1().ReplicaSets().Lister(),
		statefulSets: factory.Apps().V1().StatefulSets().Lister(),
		jobs:         factory.Batch().V1().Jobs().Lister(),
		controllers:  factory.Core().V1().ReplicationControllers().Lister(),
		pods:         podInformer.Lister(),
		podIndex:     podInformer.Informer().GetIndexer(),
	}
	for kind, informer := range map[string]cache.SharedIndexInformer{
		"Deployments":            factory.Apps().V1().Deployments().Informer(),
		"ReplicaSets":            factory.Apps().V1().ReplicaSets().Informer(),
		"StatefulSets":           factory.Apps().V1().StatefulSets().Informer(),
		"Jobs":                   factory.Batch().V1().Jobs().Informer(),
		"ReplicationControllers": factory.Core().V1().ReplicationControllers().Informer(),
	} {
		if _, err := informer.AddEventHandler(o.handler(wake)); err != nil {
			return nil, fmt.Errorf("watching %s: %w", kind, err)
		}
	}
	return o, nil
}

func pendingNamespace(object any) ([]string, error) {
	pod, ok := object.(*corev1.Pod)
	if !ok || pod.Spec.NodeName != "" || pod.DeletionTimestamp != nil {
		return nil, nil
	}
	return []string{pod.Namespace}, nil
}

// handler wakes the pods of an owner that appears or wants another number of replicas.
func (o *Owners) handler(wake func([]*corev1.Pod)) cache.ResourceEventHandler {
	notify := func(object any) {
		owner, ok := object.(metav1.Object)
		if !ok {
			return
		}
		if pods := o.pendingOf(owner.GetNamespace(), owner.GetUID()); len(pods) > 0 {
			wake(pods)
		}
	}
	return cache.ResourceEventHandlerFuncs{
		AddFunc: notify,
		UpdateFunc: func(oldObj, newObj any) {
			if replicas(oldObj) != replicas(newObj) {
				notify(newObj)
			}
		},
	}
}

func replicas(object any) int32 {
	switch owner := object.(type) {
	case *appsv1.Deployment:
		return valueOr(owner.Spec.Replicas, 1)
	case *appsv1.ReplicaSet:
		return valueOr(owner.Spec.Replicas, 1)
	case *appsv1.StatefulSet:
		return valueOr(owner.Spec.Replicas, 1)
	case *corev1.ReplicationController:
		return valueOr(owner.Spec.Replicas, 1)
	case *batchv1.Job:
		return workload.JobReplicas(owner)
	}
	return 0
}

func valueOr(value *int32, absent int32) int32 {
	if value == nil {
		return absent
	}
	return *value
}

// Pending returns the pods of a namespace that are not bound yet, of all namespaces if it is empty.
func (o *Owners) Pending(namespace string) []*corev1.Pod {
	var pods []*corev1.Pod
	namespaces := []string{namespace}
	if namespace == "" {
		namespaces = o.podIndex.ListIndexFuncValues(pendingIndex)
	}
	for _, ns := range namespaces {
		objects, err := o.podIndex.ByIndex(pendingIndex, ns)
		if err != nil {
			continue
		}
		for _, object := range objects {
			if pod, ok := object.(*corev1.Pod); ok {
				pods = append(pods, pod)
			}
		}
	}
	return pods
}

// pendingOf returns the pods that wait and are controlled by the owner, directly or through a ReplicaSet.
func (o *Owners) pendingOf(namespace string, owner types.UID) []*corev1.Pod {
	var pods []*corev1.Pod
	for _, pod := range o.Pending(namespace) {
		ref := metav1.GetControllerOfNoCopy(pod)
		if ref == nil {
			continue
		}
		if ref.UID == owner || o.ownerOfReplicaSet(namespace, ref) == owner {
			pods = append(pods, pod)
		}
	}
	return pods
}

func (o *Owners) ownerOfReplicaSet(namespace string, ref *metav1.OwnerReference) types.UID {
	if ref.Kind != "ReplicaSet" {
		return ""
	}
	set, err := o.replicaSets.ReplicaSets(namespace).Get(ref.Name)
	if err != nil || set.UID != ref.UID {
		return ""
	}
	if parent := metav1.GetControllerOfNoCopy(set); parent != nil {
		return parent.UID
	}
	return ""
}

// Deployment returns the named Deployment from the informer.
func (o *Owners) Deployment(namespace, name string) (*appsv1.Deployment, error) {
	return o.deployments.Deployments(namespace).Get(name)
}

// ReplicaSet returns the named ReplicaSet from the informer.
func (o *Owners) ReplicaSet(namespace, name string) (*appsv1.ReplicaSet, error) {
	return o.replicaSets.ReplicaSets(namespace).Get(name)
}

// StatefulSet returns the named StatefulSet from the informer.
func (o *Owners) StatefulSet(namespace, name string) (*appsv1.StatefulSet, error) {
	return o.statefulSets.StatefulSets(namespace).Get(name)
}

// Job returns the named Job from the informer.
func (o *Owners) Job(namespace, name string) (*batchv1.Job, error) {
	return o.jobs.Jobs(namespace).Get(name)
}

// ReplicationController returns the named ReplicationController from the informer.
func (o *Owners) ReplicationController(namespace, name string) (*corev1.ReplicationController, error) {
	return o.controllers.ReplicationControllers(namespace).Get(name)
}

// BoundPods returns all pods that are bound to a node.
func (o *Owners) BoundPods() []*corev1.Pod {
	var bound []*corev1.Pod
	for _, object := range o.podIndex.List() {
		if pod, ok := object.(*corev1.Pod); ok && pod.Spec.NodeName != "" {
			bound = append(bound, pod)
		}
	}
	return bound
}

// Pod returns the pod, or nil if it is gone.
func (o *Owners) Pod(namespace, name string) *corev1.Pod {
	pod, err := o.pods.Pods(namespace).Get(name)
	if apierrors.IsNotFound(err) {
		return nil
	}
	return pod
}
