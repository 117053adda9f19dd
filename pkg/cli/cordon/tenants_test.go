// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package cordon

import (
	"strconv"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

func TestHowManyPodsAreLeft(t *testing.T) {
	for count, want := range map[int]string{1: "1 pod left: 1 that policies move", 2: "2 pods left: 2 that policies move"} {
		left := tenants{pods: map[types.UID]*corev1.Pod{}, kept: map[string]int{"that policies move": count}}
		for i := range count {
			left.pods[types.UID(strconv.Itoa(i))] = nil
		}
		if got := left.String(); got != want {
			t.Errorf("%d pods: %q, want %q", count, got, want)
		}
	}
}
