// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package simulator_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"berth.dev/berth/pkg/plugintest"
)

// BenchmarkRoom counts 1,000 copies of a pod without claims in a cluster of 500 nodes.
func BenchmarkRoom(b *testing.B) {
	s := snapshot(b, plugintest.Sites(500, "beijing")...)
	pod := plugintest.MakePod("sample").Req(map[corev1.ResourceName]string{corev1.ResourceCPU: "500m"}).Obj()
	for b.Loop() {
		room, err := s.Room(b.Context(), "beijing", pod, 1000)
		if err != nil || room.Copies != 1000 {
			b.Fatalf("%+v, %v", room, err)
		}
	}
}
