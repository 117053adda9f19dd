// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package world

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// startsIn returns how long it takes until a pod runs that has just been bound.
func (w *World) startsIn(pod *corev1.Pod) time.Duration {
	if w.fleet != nil {
		return w.fleet.startsIn(pod)
	}
	return w.pause("start of "+pod.Name, time.Second)
}

// startPod is what a kubelet does for a pod that it was given.
func (w *World) startPod(name string) {
	pod := w.pods[name]
	if pod == nil || pod.Status.Phase != corev1.PodPending || pod.Spec.NodeName == "" || !w.nodeWorks(pod.Spec.NodeName) {
		return
	}
	w.setRunning(name, w.fleet == nil || w.fleet.starts(pod))
}

// setRunning writes that a pod runs, and whether it is ready.
func (w *World) setRunning(name string, ready bool) {
	at := time.Now().UTC().Format(time.RFC3339)
	kinds := []string{"PodScheduled", "Initialized", "ContainersReady", "Ready"}
	conditions := make([]object, len(kinds))
	for i, kind := range kinds {
		status := "True"
		if i >= 2 && !ready {
			status = "False"
		}
		conditions[i] = object{"type": kind, "status": status, "lastTransitionTime": at}
	}
	w.act("patch", pods, name, "status", object{"status": object{"phase": "Running", "startTime": at, "conditions": conditions}})
}

// endPod is what a kubelet does for a pod that is to end, and the garbage collector if there is no
// kubelet any more.
func (w *World) endPod(pod *corev1.Pod) {
	now := w.pods[pod.Name]
	if now == nil || now.UID != pod.UID {
		return
	}
	if w.nodes[pod.Spec.NodeName] != nil && !w.nodeWorks(pod.Spec.NodeName) {
		if w.fleet == nil { // whose pods end when their site is back
			w.after(time.Second, func() { w.endPod(pod) })
		}
		return
	}
	w.act("delete", pods, pod.Name, "", metav1.DeleteOptions{GracePeriodSeconds: ptr.To(int64(0))})
}

func (w *World) nodeWorks(name string) bool {
	node := w.nodes[name]
	return node != nil && !w.broken[name]
}
