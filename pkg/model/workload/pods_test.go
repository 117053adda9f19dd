// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package workload_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"berth.dev/berth/pkg/model/workload"
)

func TestFinished(t *testing.T) {
	for phase, want := range map[corev1.PodPhase]bool{
		"": false, corev1.PodPending: false, corev1.PodRunning: false, corev1.PodUnknown: false,
		corev1.PodSucceeded: true, corev1.PodFailed: true,
	} {
		if got := workload.Finished(&corev1.Pod{Status: corev1.PodStatus{Phase: phase}}); got != want {
			t.Errorf("of a pod whose phase is %q it says %t, want %t", phase, got, want)
		}
	}
}
