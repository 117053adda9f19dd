// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package application_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// A pod of another scheduler that has the annotation of the policy is no pod of the Application:
// neither does a move wait until it has gone, nor is it given up because the pod has no node.
func TestAPodOfAnotherSchedulerDoesNotHinderAMove(t *testing.T) {
	for name, tc := range map[string]struct {
		change    func(*corev1.Pod)
		stopFirst bool
	}{
		"one that runs": {change: func(pod *corev1.Pod) { pod.Spec.NodeName, pod.Status.Phase = "berlin-0", corev1.PodRunning }},
		"one that runs while nothing may run twice": {
			change: func(pod *corev1.Pod) { pod.Spec.NodeName, pod.Status.Phase = "berlin-0", corev1.PodRunning }, stopFirst: true,
		},
		"one that waits": {change: func(pod *corev1.Pod) {
			pod.Status.Conditions = []corev1.PodCondition{{
				Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable,
				LastTransitionTime: metav1.NewTime(time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)),
			}}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			w := settled(t, func(app *berthv1alpha1.Application) {
				if tc.stopFirst {
					app.Spec.Migration = berthv1alpha1.MigrationStopFirst
				}
			})
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
				Name: "foreign", Namespace: namespace, UID: "foreign",
				Annotations: map[string]string{berthv1alpha1.PolicyAnnotation: "web-deployment-front"},
			}}
			pod.Spec.SchedulerName = corev1.DefaultSchedulerName
			tc.change(pod)
			w.must(w.client.Create(t.Context(), pod))
			w.measure("madrid", func(c *berthv1alpha1.Cluster) { sample(c, 1) })
			w.after(61 * time.Second)
			w.after(3 * time.Second)
			if tc.stopFirst {
				w.gone("berlin", 2)
				w.after(3 * time.Second)
			}
			w.after(40 * time.Second)
			w.run("madrid", 0, true)
			w.run("madrid", 1, true)
			w.restamp("berlin", 2)
			w.after(3 * time.Second)
			w.gone("berlin", 2)
			w.after(3 * time.Second)
			w.after(3 * time.Second)
			w.is("the pods of the Application have moved", "madrid", "madrid", 2, "False Done")
		})
	}
}
