// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package plugins_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
	"pgregory.net/rapid"

	"berth.dev/berth/pkg/plugintest"
)

// verdict is what the plugins of a profile say about the nodes: the reasons of those that are
// rejected, and the scores of the others.
type verdict struct {
	PreFilter string
	Rejected  map[string]string
	Scores    map[string]int64
}

// judge runs a pod through all plugins that choose a node.
func judge(r *rapid.T, s *plugintest.Scheduler, pod *corev1.Pod) verdict {
	ctx, state := s.Context(), framework.NewCycleState()
	// The cache becomes the snapshot at the beginning of a cycle.
	if _, err := s.TryErr(pod); err != nil {
		r.Fatal(err)
	}
	v := verdict{Rejected: map[string]string{}, Scores: map[string]int64{}}
	result, status, _ := s.Framework.RunPreFilterPlugins(ctx, state, pod)
	if v.PreFilter = status.Message(); !status.IsSuccess() {
		return v
	}
	nodes, err := s.Framework.SnapshotSharedLister().NodeInfos().List()
	if err != nil {
		r.Fatal(err)
	}
	feasible := nodes[:0:0]
	for _, node := range nodes {
		name := node.Node().Name
		switch status := s.Framework.RunFilterPlugins(ctx, state, pod, node); {
		case !result.AllNodes() && !result.NodeNames.Has(name):
			v.Rejected[name] = "left out by PreFilter"
		case !status.IsSuccess():
			v.Rejected[name] = status.Message()
		default:
			feasible = append(feasible, node)
		}
	}
	if status := s.Framework.RunPreScorePlugins(ctx, state, pod, feasible); !status.IsSuccess() {
		r.Fatal(status.AsError())
	}
	scores, status := s.Framework.RunScorePlugins(ctx, state, pod, feasible)
	if !status.IsSuccess() {
		r.Fatal(status.AsError())
	}
	for _, score := range scores {
		v.Scores[score.Name] = score.TotalScore
	}
	return v
}

// TestPodsWithoutAPolicyAreScheduledAsByTheStockScheduler compares the profile that only adds
// Berth's plugins with the default profile of kube-scheduler, over random nodes and pods.
func TestPodsWithoutAPolicyAreScheduledAsByTheStockScheduler(t *testing.T) {
	policy := plugintest.MakePolicy("web").Deployment("nginx").Weight(2, "a").Weight(3, "b")
	d := plugintest.Deployment("nginx", 10)
	rs := plugintest.ReplicaSet(d, "v1")
	stock := plugintest.New(t, []runtime.Object{rs}, plugintest.WithConfiguration(plugintest.StockConfiguration), plugintest.Held())
	berth := plugintest.New(t, []runtime.Object{plugintest.Site("a"), plugintest.Site("b"), policy.Obj(), d, rs},
		plugintest.WithConfiguration(read(t, shipped["adds-only"])))
	rapid.Check(t, func(r *rapid.T) {
		var world []runtime.Object
		var nodes []string
		for i := range rapid.IntRange(1, 12).Draw(r, "nodes") {
			node := randomNode(r, i)
			world, nodes = append(world, node), append(nodes, node.Name)
		}
		for i := range rapid.IntRange(0, 20).Draw(r, "pods") {
			pod := randomPod(r, fmt.Sprint("running-", i))
			pod.Spec.NodeName = rapid.SampledFrom(nodes).Draw(r, "node")
			if rapid.Bool().Draw(r, "of a policy") {
				pod.OwnerReferences = []metav1.OwnerReference{plugintest.ControllerRef(rs)}
			}
			world = append(world, pod)
		}
		stock.Add(world...)
		berth.Add(world...)
		defer func() {
			for _, object := range slices.Backward(world) {
				stock.Remove(object)
				berth.Remove(object)
			}
		}()
		pod := randomPod(r, "waiting")
		switch rapid.IntRange(0, 2).Draw(r, "why no policy") {
		case 0: // no policy selects it
		case 1:
			pod.Namespace = "elsewhere"
		case 2:
			pod.OwnerReferences = []metav1.OwnerReference{plugintest.ControllerRef(rs)}
			metav1.SetMetaDataAnnotation(&pod.ObjectMeta, "groupingpolicy.kubeedge.io", "none")
		}
		if diff := cmp.Diff(judge(r, stock, pod), judge(r, berth, pod)); diff != "" {
			r.Fatalf("verdict of the plugins (-stock +berth):\n%s", diff)
		}
	})
}

func randomNode(r *rapid.T, i int) *corev1.Node {
	site := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(r, "site")
	node := st.MakeNode().Name(fmt.Sprint("node-", i)).Label(plugintest.SiteLabel, site).
		Label(corev1.LabelHostname, fmt.Sprint("node-", i)).Label(corev1.LabelTopologyZone, "zone-"+site).
		Capacity(map[corev1.ResourceName]string{
			corev1.ResourcePods: "10",
			corev1.ResourceCPU:  rapid.SampledFrom([]string{"1", "4", "16"}).Draw(r, "cpu"),
		}).Unschedulable(rapid.IntRange(0, 9).Draw(r, "cordoned") == 0)
	if rapid.IntRange(0, 4).Draw(r, "tainted") == 0 {
		effect := rapid.SampledFrom([]corev1.TaintEffect{
			corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule,
		}).Draw(r, "effect")
		node.Taints([]corev1.Taint{{Key: "busy", Effect: effect}})
	}
	return node.Obj()
}

func randomPod(r *rapid.T, name string) *corev1.Pod {
	pod := plugintest.MakePod(name).Label("app", rapid.SampledFrom([]string{"x", "y"}).Draw(r, "app"))
	pod.Req(map[corev1.ResourceName]string{corev1.ResourceCPU: rapid.SampledFrom([]string{"0", "500m", "3"}).Draw(r, "request")})
	if rapid.Bool().Draw(r, "selects") {
		pod.NodeSelector(map[string]string{plugintest.SiteLabel: rapid.SampledFrom([]string{"a", "b"}).Draw(r, "selected site")})
	}
	if rapid.Bool().Draw(r, "tolerates") {
		pod.Toleration("busy")
	}
	if rapid.IntRange(0, 3).Draw(r, "port") == 0 {
		pod.HostPort(80)
	}
	app := &metav1.LabelSelector{MatchLabels: map[string]string{"app": "x"}}
	switch rapid.IntRange(0, 5).Draw(r, "affinity") {
	case 0:
		pod.PodAntiAffinity(corev1.LabelHostname, app, st.PodAntiAffinityWithRequiredReq)
	case 1:
		pod.PodAffinity(corev1.LabelTopologyZone, app, st.PodAffinityWithPreferredReq)
	case 2:
		pod.SpreadConstraint(1, corev1.LabelTopologyZone, corev1.DoNotSchedule, app, nil, nil, nil, nil)
	case 3:
		pod.SpreadConstraint(1, corev1.LabelHostname, corev1.ScheduleAnyway, app, nil, nil, nil, nil)
	}
	return pod.Obj()
}
