// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"cmp"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	corev1helpers "k8s.io/component-helpers/scheduling/corev1"
)

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

// Tried reports whether a scheduler may try a pod: it waits for a node, and for no scheduling gate.
func Tried(pod *corev1.Pod) bool {
	return Pending(pod) && len(pod.Spec.SchedulingGates) == 0
}

// Maker returns the UID of the controller that a pod names, or the pod's own without one.
func Maker(pod *corev1.Pod) types.UID {
	if controller := metav1.GetControllerOfNoCopy(pod); controller != nil {
		return controller.UID
	}
	return pod.UID
}

// CompareQueued compares pods by when the scheduler's queue tries them: the higher priority first,
// then the older. What is equal in both is for the caller to tell apart.
func CompareQueued(a, b *corev1.Pod) int {
	return cmp.Or(cmp.Compare(corev1helpers.PodPriority(b), corev1helpers.PodPriority(a)),
		a.CreationTimestamp.Compare(b.CreationTimestamp.Time))
}

// Ready reports whether the condition Ready of a pod is true.
func Ready(pod *corev1.Pod) bool {
	c := condition(pod, corev1.PodReady)
	return c != nil && c.Status == corev1.ConditionTrue
}

// ReadySince returns since when a pod is ready, and whether it is.
func ReadySince(pod *corev1.Pod) (since time.Time, ready bool) {
	if !Ready(pod) {
		return time.Time{}, false
	}
	return condition(pod, corev1.PodReady).LastTransitionTime.Time, true
}

// Unschedulable reports whether a scheduler has tried to place a pod, and found no node for it.
func Unschedulable(pod *corev1.Pod) bool {
	c := condition(pod, corev1.PodScheduled)
	return c != nil && c.Status == corev1.ConditionFalse && c.Reason == corev1.PodReasonUnschedulable
}

// UnschedulableSince returns since when a scheduler has found no node for a pod, the zero time if
// it has not been tried, or has a node.
func UnschedulableSince(pod *corev1.Pod) time.Time {
	if !Pending(pod) || !Unschedulable(pod) {
		return time.Time{}
	}
	return condition(pod, corev1.PodScheduled).LastTransitionTime.Time
}

// WaitInVain returns those of the pods for which the scheduler has found no node, and since when.
func WaitInVain(pods []*corev1.Pod) (waiting []*corev1.Pod, since []time.Time) {
	for _, pod := range pods {
		if at := UnschedulableSince(pod); !at.IsZero() {
			waiting, since = append(waiting, pod), append(since, at)
		}
	}
	return waiting, since
}

// UnplacedSince returns since when it has been said of a pod that it has no node, because none was
// found or it has a scheduling gate; the zero time if nothing has been said yet, or it has one.
func UnplacedSince(pod *corev1.Pod) time.Time {
	c := condition(pod, corev1.PodScheduled)
	if !Pending(pod) || c == nil || c.Status != corev1.ConditionFalse {
		return time.Time{}
	}
	// The API server gives no time to the condition of a gated pod.
	if since := c.LastTransitionTime.Time; since.After(pod.CreationTimestamp.Time) {
		return since
	}
	return pod.CreationTimestamp.Time
}

// PendingMessage returns what the scheduler says of a pod that has no node; empty if it has said
// nothing yet, or the pod does not wait.
func PendingMessage(pod *corev1.Pod) string {
	c := condition(pod, corev1.PodScheduled)
	if !Pending(pod) || c == nil || c.Status != corev1.ConditionFalse {
		return ""
	}
	return c.Message
}

// WhyPending returns why pods have no node, in the words of the scheduler: those that it says of
// most of them, and among several the first in order. It is empty if it has said nothing yet.
func WhyPending(pods []*corev1.Pod) string {
	counts := map[string]int{}
	for _, pod := range pods {
		if message := PendingMessage(pod); message != "" {
			counts[message]++
		}
	}
	most := ""
	for _, message := range slices.Sorted(maps.Keys(counts)) {
		if counts[message] > counts[most] {
			most = message
		}
	}
	return most
}

// NodeOf returns the only node that a pod asks for, as those of a DaemonSet do; empty if it may run
// on several.
func NodeOf(pod *corev1.Pod) string {
	a := pod.Spec.Affinity
	if a == nil || a.NodeAffinity == nil || a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return ""
	}
	terms := a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
	if len(terms) != 1 || len(terms[0].MatchFields) != 1 {
		return ""
	}
	field := terms[0].MatchFields[0]
	if field.Key != metav1.ObjectNameField || field.Operator != corev1.NodeSelectorOpIn || len(field.Values) != 1 {
		return ""
	}
	return field.Values[0]
}

func condition(pod *corev1.Pod, kind corev1.PodConditionType) *corev1.PodCondition {
	for i := range pod.Status.Conditions {
		if pod.Status.Conditions[i].Type == kind {
			return &pod.Status.Conditions[i]
		}
	}
	return nil
}
