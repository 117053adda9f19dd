// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package plugins_test

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"berth.dev/berth/pkg/minor"
	"berth.dev/berth/pkg/plugintest"
)

// Whoever waits when a process starts is let into the queue: while that hears of all pods that run,
// it would go through those that are held back again and again. They are held back when they come
// out of it.
func TestWhoWaitsAtTheStartIsHeldBackLater(t *testing.T) {
	deployment := plugintest.Deployment("web", 2)
	set := plugintest.ReplicaSet(deployment, "1")
	policy := plugintest.MakePolicy("web").Deployment("web").Weight(1, "berlin").Obj()
	waits := plugintest.MakePodOf(set, 1).Obj()
	s := plugintest.New(t, append(plugintest.Sites(1, "berlin"), policy, deployment, set),
		plugintest.WithKube(waits), plugintest.Held(), plugintest.Standby())
	queued := func() bool {
		return slices.ContainsFunc(s.SchedulingQueue.PodsInActiveQ(), func(pod *corev1.Pod) bool { return pod.UID == waits.UID })
	}
	if !queued() {
		t.Fatal("a pod that waits when the process starts is not in the queue")
	}

	s.Watch()
	popped := make(chan *framework.QueuedPodInfo)
	go func() {
		info, err := minor.Pop(klog.FromContext(s.Context()), s.Scheduler)
		if err != nil {
			t.Errorf("taking the pod out of the queue: %v", err)
		}
		popped <- info
	}()
	s.WaitFor("the pod to be held back", func() bool { return !queued() && s.Sleeps(waits) })
	select {
	case <-popped:
		t.Fatal("the pod comes out of the queue before the process knows what others have bound")
	default:
	}

	s.Fence.KeepOpen()
	if info := <-popped; info.Pod.UID != waits.UID || info.Attempts != 1 {
		t.Errorf("pod %s comes out at attempt %d, want %s at its first", klog.KObj(info.Pod), info.Attempts, klog.KObj(waits))
	}
}
