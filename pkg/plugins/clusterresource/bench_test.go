// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package clusterresource_test

import (
	"fmt"
	"strconv"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/plugins/clusterresource"
	"berth.dev/berth/pkg/plugintest"
)

// bench is a scheduler at rest with everything that a benchmark of one extension point needs: a
// hundred racks, ten of which have a pool, nine of these with room.
type bench struct {
	*plugintest.Scheduler

	plugin *clusterresource.ClusterResource
	nodes  []fwk.NodeInfo
	pod    *corev1.Pod
	state  fwk.CycleState
}

func newBench(b *testing.B, nodes int) *bench {
	b.Helper()
	quantities := []string{"0", "0"}
	for rack := 10; rack < 100; rack += 10 {
		quantities = append(quantities, strconv.Itoa(rack), "1000")
	}
	s := plugintest.New(b, []runtime.Object{pools("disk", berthv1alpha1.AnyOf, quantities...)})
	logger := klog.FromContext(s.Context())
	for n := range nodes {
		s.Cache.AddNode(logger, rackNode(fmt.Sprint("node-", n), strconv.Itoa(n%100)))
	}
	x := &bench{Scheduler: s, plugin: plugin(b, s), pod: asking("waiting", "disk", "1")}
	if attempt := s.Try(x.pod); attempt.Node == "" {
		b.Fatalf("the pod finds no node: %s", attempt.Why())
	}
	var err error
	if x.nodes, err = s.Framework.SnapshotSharedLister().NodeInfos().List(); err != nil {
		b.Fatal(err)
	}
	x.state = framework.NewCycleState()
	if _, status := x.plugin.PreFilter(s.Context(), x.state, x.pod, x.nodes); !status.IsSuccess() {
		b.Fatalf("PreFilter: %v", status)
	}
	b.ReportAllocs()
	return x
}

// node returns a node of a rack.
func (x *bench) node(b *testing.B, rack int) fwk.NodeInfo {
	b.Helper()
	node, err := x.Framework.SnapshotSharedLister().NodeInfos().Get(fmt.Sprint("node-", rack))
	if err != nil {
		b.Fatal(err)
	}
	return node
}

func BenchmarkPreFilterAndPreScoreSkip(b *testing.B) {
	x := newBench(b, 100)
	ctx, pod, state := x.Context(), asking("plain"), framework.NewCycleState()
	for b.Loop() {
		x.plugin.PreFilter(ctx, state, pod, x.nodes)
		x.plugin.PreScore(ctx, state, pod, x.nodes)
	}
}

func BenchmarkPreFilter(b *testing.B) {
	for _, nodes := range []int{100, 1000, 5000, 50000} {
		b.Run(fmt.Sprintf("nodes=%d", nodes), func(b *testing.B) {
			x := newBench(b, nodes)
			ctx := x.Context()
			for b.Loop() {
				x.plugin.PreFilter(ctx, x.state, x.pod, x.nodes)
			}
		})
	}
}

func BenchmarkFilter(b *testing.B) {
	for name, rack := range map[string]int{"admits": 10, "rejects": 0} {
		b.Run(name, func(b *testing.B) {
			x := newBench(b, 1000)
			ctx, node := x.Context(), x.node(b, rack)
			for b.Loop() {
				x.plugin.Filter(ctx, x.state, x.pod, node)
			}
		})
	}
}

func BenchmarkPreScore(b *testing.B) {
	x := newBench(b, 1000)
	ctx := x.Context()
	for b.Loop() {
		x.plugin.PreScore(ctx, x.state, x.pod, x.nodes[:500])
	}
}

func BenchmarkScore(b *testing.B) {
	x := newBench(b, 1000)
	ctx, node := x.Context(), x.node(b, 10)
	x.plugin.PreScore(ctx, x.state, x.pod, x.nodes)
	for b.Loop() {
		x.plugin.Score(ctx, x.state, x.pod, node)
	}
}

func BenchmarkHints(b *testing.B) {
	x := newBench(b, 100)
	stranger, node := asking("stranger"), rackNode("node-0", "0")
	stranger.Spec.NodeName = "node-0"
	for name, change := range map[string]struct {
		resource      fwk.EventResource
		before, after any
	}{
		"status of a stranger":  {fwk.Pod, stranger, stranger},
		"a stranger goes":       {fwk.Pod, stranger, nil},
		"labels of a node":      {fwk.Node, node, node},
		"a node without a pool": {fwk.Node, nil, node},
	} {
		plugintest.BenchmarkHint(b, name, x.plugin, x.pod, change.resource, change.before, change.after)
	}
}
