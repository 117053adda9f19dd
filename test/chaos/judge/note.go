// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package judge

import (
	corev1 "k8s.io/api/core/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// notePod notes what a change of a pod means.
func (j *Judge) notePod(c Change, before, after *corev1.Pod) {
	switch {
	case after == nil && before != nil:
		j.notef(before.Name, c.Revision, "pod %s is gone from %q", before.Name, before.Spec.NodeName)
	case before == nil:
		j.notef(after.Name, c.Revision, "pod %s is made", after.Name)
	}
	if after == nil {
		return
	}
	if before == nil {
		before = &corev1.Pod{}
	}
	if is := after.Spec.NodeName; is != before.Spec.NodeName {
		j.notef(after.Name, c.Revision, "pod %s is bound to %s by %s, seat %q, charged %q", after.Name, is,
			after.Labels[berthv1alpha1.HomeSchedulerLabel], after.Annotations[berthv1alpha1.SeatAnnotation],
			after.Annotations[berthv1alpha1.ChargedAnnotation])
	}
	if was, is := before.Labels[berthv1alpha1.HomeSchedulerLabel], after.Labels[berthv1alpha1.HomeSchedulerLabel]; was != is {
		j.notef(after.Name, c.Revision, "pod %s has the home %q, before %q", after.Name, is, was)
	}
	j.noteEnd(c, before, after)
	if is := waits(after); is != "" && is != waits(before) {
		j.notef(after.Name, c.Revision, "pod %s waits: %s", after.Name, is)
	}
}

// noteEnd notes what becomes of a pod that has been made.
func (j *Judge) noteEnd(c Change, before, after *corev1.Pod) {
	if isEvicted(after) && !isEvicted(before) {
		j.notef(after.Name, c.Revision, "pod %s on %s is evicted", after.Name, after.Spec.NodeName)
	}
	if after.DeletionTimestamp != nil && before.DeletionTimestamp == nil {
		j.notef(after.Name, c.Revision, "pod %s is being deleted", after.Name)
	}
	if is := after.Status.Phase; is != "" && is != before.Status.Phase {
		j.notef(after.Name, c.Revision, "pod %s is %s", after.Name, is)
	}
}

// waits returns why a pod was not bound, empty if nobody has said.
func waits(pod *corev1.Pod) string {
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodScheduled && condition.Status == corev1.ConditionFalse {
			return condition.Message
		}
	}
	return ""
}
