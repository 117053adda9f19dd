// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package adviser

import (
	"context"
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/workload"
)

// Kinds are the kinds of Kubernetes that the plugins read, those of the scheduler and those that
// admit pods.
func Kinds() []client.Object {
	return []client.Object{
		&corev1.Pod{}, &corev1.Node{}, &corev1.Namespace{}, &corev1.PersistentVolumeClaim{}, &corev1.PersistentVolume{},
		&storagev1.StorageClass{}, &storagev1.CSINode{}, &storagev1.CSIDriver{}, &storagev1.CSIStorageCapacity{}, &storagev1.VolumeAttachment{},
		&resourcev1.DeviceClass{}, &resourcev1.ResourceSlice{}, &resourcev1.ResourceClaim{}, &resourcev1.ResourceClaimTemplate{},
		&corev1.LimitRange{}, &nodev1.RuntimeClass{}, &schedulingv1.PriorityClass{},
	}
}

// Watch follows the kinds of Kubernetes. Of those that the API server does not serve, such as
// devices before Kubernetes 1.34, there are no objects. It must be called once, and is followed by
// WaitForSync.
func (a *Adviser) Watch(ctx context.Context, informers cache.Informers) error {
	for _, kind := range Kinds() {
		if err := a.handle(ctx, informers, kind, a.follower()); err != nil && !missing(err) {
			return err
		}
	}
	return nil
}

// WatchObjects follows Berth's own kinds. It must be called once they are served, before
// WaitForSync.
func (a *Adviser) WatchObjects(ctx context.Context, informers cache.Informers) error {
	for _, kind := range []client.Object{&berthv1alpha1.Cluster{}, &berthv1alpha1.ClusterResource{}} {
		changed := func(counts bool) {
			a.count(counts)
			a.mu.Lock()
			a.changes++
			listeners := a.listeners
			a.mu.Unlock()
			notify(listeners)
		}
		err := a.handle(ctx, informers, kind, toolscache.ResourceEventHandlerFuncs{
			AddFunc: func(any) { changed(true) }, UpdateFunc: func(before, after any) { changed(declaresAnew(before, after)) },
			DeleteFunc: func(any) { changed(true) },
		})
		if err != nil && !missing(err) {
			return err
		}
	}
	return nil
}

// WaitForSync waits until everything that there was has been seen, and lets questions be answered.
func (a *Adviser) WaitForSync(ctx context.Context) error {
	for _, handler := range a.handlers {
		if !toolscache.WaitForCacheSync(ctx.Done(), handler.HasSynced) {
			return fmt.Errorf("waiting for what fits: %w", ctx.Err())
		}
	}
	close(a.ready)
	return nil
}

func (a *Adviser) handle(
	ctx context.Context, informers cache.Informers, kind client.Object, handler toolscache.ResourceEventHandler,
) error {
	informer, err := informers.GetInformer(ctx, kind, cache.BlockUntilSynced(false))
	if err != nil {
		return fmt.Errorf("watching %T for what fits: %w", kind, err)
	}
	registered, err := informer.AddEventHandler(handler)
	if err != nil {
		return fmt.Errorf("watching %T for what fits: %w", kind, err)
	}
	if registered != nil {
		a.handlers = append(a.handlers, registered)
	}
	return nil
}

// missing reports whether the API server does not serve a kind.
func missing(err error) bool { return apimeta.IsNoMatchError(err) }

// follower takes up the objects that change.
func (a *Adviser) follower() toolscache.ResourceEventHandler {
	return toolscache.ResourceEventHandlerFuncs{
		AddFunc: func(object any) {
			a.change(object, a.put)
			a.count(!waits(object))
		},
		UpdateFunc: func(before, after any) {
			if matters(before, after) {
				a.change(after, a.put)
				a.count(!waits(after) || asksAnew(before, after))
			}
		},
		DeleteFunc: func(object any) {
			if tombstone, ok := object.(toolscache.DeletedFinalStateUnknown); ok {
				object = tombstone.Obj
			}
			a.change(object, a.drop)
			a.count(!waits(object))
		},
	}
}

// Version tells one state of the cluster from another: as long as it is the same, a pod that has
// found no node finds none. Pods that wait do not count, nor who is to try them.
func (a *Adviser) Version() uint64 { return a.version.Load() }

func (a *Adviser) count(changed bool) {
	if changed {
		a.version.Add(1)
	}
}

// declaresAnew reports whether more has changed of one of Berth's own objects than what is recorded
// of pods that run or wait.
func declaresAnew(before, after any) bool {
	if old, was := before.(*berthv1alpha1.ClusterResource); was {
		resource, is := after.(*berthv1alpha1.ClusterResource)
		return !is || old.Generation != resource.Generation || !apiequality.Semantic.DeepEqual(old.Status.Allocatable, resource.Status.Allocatable)
	}
	old, was := before.(client.Object)
	object, is := after.(client.Object)
	return !was || !is || old.GetGeneration() != object.GetGeneration()
}

// waits reports whether an object is a pod without a node.
func waits(object any) bool {
	pod, ok := object.(*corev1.Pod)
	return ok && pod.Spec.NodeName == ""
}

// asksAnew reports whether a pod that waits wants something else than before.
func asksAnew(before, after any) bool {
	old, wasPod := before.(*corev1.Pod)
	pod, isPod := after.(*corev1.Pod)
	return !wasPod || !isPod || old.UID != pod.UID || !apiequality.Semantic.DeepEqual(old.Spec, pod.Spec)
}

func (a *Adviser) change(object any, apply func(runtime.Object) error) {
	typed, ok := object.(runtime.Object)
	if !ok {
		return
	}
	a.mu.Lock()
	if err := apply(typed); err != nil && a.err == nil {
		a.err = err
	}
	listeners := a.listeners
	a.mu.Unlock()
	notify(listeners)
}

// put takes up an object: those that admission reads do not concern the scheduler.
func (a *Adviser) put(object runtime.Object) error {
	if a.server.Reads(object) {
		return a.server.Put(object)
	}
	return a.snapshot.Put(object)
}

func (a *Adviser) drop(object runtime.Object) error {
	if a.server.Reads(object) {
		return a.server.Drop(object)
	}
	return a.snapshot.Drop(object)
}

// OnChange lets a function be called after each change that may make another answer right. It must
// return at once.
func (a *Adviser) OnChange(listener func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.listeners = append(a.listeners, listener)
}

func notify(listeners []func()) {
	for _, listener := range listeners {
		listener()
	}
}

// matters reports whether a change can make a difference to what fits. Of pods most changes are of
// their status, and of nodes they are heartbeats, which leave no trace in the cache; a volume is
// counted on its node whether it has been attached yet or not.
func matters(before, after any) bool {
	if was, is := before.(*corev1.Node); is {
		node, still := after.(*corev1.Node)
		return !still || nodeMatters(was, node)
	}
	if was, is := before.(*storagev1.VolumeAttachment); is {
		attachment, still := after.(*storagev1.VolumeAttachment)
		return !still || !apiequality.Semantic.DeepEqual(was.Spec, attachment.Spec)
	}
	old, wasPod := before.(*corev1.Pod)
	pod, isPod := after.(*corev1.Pod)
	if !wasPod || !isPod {
		return true
	}
	return podMatters(old, pod)
}

func podMatters(old, pod *corev1.Pod) bool {
	return old.UID != pod.UID || old.Spec.NodeName != pod.Spec.NodeName || workload.Finished(old) != workload.Finished(pod) ||
		(old.DeletionTimestamp == nil) != (pod.DeletionTimestamp == nil) ||
		!maps.Equal(old.Labels, pod.Labels) || !maps.Equal(old.Annotations, pod.Annotations) ||
		!apiequality.Semantic.DeepEqual(old.Spec, pod.Spec) || resized(old.Status.ContainerStatuses, pod.Status.ContainerStatuses) ||
		resized(old.Status.InitContainerStatuses, pod.Status.InitContainerStatuses)
}

// resized reports whether containers have other resources than before. Of those that have what they
// ask for the cache has no status.
func resized(before, after []corev1.ContainerStatus) bool {
	return !apiequality.Semantic.DeepEqual(before, after)
}

func nodeMatters(before, after *corev1.Node) bool {
	return before.UID != after.UID || !maps.Equal(before.Labels, after.Labels) ||
		!apiequality.Semantic.DeepEqual(before.Spec, after.Spec) || !apiequality.Semantic.DeepEqual(before.Status, after.Status)
}
