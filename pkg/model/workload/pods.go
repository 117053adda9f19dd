// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import corev1 "k8s.io/api/core/v1"

// Finished reports whether all containers of a pod have ended for good, so that it takes no place
// any more.
func Finished(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

// Lives reports whether a pod is neither terminating nor finished.
func Lives(pod *corev1.Pod) bool {
	return pod.DeletionTimestamp == nil && !Finished(pod)
}

// Pending reports whether a pod lives and is not bound to a node yet.
func Pending(pod *corev1.Pod) bool {
	return pod.Spec.NodeName == "" && Lives(pod)
}

// Ready reports whether the condition Ready of a pod is true.
func Ready(pod *corev1.Pod) bool {
	c := condition(pod, corev1.PodReady)
	return c != nil && c.Status == corev1.ConditionTrue
}

// Unschedulable reports whether a scheduler has tried to place a pod, and found no node for it.
func Unschedulable(pod *corev1.Pod) bool {
	c := condition(pod, corev1.PodScheduled)
	return c != nil && c.Status == corev1.ConditionFalse && c.Reason == corev1.PodReasonUnschedulable
}

func condition(pod *corev1.Pod, kind corev1.PodConditionType) *corev1.PodCondition {
	for i := range pod.Status.Conditions {
		if pod.Status.Conditions[i].Type == kind {
			return &pod.Status.Conditions[i]
		}
	}
	return nil
}
