// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package dispatcher

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

func TestPodChanged(t *testing.T) {
	tests := map[string]struct {
		change func(*corev1.Pod)
		want   bool
	}{
		"nothing":          {func(*corev1.Pod) {}, false},
		"an annotation":    {func(p *corev1.Pod) { p.Annotations = map[string]string{"a": "b"} }, false},
		"another label":    {func(p *corev1.Pod) { p.Labels = map[string]string{"a": "b"} }, false},
		"a condition":      {func(p *corev1.Pod) { p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled}} }, false},
		"its gates end":    {func(p *corev1.Pod) { p.Spec.SchedulingGates = nil }, true},
		"its node":         {func(p *corev1.Pod) { p.Spec.NodeName = "n" }, true},
		"it terminates":    {func(p *corev1.Pod) { p.DeletionTimestamp = new(metav1.Unix(1, 0)) }, true},
		"it has finished":  {func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed }, true},
		"it has a home":    {func(p *corev1.Pod) { p.Labels = map[string]string{berthv1alpha1.HomeSchedulerLabel: "a"} }, true},
		"its home is lost": {func(p *corev1.Pod) { p.Labels = map[string]string{berthv1alpha1.HomeSchedulerLabel: ""} }, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			before := &corev1.Pod{Spec: corev1.PodSpec{SchedulingGates: []corev1.PodSchedulingGate{{Name: "later"}}}}
			after := before.DeepCopy()
			tc.change(after)
			if got := podChanged(before, after); got != tc.want {
				t.Errorf("podChanged = %t, want %t", got, tc.want)
			}
		})
	}
}

func TestSchedulerChanged(t *testing.T) {
	tests := map[string]struct {
		change func(*berthv1alpha1.Scheduler)
		want   bool
	}{
		"nothing":  {func(*berthv1alpha1.Scheduler) {}, false},
		"a weight": {func(s *berthv1alpha1.Scheduler) { s.Spec.Weight = 2 }, false},
		"it is no longer ready": {func(s *berthv1alpha1.Scheduler) {
			apimeta.SetStatusCondition(&s.Status.Conditions, metav1.Condition{
				Type: berthv1alpha1.SchedulerReady, Status: metav1.ConditionFalse,
			})
		}, true},
		"it is being deleted": {func(s *berthv1alpha1.Scheduler) { s.DeletionTimestamp = new(metav1.Unix(1, 0)) }, true},
		"it gets the nodes in no cluster": {
			func(s *berthv1alpha1.Scheduler) { s.Status.Commons = &berthv1alpha1.Commons{} }, true,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			before := &berthv1alpha1.Scheduler{}
			apimeta.SetStatusCondition(&before.Status.Conditions, metav1.Condition{
				Type: berthv1alpha1.SchedulerReady, Status: metav1.ConditionTrue,
			})
			after := before.DeepCopy()
			tc.change(after)
			if got := schedulerChanged(before, after); got != tc.want {
				t.Errorf("schedulerChanged = %t, want %t", got, tc.want)
			}
		})
	}
}
