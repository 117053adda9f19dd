// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package narrow_test

import (
	"fmt"
	"strconv"
	"testing"

	corev1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
	"k8s.io/utils/ptr"

	"berth.dev/berth/pkg/plugins/internal/narrow"
)

// newGroup returns Sets that know one group of 200 nodes, which make two samples. Each has 4 CPUs,
// 8Gi and room for two pods, and as many pods as busy says.
func newGroup(busy func(i int) []*corev1.Pod, edit func(i int, node *corev1.Node)) *narrow.Sets {
	nodes := make([]fwk.NodeInfo, 200)
	for i := range nodes {
		node := st.MakeNode().Name(fmt.Sprintf("node-%03d", i)).Capacity(map[corev1.ResourceName]string{
			corev1.ResourceCPU: "4", corev1.ResourceMemory: "8Gi", corev1.ResourcePods: "2",
		}).Obj()
		edit(i, node)
		info := framework.NewNodeInfo(busy(i)...)
		info.SetNode(node)
		nodes[i] = info
	}
	n := &narrow.Sets{}
	n.Follow(nodes, narrow.Version{}, 1, func(int) int32 { return 0 })
	return n
}

func asks(name, cpu, memory string) *corev1.Pod {
	return st.MakePod().Name(name).UID(name).Req(map[corev1.ResourceName]string{
		corev1.ResourceCPU: cpu, corev1.ResourceMemory: memory,
	}).Obj()
}

func TestASampleHasRoom(t *testing.T) {
	nobody := func(int) []*corev1.Pod { return nil }
	each := func(pods ...*corev1.Pod) func(int) []*corev1.Pod { return func(int) []*corev1.Pod { return pods } }
	asTheyAre := func(int, *corev1.Node) {}
	tainted := func(effect corev1.TaintEffect) func(int, *corev1.Node) {
		return func(_ int, node *corev1.Node) {
			node.Spec.Taints = []corev1.Taint{{Key: "soft", Effect: corev1.TaintEffectPreferNoSchedule}, {Key: "k", Effect: effect}}
		}
	}
	// cordonedFrom leaves so many nodes of each sample open.
	cordonedFrom := func(first int) func(int, *corev1.Node) {
		return func(i int, node *corev1.Node) { node.Spec.Unschedulable = i%100 >= first }
	}
	for name, tc := range map[string]struct {
		busy func(int) []*corev1.Pod
		edit func(int, *corev1.Node)
		pod  *corev1.Pod
		want bool
	}{
		"empty nodes":                       {nobody, asTheyAre, asks("p", "1", "1Gi"), true},
		"just enough of everything":         {each(asks("q", "3", "7Gi")), asTheyAre, asks("p", "1", "1Gi"), true},
		"a thousandth of a CPU too little":  {each(asks("q", "3", "1Gi")), asTheyAre, asks("p", "1001m", "1Gi"), false},
		"a byte too little":                 {each(asks("q", "1", "7Gi")), asTheyAre, asks("p", "1", "1073741825"), false},
		"no room for another pod":           {each(asks("q", "1", "1Gi"), asks("r", "1", "1Gi")), asTheyAre, asks("p", "1", "1Gi"), false},
		"cordoned":                          {nobody, cordonedFrom(0), asks("p", "1", "1Gi"), false},
		"a fifth of them open":              {nobody, cordonedFrom(20), asks("p", "1", "1Gi"), true},
		"one less":                          {nobody, cordonedFrom(19), asks("p", "1", "1Gi"), false},
		"a taint that keeps pods away":      {nobody, tainted(corev1.TaintEffectNoSchedule), asks("p", "1", "1Gi"), false},
		"a taint that throws pods out":      {nobody, tainted(corev1.TaintEffectNoExecute), asks("p", "1", "1Gi"), false},
		"a taint that asks pods to go away": {nobody, tainted(corev1.TaintEffectPreferNoSchedule), asks("p", "1", "1Gi"), true},
		"what two containers ask for together": {nobody, asTheyAre, func() *corev1.Pod {
			p := asks("p", "3", "1Gi")
			p.Spec.Containers = append(p.Spec.Containers, asks("p", "2", "1Gi").Spec.Containers...)
			return p
		}(), false},
		"what two containers ask of memory together": {nobody, asTheyAre, func() *corev1.Pod {
			p := asks("p", "1", "5Gi")
			p.Spec.Containers = append(p.Spec.Containers, asks("p", "1", "4Gi").Spec.Containers...)
			return p
		}(), false},
	} {
		t.Run(name, func(t *testing.T) {
			n := newGroup(tc.busy, tc.edit)
			if names := n.Sample(n.Of(everyGroup), tc.pod); (names != nil) != tc.want {
				t.Errorf("%d nodes are named, want some: %t", len(names), tc.want)
			}
		})
	}
}

func TestNoSampleForAPodThatAsksForSomethingParticular(t *testing.T) {
	for name, tc := range map[string]struct {
		edit func(*corev1.PodSpec)
		want bool
	}{
		"nothing": {func(*corev1.PodSpec) {}, false},
		"a port":  {func(s *corev1.PodSpec) { s.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: 80}} }, false},
		"a port of the node": {func(s *corev1.PodSpec) {
			s.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: 1}, {HostPort: 80}}
		}, true},
		"the host's network": {func(s *corev1.PodSpec) { s.HostNetwork = true }, true},
		"a selector":         {func(s *corev1.PodSpec) { s.NodeSelector = map[string]string{"a": "b"} }, true},
		"an affinity":        {func(s *corev1.PodSpec) { s.Affinity = &corev1.Affinity{} }, true},
		"a spread":           {func(s *corev1.PodSpec) { s.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{}} }, true},
		"a device":           {func(s *corev1.PodSpec) { s.ResourceClaims = []corev1.PodResourceClaim{{}} }, true},
		"a volume of the pod": {func(s *corev1.PodSpec) {
			s.Volumes = []corev1.Volume{{VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}}
		}, false},
		"a claim": {func(s *corev1.PodSpec) {
			s.Volumes = []corev1.Volume{{VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{}}}}
		}, true},
		"an ephemeral volume": {func(s *corev1.PodSpec) {
			s.Volumes = []corev1.Volume{{VolumeSource: corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{}}}}
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			pod := asks("p", "1", "1Gi")
			tc.edit(&pod.Spec)
			if got := narrow.Particular(pod); got != tc.want {
				t.Errorf("particular: %t, want %t", got, tc.want)
			}
			n := newGroup(func(int) []*corev1.Pod { return nil }, func(int, *corev1.Node) {})
			if names := n.Sample(n.Of(everyGroup), pod); (names == nil) != tc.want {
				t.Errorf("%d nodes are named", len(names))
			}
		})
	}
}

// profile is one that says of how many nodes it looks at.
type profile struct {
	fwk.Handle
	percentage *int32
}

func (p profile) PercentageOfNodesToScore() *int32 { return p.percentage }

func TestWhoLeavesTheNumberOfNodesToThePlugins(t *testing.T) {
	for name, tc := range map[string]struct {
		handle fwk.Handle
		want   bool
	}{
		"a profile that says nothing":     {profile{}, true},
		"one that says what is usual":     {profile{percentage: ptr.To[int32](0)}, true},
		"one that names a part":           {profile{percentage: ptr.To[int32](50)}, false},
		"a framework that tells nothing ": {nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			if got := narrow.Samples(tc.handle); got != tc.want {
				t.Errorf("samples: %t, want %t", got, tc.want)
			}
		})
	}
}

func TestNodesThatWereKeptAwayAreExplained(t *testing.T) {
	nodes := make([]fwk.NodeInfo, 3)
	for i := range nodes {
		info := framework.NewNodeInfo()
		info.SetNode(st.MakeNode().Name(strconv.Itoa(i)).Obj())
		nodes[i] = info
	}
	statuses := framework.NewDefaultNodeToStatus()
	asked := fwk.NewStatus(fwk.Unschedulable, "asked")
	statuses.Set("1", asked)
	narrow.Explain(nodes, statuses, func(n int) *fwk.Status {
		if n == 1 {
			return nil
		}
		return fwk.NewStatus(fwk.Unschedulable, fmt.Sprint("kept away ", n))
	})
	for node, want := range map[string]string{"0": "kept away 0", "1": "asked", "2": "kept away 2"} {
		if got := statuses.Get(node).Message(); got != want {
			t.Errorf("of node %s it is said %q, want %q", node, got, want)
		}
	}
	narrow.Explain(nodes, nil, func(int) *fwk.Status { t.Error("asked for nobody"); return nil })
}
