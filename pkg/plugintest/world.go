// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package plugintest

import (
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// Add makes objects known: Clusters, policies and ClusterResources to the fake API server, nodes
// and bound pods to the scheduler's cache, owners and pods to the informers. No handler of an
// informer is called, except for those of Clusters and policies.
func (s *Scheduler) Add(objects ...runtime.Object) {
	s.tb.Helper()
	logger := klog.FromContext(s.Context())
	for _, object := range objects {
		var err error
		switch o := object.(type) {
		case *berthv1alpha1.Cluster, *berthv1alpha1.PropagationPolicy, *berthv1alpha1.ClusterResource, *berthv1alpha1.Scheduler,
			*berthv1alpha1.Subscription:
			err = s.Berth.Tracker().Add(o)
		case *corev1.Node:
			s.Cache.AddNode(logger, o)
			err = s.indexer(o).Add(o)
		case *corev1.Pod:
			err = s.indexer(o).Add(o)
			if err == nil && o.Spec.NodeName != "" {
				err = s.Cache.AddPod(logger, o)
			}
		default:
			err = s.indexer(object).Add(o)
		}
		if err != nil {
			s.tb.Fatalf("adding a %T: %v", object, err)
		}
	}
}

// Update changes a pod, node or owner and returns it.
func Update[T runtime.Object](s *Scheduler, object T, change func(T)) T {
	s.tb.Helper()
	changed, ok := object.DeepCopyObject().(T)
	if !ok {
		s.tb.Fatalf("a copy of a %T is none", object)
	}
	change(changed)
	logger := klog.FromContext(s.Context())
	var err error
	switch o := any(changed).(type) {
	case *corev1.Node:
		if before, isNode := any(object).(*corev1.Node); isNode {
			s.Cache.UpdateNode(logger, before, o)
		}
	case *corev1.Pod:
		err = s.indexer(o).Update(o)
		if before, isPod := any(object).(*corev1.Pod); err == nil && isPod && before.Spec.NodeName != "" {
			err = s.Cache.UpdatePod(logger, before, o)
		}
	default:
		err = s.indexer(changed).Update(o)
	}
	if err != nil {
		s.tb.Fatalf("updating a %T: %v", object, err)
	}
	return changed
}

// Terminate marks a bound pod as being deleted.
func (s *Scheduler) Terminate(pod *corev1.Pod) *corev1.Pod {
	s.tb.Helper()
	return Update(s, pod, func(p *corev1.Pod) {
		now := metav1.Now()
		p.DeletionTimestamp = &now
	})
}

// Remove makes objects unknown: nodes, pods and owners.
func (s *Scheduler) Remove(objects ...runtime.Object) {
	s.tb.Helper()
	logger := klog.FromContext(s.Context())
	for _, object := range objects {
		var err error
		switch o := object.(type) {
		case *corev1.Node:
			err = s.Cache.RemoveNode(logger, o)
			if err == nil {
				err = s.indexer(o).Delete(o)
			}
		case *corev1.Pod:
			err = s.indexer(o).Delete(o)
			if err == nil && o.Spec.NodeName != "" {
				err = s.Cache.RemovePod(logger, o)
			}
		default:
			err = s.indexer(object).Delete(o)
		}
		if err != nil {
			s.tb.Fatalf("removing a %T: %v", object, err)
		}
	}
}

func (s *Scheduler) indexer(object runtime.Object) cache.Indexer {
	s.tb.Helper()
	switch object.(type) {
	case *corev1.Pod:
		return s.Informers.Core().V1().Pods().Informer().GetIndexer()
	case *corev1.Node:
		return s.Informers.Core().V1().Nodes().Informer().GetIndexer()
	case *appsv1.Deployment:
		return s.Informers.Apps().V1().Deployments().Informer().GetIndexer()
	case *appsv1.ReplicaSet:
		return s.Informers.Apps().V1().ReplicaSets().Informer().GetIndexer()
	case *appsv1.StatefulSet:
		return s.Informers.Apps().V1().StatefulSets().Informer().GetIndexer()
	case *batchv1.Job:
		return s.Informers.Batch().V1().Jobs().Informer().GetIndexer()
	case *batchv1.CronJob:
		return s.Informers.Batch().V1().CronJobs().Informer().GetIndexer()
	case *corev1.ReplicationController:
		return s.Informers.Core().V1().ReplicationControllers().Informer().GetIndexer()
	}
	s.tb.Fatalf("no informer of %T", object)
	return nil
}

// Knows reports whether the informer of an owner or waiting pod, or the cache in case of a node or
// bound pod, has the object.
func (s *Scheduler) Knows(object metav1.Object) bool {
	s.tb.Helper()
	switch o := object.(type) {
	case *corev1.Node:
		_, known := s.Cache.Dump().Nodes[o.Name]
		return known
	case *corev1.Pod:
		if o.Spec.NodeName != "" {
			_, err := s.Cache.GetPod(o)
			return err == nil
		}
	}
	runtimeObject, ok := object.(runtime.Object)
	if !ok {
		return false
	}
	_, known, err := s.indexer(runtimeObject).Get(object)
	return err == nil && known
}
