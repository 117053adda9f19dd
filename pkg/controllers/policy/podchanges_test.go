// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/event"
)

// The others are looked at while they wait, and a pass may have seen the pod before anything was
// said of it.
func TestWhatIsSaidOfAPodWithoutANodeMakesAPass(t *testing.T) {
	said := func(reason, message string) *corev1.Pod {
		return &corev1.Pod{Status: corev1.PodStatus{Conditions: []corev1.PodCondition{{
			Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: reason, Message: message,
			LastTransitionTime: metav1.Unix(1, 0),
		}}}}
	}
	full := said(corev1.PodReasonUnschedulable, "0/1 nodes are available")
	tests := map[string]struct {
		before, after *corev1.Pod
		want          bool
	}{
		"a scheduler has found no node for the first time": {&corev1.Pod{}, full, true},
		"it has a gate": {&corev1.Pod{}, said(corev1.PodReasonSchedulingGated, ""), true},
		"a scheduler has tried one that had a gate": {said(corev1.PodReasonSchedulingGated, ""), full, true},
		"the same in other words":                   {full, said(corev1.PodReasonUnschedulable, "0/2 nodes are available"), false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := podChanges().Update(event.TypedUpdateEvent[*corev1.Pod]{ObjectOld: tc.before, ObjectNew: tc.after}); got != tc.want {
				t.Errorf("it makes a pass: %t, want %t", got, tc.want)
			}
		})
	}
}
