// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package localnode stands in for a kubelet: it runs the pods of Berth's programs as processes of
// this machine, with the arguments and the configuration that the pods say. So Berth is installed
// in a playground, and a Scheduler with spec.managed runs there, by the same Deployments,
// ReplicaSets and pods that run them in a cluster.
package localnode

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	listersv1 "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"

	"berth.dev/berth/pkg/localplane"
)

const (
	// workers is how many pods are looked after at a time. One that waits for its process to end
	// holds up no other.
	workers = 8
	// stopGrace is how long a process may take to end before it is killed.
	stopGrace = 10 * time.Second
	// The pause before a process that has ended is started again doubles each time.
	firstPause, longestPause = time.Second, 30 * time.Second
)

// Plane starts the processes.
type Plane interface {
	StartScheduler(ctx context.Context, configuration []byte, c localplane.Component) (*localplane.Process, string, error)
	StartControllerManager(ctx context.Context, c localplane.Component) (*localplane.Process, error)
	StartGateway(ctx context.Context, c localplane.Component) (*localplane.Process, string, error)
	// StateDir is where configurations are kept as files.
	StateDir() string
}

// Runner runs pods as processes.
type Runner struct {
	client kubernetes.Interface
	plane  Plane
	pods   listersv1.PodLister
	queue  workqueue.TypedRateLimitingInterface[key]
	pauses workqueue.TypedRateLimiter[key]

	informer cache.SharedIndexInformer

	mu       sync.Mutex
	children map[key]*child
}

// key names a pod. Another pod with the name of an earlier one has another process.
type key struct {
	name types.NamespacedName
	uid  types.UID
}

// child is the process of a pod.
type child struct {
	process  *localplane.Process
	restarts int32
	// notBefore is when a process that has ended may be started again.
	notBefore time.Time
}

// New returns a runner for the pods of Berth's programs, which are known by their images.
func New(client kubernetes.Interface, plane Plane) *Runner {
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace(localplane.BerthNamespace))
	pods := factory.Core().V1().Pods()
	limiter := workqueue.NewTypedItemExponentialFailureRateLimiter[key](firstPause, longestPause)
	return &Runner{
		client: client, plane: plane, pods: pods.Lister(), informer: pods.Informer(),
		queue: workqueue.NewTypedRateLimitingQueue[key](limiter), pauses: limiter, children: map[key]*child{},
	}
}

// Run runs pods until the context ends, and returns once it starts no further process. It leaves
// those that run to the control plane, which ends all that it started.
func (r *Runner) Run(ctx context.Context) error {
	_, err := r.informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: r.enqueue, UpdateFunc: func(_, pod any) { r.enqueue(pod) }, DeleteFunc: r.enqueue,
	})
	if err != nil {
		return fmt.Errorf("watching the pods of Berth: %w", err)
	}
	var all sync.WaitGroup
	all.Go(func() { r.informer.RunWithContext(ctx) })
	if cache.WaitForCacheSync(ctx.Done(), r.informer.HasSynced) {
		for range workers {
			all.Go(func() {
				for r.next(ctx) {
				}
			})
		}
	}
	<-ctx.Done()
	r.queue.ShutDown()
	all.Wait()
	return nil
}

func (r *Runner) enqueue(object any) {
	if gone, ok := object.(cache.DeletedFinalStateUnknown); ok {
		object = gone.Obj
	}
	if pod, ok := object.(*corev1.Pod); ok && programOf(pod) != "" {
		r.queue.Add(key{types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}, pod.UID})
	}
}

func (r *Runner) next(ctx context.Context) bool {
	k, down := r.queue.Get()
	if down {
		return false
	}
	defer r.queue.Done(k)
	if err := r.sync(ctx, k); err != nil && ctx.Err() == nil {
		klog.FromContext(ctx).Error(err, "Cannot look after a pod, trying again", "pod", k.name)
		r.queue.AddAfter(k, firstPause)
	}
	return true
}

// sync brings the process of a pod in line with the pod, and its status in line with the process.
func (r *Runner) sync(ctx context.Context, k key) error {
	pod, err := r.pods.Pods(k.name.Namespace).Get(k.name.Name)
	switch {
	case notFoundIsFine(err) != nil:
		return fmt.Errorf("reading pod %s: %w", k.name, err)
	case err != nil || pod.UID != k.uid:
		return r.stop(k)
	case pod.DeletionTimestamp != nil:
		return r.end(ctx, k)
	case pod.Spec.NodeName == "":
		return r.bind(ctx, k)
	case pod.Spec.NodeName != NodeName:
		return nil
	}
	c, err := r.run(ctx, k, pod)
	return r.report(ctx, pod, c, err)
}

// notFoundIsFine drops the error that says that there is no such object.
func notFoundIsFine(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// run starts the process of a pod unless it runs or has to wait, and returns a copy of what is
// known of it.
func (r *Runner) run(ctx context.Context, k key, pod *corev1.Pod) (child, error) {
	r.mu.Lock()
	c := r.children[k]
	if c == nil {
		c = &child{}
		r.children[k] = c
	}
	now := *c
	r.mu.Unlock()
	if now.alive() {
		return now, nil
	}
	if now.process != nil && now.notBefore.IsZero() {
		now.notBefore = time.Now().Add(r.pauses.When(k))
		now.restarts++
	}
	var err error
	if wait := time.Until(now.notBefore); wait > 0 {
		r.queue.AddAfter(k, wait)
	} else {
		now.process, err = r.start(ctx, k, pod)
		now.notBefore = time.Time{}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	*c = now
	return now, err
}

func (c child) alive() bool {
	if c.process == nil {
		return false
	}
	select {
	case <-c.process.Done():
		return false
	default:
		return true
	}
}

// start starts the process of a pod, and lets the pod be looked at again when it has ended.
func (r *Runner) start(ctx context.Context, k key, pod *corev1.Pod) (*localplane.Process, error) {
	process, err := r.launch(ctx, pod)
	if err != nil {
		return nil, err
	}
	go func() {
		<-process.Done()
		r.queue.Add(k)
	}()
	return process, nil
}

// end stops the process of a pod that is being deleted, and lets the pod go.
func (r *Runner) end(ctx context.Context, k key) error {
	if err := r.stop(k); err != nil {
		return err
	}
	now := int64(0)
	err := r.client.CoreV1().Pods(k.name.Namespace).Delete(ctx, k.name.Name, metav1.DeleteOptions{
		GracePeriodSeconds: &now, Preconditions: &metav1.Preconditions{UID: &k.uid},
	})
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		return fmt.Errorf("ending pod %s: %w", k.name, err)
	}
	return nil
}

// stop ends the process of a pod, if there is one, and forgets it.
func (r *Runner) stop(k key) error {
	r.mu.Lock()
	c := r.children[k]
	delete(r.children, k)
	r.mu.Unlock()
	r.pauses.Forget(k)
	if err := os.Remove(r.historyFile(k.name.Name)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("forgetting where the history is: %w", err)
	}
	if c == nil || c.process == nil {
		return nil
	}
	return c.process.Stop(stopGrace)
}
