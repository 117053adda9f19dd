// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package clustermetrics_test

import (
	"fmt"
	"strconv"
	"testing"

	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/plugins/clustermetrics"
	"berth.dev/berth/pkg/plugintest"
)

// newBench returns a scheduler with ten Clusters, the plugin, and the nodes of its snapshot.
func newBench(b *testing.B, nodes int) (*plugintest.Scheduler, *clustermetrics.ClusterMetrics, []fwk.NodeInfo) {
	b.Helper()
	var clusters []*berthv1alpha1.Cluster
	for c := range 10 {
		clusters = append(clusters, measure(site(fmt.Sprintf("site%d", c), "tier", strconv.Itoa(c%2)), "load", float64(c)))
	}
	s := newSites(b, clusters...)
	logger := klog.FromContext(s.Context())
	for n := range nodes {
		s.Cache.AddNode(logger, plugintest.MakeNode(fmt.Sprintf("site%d", n%10), n+1).Obj())
	}
	s.Try(asking("bystander")) // brings the snapshot up to date
	infos, err := s.Framework.SnapshotSharedLister().NodeInfos().List()
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	return s, find[*clustermetrics.ClusterMetrics](b, s), infos
}

func BenchmarkPreFilterAndPreScoreSkip(b *testing.B) {
	s, plugin, nodes := newBench(b, 100)
	ctx, pod, state := s.Context(), asking("plain"), framework.NewCycleState()
	for b.Loop() {
		plugin.PreFilter(ctx, state, pod, nodes)
		plugin.PreScore(ctx, state, pod, nodes)
	}
}

func BenchmarkPreFilter(b *testing.B) {
	for _, nodes := range []int{100, 1000, 5000, 50000} {
		b.Run(fmt.Sprintf("nodes=%d", nodes), func(b *testing.B) {
			s, plugin, infos := newBench(b, nodes)
			ctx, pod, state := s.Context(), asking("p", byLabel, "tier is 1", ranking, "metrics"), framework.NewCycleState()
			if _, status := plugin.PreFilter(ctx, state, pod, infos); !status.IsSuccess() {
				b.Fatalf("PreFilter: %v", status)
			}
			for b.Loop() {
				plugin.PreFilter(ctx, state, pod, infos)
			}
		})
	}
}

func BenchmarkFilter(b *testing.B) {
	s, plugin, nodes := newBench(b, 1000)
	ctx, pod, state := s.Context(), asking("p", byLabel, "tier is 1"), framework.NewCycleState()
	if _, status := plugin.PreFilter(ctx, state, pod, nodes); !status.IsSuccess() {
		b.Fatalf("PreFilter: %v", status)
	}
	for name, cluster := range map[string]string{"admits": "site1", "rejects": "site0"} {
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
