// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package homescheduler_test

import (
	"fmt"
	"testing"

	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"berth.dev/berth/pkg/plugins/homescheduler"
	"berth.dev/berth/pkg/plugintest"
)

// newBench returns scheduler a of two, with half of the nodes, its plugin, and the nodes of its
// snapshot.
func newBench(b *testing.B, nodes int) (*plugintest.Scheduler, *homescheduler.HomeScheduler, []fwk.NodeInfo) {
	b.Helper()
	s := plugintest.New(b, world(), plugintest.Named("a"))
	logger := klog.FromContext(s.Context())
	for n := range nodes {
		s.Cache.AddNode(logger, plugintest.MakeNode([]string{"mine", "other"}[n%2], n+2).Obj())
	}
	s.WaitFor("a node", func() bool { return s.Try(pod(0, "a")).Node != "" })
	infos, err := s.Framework.SnapshotSharedLister().NodeInfos().List()
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	return s, pluginOf(b, s), infos
}

func BenchmarkPreEnqueue(b *testing.B) {
	s, plugin, _ := newBench(b, 100)
	for home, p := range map[string]string{"own": "a", "other": "b"} {
		b.Run(home, func(b *testing.B) {
			b.ReportAllocs()
			ctx, pod := s.Context(), pod(1, p)
			for b.Loop() {
				plugin.PreEnqueue(ctx, pod)
			}
		})
	}
}

func BenchmarkPreFilter(b *testing.B) {
	for _, nodes := range []int{100, 1000, 5000, 50000} {
		b.Run(fmt.Sprintf("nodes=%d", nodes), func(b *testing.B) {
			s, plugin, infos := newBench(b, nodes)
			ctx, pod, state := s.Context(), pod(1, "a"), framework.NewCycleState()
			for b.Loop() {
				plugin.PreFilter(ctx, state, pod, infos)
			}
		})
	}
}

func BenchmarkFilter(b *testing.B) {
	s, plugin, nodes := newBench(b, 1000)
	ctx, pod, state := s.Context(), pod(1, "a"), framework.NewCycleState()
	if _, status := plugin.PreFilter(ctx, state, pod, nodes); !status.IsSuccess() {
		b.Fatalf("PreFilter: %v", status)
	}
	for name, cluster := range map[string]string{"admits": "mine", "rejects": "other"} {
		node, err := s.Framework.SnapshotSharedLister().NodeInfos().Get(cluster + "-0")
		if err != nil {
			b.Fatal(err)
		}
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				plugin.Filter(ctx, state, pod, node)
			}
		})
	}
}
