// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package simulator_test

import (
	"runtime"
	"strconv"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"berth.dev/berth/pkg/plugintest"
	"berth.dev/berth/pkg/simulator"
)

// closing is for goroutines that are told to end. An idle machine needs a moment.
const closing = 30 * time.Second

// Several snapshots live side by side, each with a world of its own, and leave no goroutine behind.
func TestSnapshotsLiveSideBySide(t *testing.T) {
	snapshot(t).Close() // what a process begins once stays
	before := runtime.NumGoroutine()
	snapshots := make([]*simulator.Snapshot, 4)
	for i := range snapshots {
		capacity := map[corev1.ResourceName]string{corev1.ResourceCPU: strconv.Itoa(i), corev1.ResourcePods: "9"}
		snapshots[i] = snapshot(t, plugintest.Site("beijing"), plugintest.MakeNode("beijing", 0).Capacity(capacity).Obj())
	}
	pod := plugintest.MakePod("p").Req(map[corev1.ResourceName]string{corev1.ResourceCPU: "1"}).Obj()
	for range 2 {
		for i, s := range snapshots {
			s.Fork()
			if room, err := s.Fill(t.Context(), "beijing", pod, 9); err != nil || room.Copies != i {
				t.Errorf("snapshot %d has room for %d copies (%v)", i, room.Copies, err)
			}
		}
		for _, s := range snapshots {
			s.Revert()
		}
	}
	for _, s := range snapshots {
		s.Close()
	}
	for deadline := time.Now().Add(closing); runtime.NumGoroutine() > before; runtime.Gosched() {
		if time.Now().After(deadline) {
			stacks := make([]byte, 1<<20)
			t.Fatalf("%d goroutines are left, %d were there before:\n%s", runtime.NumGoroutine(), before, stacks[:runtime.Stack(stacks, true)])
		}
	}
}
