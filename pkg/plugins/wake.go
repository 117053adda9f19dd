// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package plugins

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"berth.dev/berth/pkg/model/demand"
	"berth.dev/berth/pkg/model/stamp"
	"berth.dev/berth/pkg/plugins/internal/catalog"
	"berth.dev/berth/pkg/plugins/internal/ledger"
	"berth.dev/berth/pkg/plugins/internal/view"
)

// wakeConcerned wakes the pods that a change of Clusters or policies may concern.
func (s *State) wakeConcerned(before, after *catalog.Snapshot) {
	if before != nil && after != nil && before.Matcher != after.Matcher {
		s.further.changed()
	}
	namespaces, moved, all := catalog.ChangedNamespaces(before, after)
	if all || catalog.Uncordoned(before, after) {
		s.wake(s.base.owners.Pending(""))
		return
	}
	for namespace := range namespaces {
		pods := s.base.owners.Pending(namespace)
		if !moved {
			pods = slices.DeleteFunc(pods, func(pod *corev1.Pod) bool { return !catalog.AnotherPolicy(before, after, pod, s.base.owners) })
		}
		s.wake(pods)
	}
	if s.metrics != nil {
		s.wake(s.metrics.Helped(before, after, s.base.owners.Pending("")))
	}
}

// asking returns the pods that ask for ClusterResources and are not bound yet.
func (s *State) asking() []*corev1.Pod {
	return slices.DeleteFunc(s.base.owners.Pending(""), func(pod *corev1.Pod) bool { return !demand.Asks(pod) })
}

// wakeForNode wakes the pods that ask for ClusterResources and wait for something else when a node
// comes or can take more. The hint by which the stock scheduler wakes pods that are short of cpu
// takes a resource that it was told to ignore for one that the node lacks, so it would leave them
// asleep.
func (s *State) wakeForNode() {
	// The scheduler learns of the node by a handler of its own, at the same time as this one.
	for _, pause := range []time.Duration{nodeSettles, 10 * nodeSettles} {
		s.Clock.AfterFunc(pause, func() {
			s.wake(slices.DeleteFunc(s.asking(), func(pod *corev1.Pod) bool { return s.resources.Waiting.Has(pod.UID) }))
		})
	}
}

// nodeSettles is how long the scheduler may take to know a node.
const nodeSettles = 100 * time.Millisecond

// watchNodes calls changed when a node comes or can take more.
func (b *base) watchNodes(changed func()) error {
	_, err := b.handle.SharedInformerFactory().Core().V1().Nodes().Informer().AddEventHandler(cache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(_ any, initial bool) {
			if !initial {
				changed()
			}
		},
		UpdateFunc: func(oldObj, newObj any) {
			before, okBefore := oldObj.(*corev1.Node)
			after, okAfter := newObj.(*corev1.Node)
			if okBefore && okAfter && takesMore(before, after) {
				changed()
			}
		},
	})
	if err != nil {
		return fmt.Errorf("watching nodes: %w", err)
	}
	return nil
}

func takesMore(before, after *corev1.Node) bool {
	return before.Spec.Unschedulable && !after.Spec.Unschedulable ||
		!equality.Semantic.DeepEqual(before.Status.Allocatable, after.Status.Allocatable) ||
		!equality.Semantic.DeepEqual(before.Spec.Taints, after.Spec.Taints)
}

// wake moves pods to the queue of those to be scheduled next, whatever they wait for.
func (s *State) wake(pods []*corev1.Pod) {
	if len(pods) == 0 {
		return
	}
	byName := make(map[string]*corev1.Pod, len(pods))
	for _, pod := range pods {
		byName[pod.Namespace+"/"+pod.Name] = pod
	}
	s.base.handle.Activate(klog.Background(), byName)
}

// forgetter drops what is remembered of pods once their stamp tells it, or when they are gone. The
// first update with the stamp does not count: the scheduler's own cache may not have seen it yet.
func (s *State) forgetter(elsewhere *view.Elsewhere) cache.ResourceEventHandler {
	return cache.ResourceEventHandlerFuncs{
		UpdateFunc: func(oldObj, newObj any) {
			before, okBefore := oldObj.(*corev1.Pod)
			after, okAfter := newObj.(*corev1.Pod)
			if !okBefore || !okAfter {
				return
			}
			if before.Spec.NodeName == "" {
				s.changed(before, after)
			}
			s.noteVictim(before, after)
			if _, reserved := s.reservations.Get(after.UID); !reserved {
				return
			}
			_, stampedBefore := stamp.Of(before)
			if _, stamped := stamp.Of(after); stamped && stampedBefore {
				s.reservations.Drop(after.UID)
			}
		},
		DeleteFunc: func(object any) {
			if tombstone, ok := object.(cache.DeletedFinalStateUnknown); ok {
				object = tombstone.Obj
			}
			if pod, ok := object.(*corev1.Pod); ok {
				s.reservations.Drop(pod.UID)
				elsewhere.Drop(pod.UID)
				s.retries.Drop(pod.UID)
				s.early.Take(pod.UID)
				s.pending.Drop(pod.UID)
				s.waitsNoLonger(pod.UID)
				s.late.Gone(pod.UID)
				s.victims.gone(pod.UID)
				if s.resources != nil {
					s.resources.Late.Settled(pod.UID)
					s.resources.Gone(pod)
				}
			}
		},
	}
}

// hearer notes the seats that others give to bound pods, as soon as the informer receives those. It
// may read what the informer stores, and ask it nothing else: it is called under its lock.
func (s *State) hearer(elsewhere *view.Elsewhere, known ledger.PodGetter) func(object any) {
	return func(object any) {
		pod, ok := object.(*corev1.Pod)
		if !ok || pod.Spec.NodeName == "" {
			return
		}
		if own, reserved := s.reservations.Get(pod.UID); reserved {
			if placed, _ := stamp.Of(pod); placed == own {
				return
			}
		}
		if before := known.Pod(pod.Namespace, pod.Name); before != nil && before.UID == pod.UID {
			elsewhere.Received(pod, before)
		}
	}
}

// changed notes how a pod has changed that had no node.
func (s *State) changed(before, after *corev1.Pod) {
	if after.Spec.NodeName != "" || after.DeletionTimestamp != nil {
		s.waitsNoLonger(after.UID)
	}
	if s.late.Pending.Load() {
		s.late.Changed(after)
	}
	if s.resources != nil {
		s.resources.Edited(before, after)
	}
}

// waits reports whether a pod still is there and has no node.
func (b *base) waits(pod *corev1.Pod) bool { return b.mayRun(pod, "") }

// mayRun reports whether a pod that is to run on a node still waits, or runs there by now.
func (b *base) mayRun(pod *corev1.Pod, node string) bool {
	now := b.owners.Pod(pod.Namespace, pod.Name)
	return now != nil && now.UID == pod.UID &&
		(now.Spec.NodeName == "" && now.DeletionTimestamp == nil || node != "" && now.Spec.NodeName == node)
}

// failureTimeout bounds how long the scheduler waits for the API server to take down why an attempt
// has failed. It waits in the scheduling cycle: without an answer to that one request it would
// place nobody else until the connection ends. The pod is tried again in any case, and if that
// fails its status is written then.
const failureTimeout = 5 * time.Second

// Follow lets the waiting lines know when an attempt of the scheduler has failed, whatever rejected
// the pod, so that a place or units which were meant for it go to the next one at once. It must be
// called before the scheduler runs. Without it that takes a second. What a pod asks for is kept for
// it while others make way for it on the node to which it is nominated, whatever plugin says so. A
// failure that cannot be told to the API server stops the scheduler for failureTimeout at most.
func (s *State) Follow(sched *scheduler.Scheduler) {
	s.mu.Lock()
	s.profiles = sched.Profiles
	s.mu.Unlock()
	s.askLater(sched)
	handle := sched.FailureHandler
	sched.FailureHandler = func(
		ctx context.Context, profile framework.Framework, info *framework.QueuedPodInfo, status *fwk.Status,
		nominating *fwk.NominatingInfo, start time.Time,
	) {
		pod := info.Pod.UID
		s.failed(info.Pod, status, nominating)
		if s.resources != nil {
			s.nominated(info.Pod, nominating)
		}
		telling, end := context.WithTimeout(ctx, failureTimeout)
		handle(telling, profile, info, status, nominating, start)
		end()
		if s.groups != nil {
			s.groups.Waiting.Ended(pod)
		}
		if s.resources != nil {
			s.resources.Waiting.Ended(pod)
		}
	}
}

// nominated keeps what a pod asks for if an attempt nominated it to a node.
func (s *State) nominated(pod *corev1.Pod, nominating *fwk.NominatingInfo) {
	if nominating.Mode() == fwk.ModeOverride && nominating.NominatedNodeName != "" && demand.Asks(pod) && s.base.waits(pod) {
		s.resources.Earmarks.Nominate(pod, nominating.NominatedNodeName)
	}
}

// held reports whether a plugin would keep a pod out of the queue.
func (s *State) held(ctx context.Context, pod *corev1.Pod) bool {
	s.mu.Lock()
	profile := s.profiles[pod.Spec.SchedulerName]
	s.mu.Unlock()
	if profile == nil {
		return false
	}
	if now := s.base.owners.Pod(pod.Namespace, pod.Name); now != nil {
		pod = now
	}
	return slices.ContainsFunc(profile.PreEnqueuePlugins(), func(plugin fwk.PreEnqueuePlugin) bool {
		return !plugin.PreEnqueue(ctx, pod).IsSuccess()
	})
}

func (s *State) waitsNoLonger(pod types.UID) {
	s.victims.waitsNoLonger(pod)
	if s.groups != nil {
		s.groups.Waiting.Drop(pod)
	}
	if s.resources != nil {
		s.resources.Earmarks.Drop(pod)
		s.resources.Waiting.Drop(pod)
	}
}
