// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package nodegrouppolicy_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"berth.dev/berth/pkg/plugins/nodegrouppolicy"
	"berth.dev/berth/pkg/plugintest"
)

// bench is a scheduler at rest with everything that a benchmark of one extension point needs.
type bench struct {
	*plugintest.Scheduler

	plugin *nodegrouppolicy.NodeGroupPolicy
	nodes  []fwk.NodeInfo
	pod    *corev1.Pod
	state  fwk.CycleState
}

// newBench makes nodes in clusters, a Deployment of ten replicas for each with half of them bound,
// and a pod of it that waits.
func newBench(b *testing.B, clusters, nodes int) *bench {
	b.Helper()
	return newBenchOf(b, clusters, nodes, 10*clusters)
}

func newBenchOf(b *testing.B, clusters, nodes, replicas int) *bench {
	b.Helper()
	policy := plugintest.MakePolicy("web").Deployment("nginx")
	var objects []runtime.Object
	for c := range clusters {
		name := fmt.Sprintf("site%02d", c)
		policy.Weight(int64(c+1), name)
		objects = append(objects, plugintest.Site(name))
	}
	d, rs := deployment("nginx", int32(replicas))
	s := plugintest.New(b, append(objects, policy.Obj(), d, rs))
	logger := klog.FromContext(s.Context())
	for n := range nodes {
		s.Cache.AddNode(logger, plugintest.MakeNode(fmt.Sprintf("site%02d", n%clusters), n).Obj())
	}
	for i := range replicas / 2 {
		s.Add(plugintest.MakePodOf(rs, i).Node(fmt.Sprintf("site%02d-%d", i%nodes%clusters, i%nodes)).Obj())
	}
	x := &bench{Scheduler: s, plugin: find[*nodegrouppolicy.NodeGroupPolicy](b, s), pod: plugintest.MakePodOf(rs, replicas).Obj()}
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

func BenchmarkPreFilterSkip(b *testing.B) {
	x := newBench(b, 10, 100)
	ctx, pod := x.Context(), plugintest.MakePod("task").Namespace("elsewhere").Obj()
	for b.Loop() {
		x.plugin.PreFilter(ctx, x.state, pod, x.nodes)
	}
}

func BenchmarkPreFilterAndPreScoreSkip(b *testing.B) {
	x := newBench(b, 10, 100)
	ctx, pod, state := x.Context(), plugintest.MakePod("task").Namespace("elsewhere").Obj(), framework.NewCycleState()
	for b.Loop() {
		x.plugin.PreFilter(ctx, state, pod, x.nodes)
		x.plugin.PreScore(ctx, state, pod, x.nodes)
	}
}

func BenchmarkPreFilter(b *testing.B) {
	for _, clusters := range []int{2, 10, 50} {
		for _, nodes := range []int{100, 1000, 5000, 50000} {
			if nodes > 5000 && clusters != 10 {
				continue // it takes seconds to make so many nodes
			}
			b.Run(fmt.Sprintf("clusters=%d/nodes=%d", clusters, nodes), func(b *testing.B) {
				x := newBench(b, clusters, nodes)
				ctx := x.Context()
				for b.Loop() {
					x.plugin.PreFilter(ctx, x.state, x.pod, x.nodes)
				}
			})
		}
	}
}

func BenchmarkPreFilterAnyway(b *testing.B) {
	x := newBench(b, 10, 1000)
	policy := plugintest.MakePolicy("any").Deployment("any").Anyway()
	for c := range 10 {
		policy.Weight(1, fmt.Sprintf("site%02d", c))
	}
	d, rs := deployment("any", 1)
	x.Add(policy.Obj(), d, rs)
	ctx, pod := x.Context(), plugintest.MakePodOf(rs, 0).Obj()
	for b.Loop() {
		x.plugin.PreFilter(ctx, x.state, pod, x.nodes)
	}
}

// BenchmarkPlaced is all that the scheduler does to give a pod a node, with 1,000 nodes and 100,000
// replicas of which half are bound: over a thousand clusters it may take little longer than over
// ten. The two take turns, and the medians are compared, so that a machine that is busy with other
// work slows down both or counts for neither.
func BenchmarkPlaced(b *testing.B) {
	benches := []*bench{newBenchOf(b, 10, 1_000, 100_000), newBenchOf(b, 1_000, 1_000, 100_000)}
	took := make([][]time.Duration, len(benches))
	for b.Loop() {
		for i, x := range benches {
			began := time.Now()
			attempt := x.Try(x.pod)
			x.Forget(x.Assume(x.pod, attempt), attempt)
			took[i] = append(took[i], time.Since(began))
		}
	}
	medians := make([]float64, len(took))
	for i := range took {
		slices.Sort(took[i])
		medians[i] = float64(took[i][len(took[i])/2])
	}
	b.ReportMetric(medians[0], "ns/ten-clusters")
	b.ReportMetric(medians[1], "ns/thousand-clusters")
	b.ReportMetric(medians[1]/medians[0], "times")
}

func BenchmarkFilterAdmits(b *testing.B) {
	x := newBench(b, 10, 1000)
	ctx := x.Context()
	for b.Loop() {
		x.plugin.Filter(ctx, x.state, x.pod, x.nodes[9])
	}
}

func BenchmarkFilterRejects(b *testing.B) {
	x := newBench(b, 10, 1000)
	x.Add(plugintest.MakeNode("elsewhere", 0).Obj())
	x.Try(x.pod)
	nodes, err := x.Framework.SnapshotSharedLister().NodeInfos().Get("elsewhere-0")
	if err != nil {
		b.Fatal(err)
	}
	ctx := x.Context()
	for b.Loop() {
		x.plugin.Filter(ctx, x.state, x.pod, nodes)
	}
}

func BenchmarkScore(b *testing.B) {
	x := newBench(b, 10, 1000)
	ctx := x.Context()
	if status := x.plugin.PreScore(ctx, x.state, x.pod, x.nodes); !status.IsSuccess() {
		b.Fatalf("PreScore: %v", status)
	}
	for b.Loop() {
		x.plugin.Score(ctx, x.state, x.pod, x.nodes[9])
	}
}

func BenchmarkPreScore(b *testing.B) {
	x := newBench(b, 10, 1000)
	ctx := x.Context()
	for b.Loop() {
		x.plugin.PreScore(ctx, x.state, x.pod, x.nodes[:500])
	}
}

func BenchmarkHints(b *testing.B) {
	x := newBench(b, 10, 100)
	sibling := x.pod.DeepCopy()
	sibling.UID, sibling.Spec.NodeName = "sibling", "site00-0"
	stranger := plugintest.MakePod("stranger").Node("site00-0").Obj()
	node := plugintest.MakeNode("site00", 0).Obj()
	for name, change := range map[string]struct {
		resource      fwk.EventResource
		before, after any
	}{
		"status of a sibling":  {fwk.Pod, sibling, sibling},
		"status of a stranger": {fwk.Pod, stranger, stranger},
		"labels of a node":     {fwk.Node, node, node},
	} {
		plugintest.BenchmarkHint(b, name, x.plugin, x.pod, change.resource, change.before, change.after)
	}
}
