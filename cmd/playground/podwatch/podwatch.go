// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package podwatch records what happens to the pods of a workload, for claims about what never
// happens: that no pod was evicted, that so many replicas were ready all the time.
package podwatch

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"
)

const (
	// catchUpTimeout bounds how long Stop waits for events that are under way.
	catchUpTimeout = time.Minute
	catchUpPoll    = 20 * time.Millisecond
)

// Gone is a pod that was deleted while it was watched.
type Gone struct {
	// Name and Node are those of the pod.
	Name, Node string
	// Evicted is true if the eviction API deleted it.
	Evicted bool
}

// Seen is what a Recorder saw between Start and Stop.
type Seen struct {
	// MinReady is the smallest number of ready pods that there was at any moment. A pod that is
	// being deleted is not ready.
	MinReady int
	// Evicted is the number of pods that the eviction API took away, including those still
	// terminating.
	Evicted int
	// Gone are the pods that were deleted, in the order of their end.
	Gone []Gone
	// Rebound are the names of pods that changed their node after they had got one.
	Rebound []string
}

// Recorder watches pods. All its methods may be called concurrently.
type Recorder struct {
	list    func(context.Context) (*corev1.PodList, error)
	watcher watch.Interface
	done    chan struct{}

	mu      sync.Mutex
	pods    map[types.UID]*corev1.Pod
	evicted map[types.UID]bool
	seen    Seen
	err     error
}

// Start begins to record the pods of the namespace that the label selector selects.
func Start(ctx context.Context, client kubernetes.Interface, namespace, selector string) (*Recorder, error) {
	pods := client.CoreV1().Pods(namespace)
	list := func(ctx context.Context) (*corev1.PodList, error) {
		return pods.List(ctx, metav1.ListOptions{LabelSelector: selector})
	}
	first, err := list(ctx)
	if err != nil {
		return nil, fmt.Errorf("listing the pods to record: %w", err)
	}
	// The API server drops a watch that cannot keep up on a busy machine. This one goes on where it
	// was dropped.
	watcher, err := watchtools.NewRetryWatcherWithContext(ctx, first.ResourceVersion, &cache.ListWatch{
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			options.LabelSelector = selector
			return pods.Watch(ctx, options)
		},
	})
	if err != nil {
		return nil, fmt.Errorf("watching the pods to record: %w", err)
	}
	r := &Recorder{
		list:    list,
		watcher: watcher,
		done:    make(chan struct{}),
		pods:    map[types.UID]*corev1.Pod{},
		evicted: map[types.UID]bool{},
	}
	for i := range first.Items {
		r.pods[first.Items[i].UID] = &first.Items[i]
	}
	r.seen.MinReady = r.ready()
	go r.run()
	return r, nil
}

// Stop ends the recording once everything that had happened before the call is recorded. It fails
// if the watch broke, because then something may have gone unseen.
func (r *Recorder) Stop(ctx context.Context) (Seen, error) {
	err := wait.PollUntilContextTimeout(ctx, catchUpPoll, catchUpTimeout, true, func(ctx context.Context) (bool, error) {
		live, err := r.list(ctx)
		if err != nil {
			return false, err
		}
		return r.knows(live.Items), r.failure()
	})
	r.watcher.Stop()
	<-r.done
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil {
		return Seen{}, fmt.Errorf("recording pods: %w", err)
	}
	seen := r.seen
	seen.Evicted = len(r.evicted)
	seen.Gone, seen.Rebound = slices.Clone(seen.Gone), slices.Clone(seen.Rebound)
	return seen, nil
}

// run ends when the watch ends for good, which is a failure unless Stop ended it.
func (r *Recorder) run() {
	defer close(r.done)
	for event := range r.watcher.ResultChan() {
		r.record(event)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err == nil {
		r.err = errors.New("the watch ended")
	}
}

func (r *Recorder) record(event watch.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	pod, ok := event.Object.(*corev1.Pod)
	if !ok {
		if event.Type == watch.Error {
			r.err = fmt.Errorf("the watch broke: %v", event.Object)
		}
		return
	}
	if isEvicted(pod) {
		r.evicted[pod.UID] = true
	}
	if before := r.pods[pod.UID]; before != nil && before.Spec.NodeName != "" && before.Spec.NodeName != pod.Spec.NodeName {
		r.seen.Rebound = append(r.seen.Rebound, pod.Name)
	}
	if event.Type == watch.Deleted {
		delete(r.pods, pod.UID)
		r.seen.Gone = append(r.seen.Gone, Gone{Name: pod.Name, Node: pod.Spec.NodeName, Evicted: r.evicted[pod.UID]})
	} else {
		r.pods[pod.UID] = pod
	}
	r.seen.MinReady = min(r.seen.MinReady, r.ready())
}

func (r *Recorder) failure() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// ready counts the pods that are ready now. The caller holds the lock or is alone.
func (r *Recorder) ready() int {
	n := 0
	for _, pod := range r.pods {
		if IsReady(pod) {
			n++
		}
	}
	return n
}

// knows tells whether these are exactly the pods that the events have told of.
func (r *Recorder) knows(live []corev1.Pod) bool {
	versions := make(map[types.UID]string, len(live))
	for i := range live {
		versions[live[i].UID] = live[i].ResourceVersion
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	known := make(map[types.UID]string, len(r.pods))
	for uid, pod := range r.pods {
		known[uid] = pod.ResourceVersion
	}
	return maps.Equal(versions, known)
}

// IsReady tells whether the pod serves: it is ready and nobody has asked it to end.
func IsReady(pod *corev1.Pod) bool {
	return pod.DeletionTimestamp == nil && hasCondition(pod, corev1.PodReady, "")
}

// isEvicted tells whether the eviction API took the pod away: it leaves a condition before it
// deletes.
func isEvicted(pod *corev1.Pod) bool {
	return hasCondition(pod, corev1.DisruptionTarget, "EvictionByEvictionAPI")
}

// hasCondition tells whether the condition is true, for the reason if one is given.
func hasCondition(pod *corev1.Pod, kind corev1.PodConditionType, reason string) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == kind && c.Status == corev1.ConditionTrue && (reason == "" || c.Reason == reason)
	})
}

// String names the pods that were deleted, for error messages.
func (s Seen) String() string {
	names := make([]string, 0, len(s.Gone))
	for _, gone := range s.Gone {
		how := "deleted"
		if gone.Evicted {
			how = "evicted"
		}
		names = append(names, fmt.Sprintf("%s on %s (%s)", gone.Name, gone.Node, how))
	}
	return fmt.Sprintf("at least %d pods were ready, %d evicted, gone: %s, bound twice: %s",
		s.MinReady, s.Evicted, strings.Join(names, ", "), strings.Join(s.Rebound, ", "))
}
