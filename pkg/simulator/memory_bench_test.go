// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package simulator_test

import (
	"fmt"
	"runtime"
	"testing"

	corev1 "k8s.io/api/core/v1"
	kruntime "k8s.io/apimachinery/pkg/runtime"

	"berth.dev/berth/pkg/plugintest"
)

// BenchmarkMemory tells how much memory 5,000 nodes and 50,000 pods take in a cache, and how many
// times as much with a snapshot beside it, which shares them.
func BenchmarkMemory(b *testing.B) {
	const sites, nodes, pods = 100, 50, 10
	heap := func() float64 {
		var stats runtime.MemStats
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&stats)
		return float64(stats.HeapAlloc)
	}
	for b.Loop() {
		before := heap()
		names := make([]string, sites)
		for i := range names {
			names[i] = fmt.Sprintf("site%02d", i)
		}
		objects := plugintest.Sites(nodes, names...)
		for _, site := range names {
			for i := range nodes * pods {
				objects = append(objects, plugintest.MakePod(fmt.Sprintf("%s-%d", site, i)).Node(fmt.Sprintf("%s-%d", site, i%nodes)).
					Req(map[corev1.ResourceName]string{corev1.ResourceCPU: "1"}).Obj())
			}
		}
		cache := make(map[string]kruntime.Object, len(objects))
		for i := range objects {
			cache[fmt.Sprint("default/object-", i)] = objects[i]
		}
		cached := heap() - before
		s := snapshot(b, objects...)
		if _, err := s.Room(b.Context(), names[0], sample(), 1000); err != nil {
			b.Fatal(err)
		}
		both := heap() - before
		b.ReportMetric(cached/(1<<20), "cache-MiB")
		b.ReportMetric(both/cached, "times")
		runtime.KeepAlive(cache)
		s.Close()
	}
}
