// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package capacity_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/capacity"
	"berth.dev/berth/pkg/model/stamp"
	"berth.dev/berth/pkg/model/topology"
)

// byRoom is a policy that weighs clusters by the room for resources; an empty one is the default.
func byRoom(namespace, name string, resources ...string) berthv1alpha1.PropagationPolicy {
	p := berthv1alpha1.PropagationPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	for _, r := range resources {
		p.Spec.Placement.ClusterGroups = append(p.Spec.Placement.ClusterGroups, berthv1alpha1.ClusterGroup{
			ClusterWeights: &berthv1alpha1.ClusterWeights{Type: berthv1alpha1.WeighRoom, Resource: r},
		})
	}
	return p
}

func node(name, cpu, memory string) corev1.Node {
	n := corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
	n.Status.Allocatable = corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse(memory), corev1.ResourcePods: resource.MustParse("64"),
	}
	return n
}

// pod runs on a node. A policy that is not empty has placed it.
func pod(policy, node, cpu string) corev1.Pod {
	p := corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: node + cpu, UID: types.UID(node + cpu)},
		Spec: corev1.PodSpec{NodeName: node, Containers: []corev1.Container{{Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)},
		}}}},
	}
	if policy != "" {
		p.Annotations = stamp.Stamp{Policy: policy}.Annotations(&p, node)
	}
	return p
}

// clusters have the nodes NAME-0 and NAME-1.
func clusters(nodes []corev1.Node, names ...string) *topology.Snapshot {
	list := make([]berthv1alpha1.Cluster, len(names))
	for i, name := range names {
		list[i].Name, list[i].Spec.Nodes = name, []string{name + "-0", name + "-1"}
	}
	return topology.New(list, nodes)
}

// written returns rooms as text.
func written(rooms map[string]corev1.ResourceList) map[string]string {
	texts := map[string]string{}
	for name, room := range rooms {
		for _, r := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourcePods} {
			if amount, told := room[r]; told {
				texts[name] += fmt.Sprintf("%s %s ", r, amount.String())
			}
		}
	}
	return texts
}

func TestRooms(t *testing.T) {
	cpu := []berthv1alpha1.PropagationPolicy{byRoom("shop", "p", "")}
	tests := map[string]struct {
		policies []berthv1alpha1.PropagationPolicy
		nodes    []corev1.Node
		pods     []corev1.Pod
		want     map[string]string
	}{
		"nobody asks": {policies: []berthv1alpha1.PropagationPolicy{byRoom("shop", "p")}, nodes: []corev1.Node{node("a-0", "4", "1Gi")}, want: map[string]string{}},
		"empty nodes": {policies: cpu, nodes: []corev1.Node{node("a-0", "4", "1Gi"), node("a-1", "2", "1Gi")}, want: map[string]string{"a": "cpu 6 "}},
		"no node":     {policies: cpu, want: map[string]string{}},
		"pods of others count": {
			policies: cpu, nodes: []corev1.Node{node("a-0", "4", "1Gi")},
			pods: []corev1.Pod{pod("", "a-0", "500m"), pod("q", "a-0", "1500m"), pod("", "b-0", "1")}, want: map[string]string{"a": "cpu 2 "},
		},
		"pods of the policy do not": {
			policies: cpu, nodes: []corev1.Node{node("a-0", "4", "1Gi")}, pods: []corev1.Pod{pod("p", "a-0", "3")}, want: map[string]string{"a": "cpu 4 "},
		},
		"those of one of that name elsewhere do": {
			policies: []berthv1alpha1.PropagationPolicy{byRoom("bank", "p", "cpu")}, nodes: []corev1.Node{node("a-0", "4", "1Gi")},
			pods: []corev1.Pod{pod("p", "a-0", "3")}, want: map[string]string{"a": "cpu 1 "},
		},
		"those that have ended do not": {
			policies: cpu, nodes: []corev1.Node{node("a-0", "4", "1Gi")},
			pods: []corev1.Pod{func() corev1.Pod { p := pod("", "a-0", "3"); p.Status.Phase = corev1.PodSucceeded; return p }()},
			want: map[string]string{"a": "cpu 4 "},
		},
		"what one node lacks is not taken from another": {
			policies: cpu, nodes: []corev1.Node{node("a-0", "1", "1Gi"), node("a-1", "2", "1Gi")}, pods: []corev1.Pod{pod("", "a-0", "3")},
			want: map[string]string{"a": "cpu 2 "},
		},
		"a node that is cordoned has no room": {
			policies: cpu, nodes: []corev1.Node{node("a-0", "4", "1Gi"), func() corev1.Node { n := node("b-0", "4", "1Gi"); n.Spec.Unschedulable = true; return n }()},
			want: map[string]string{"a": "cpu 4 ", "b": "cpu 0 "},
		},
		"those of a policy that does not weigh by room do": {
			policies: append([]berthv1alpha1.PropagationPolicy{byRoom("shop", "q")}, cpu...), nodes: []corev1.Node{node("a-0", "4", "1Gi")},
			pods: []corev1.Pod{pod("q", "a-0", "3")}, want: map[string]string{"a": "cpu 1 "},
		},
		"what no node has is told as nothing": {
			policies: []berthv1alpha1.PropagationPolicy{byRoom("shop", "p", "cpu", "memory")},
			nodes:    []corev1.Node{func() corev1.Node { n := node("a-0", "4", "0"); delete(n.Status.Allocatable, "memory"); return n }(), node("b-0", "4", "0")},
			want:     map[string]string{"a": "cpu 4 memory 0 ", "b": "cpu 4 memory 0 "},
		},
		"several resources, and the number of pods": {
			policies: []berthv1alpha1.PropagationPolicy{byRoom("shop", "p", "memory"), byRoom("bank", "q", "pods", "", "memory")},
			nodes:    []corev1.Node{node("a-0", "3", "1Gi")}, pods: []corev1.Pod{pod("", "a-0", "1"), pod("other", "a-0", "1")},
			want: map[string]string{"a": "cpu 1 memory 1073741824 pods 62 "},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			asked := capacity.AskedBy(tc.policies)
			if diff := cmp.Diff(tc.want, written(asked.Rooms(clusters(tc.nodes, "a", "b"), tc.pods))); diff != "" {
				t.Errorf("rooms (-want +got):\n%s", diff)
			}
		})
	}
}

func TestNobodyAsks(t *testing.T) {
	for _, tc := range []struct {
		policy berthv1alpha1.PropagationPolicy
		want   bool
	}{{byRoom("shop", "p"), true}, {byRoom("shop", "p", "cpu"), false}} {
		if asked := capacity.AskedBy([]berthv1alpha1.PropagationPolicy{tc.policy}); asked.None() != tc.want {
			t.Errorf("nobody asks for what %v weighs by: %t", tc.policy.Spec.Placement.ClusterGroups, asked.None())
		}
	}
}

// Policies can name more resources than a status tells of: those count that come first by name.
func TestRoomsTellOfTheFirstResources(t *testing.T) {
	n := extended(40)
	n.Name = "a-0"
	var names []string
	for name := range n.Status.Allocatable {
		names = append(names, string(name))
	}
	asked := capacity.AskedBy([]berthv1alpha1.PropagationPolicy{byRoom("shop", "p", names...), byRoom("bank", "q", names[:9]...)})
	room := asked.Rooms(clusters([]corev1.Node{*n}, "a"), nil)["a"]
	if diff := cmp.Diff(extended(32).Status.Allocatable, room); diff != "" {
		t.Errorf("room (-want +got):\n%s", diff)
	}
}

// Where the pods of policies by room are makes no difference, so these cannot chase their own pods.
func TestRoomDoesNotDependOnWhereThePoliciesPodsAre(t *testing.T) {
	nodes := []corev1.Node{node("a-0", "8", "8Gi"), node("a-1", "4", "8Gi"), node("b-0", "16", "8Gi"), node("b-1", "2", "8Gi")}
	asked := capacity.AskedBy([]berthv1alpha1.PropagationPolicy{byRoom("shop", "p", "cpu"), byRoom("shop", "q", "pods")})
	rapid.Check(t, func(t *rapid.T) {
		draw := func(label string) string { return nodes[rapid.IntRange(0, len(nodes)-1).Draw(t, label)].Name }
		var before, after []corev1.Pod
		for range rapid.IntRange(0, 12).Draw(t, "pods") {
			policy, cpu, at := rapid.SampledFrom([]string{"", "other", "p", "q"}).Draw(t, "policy"), rapid.SampledFrom([]string{"1", "300m"}).Draw(t, "cpu"), draw("node")
			before = append(before, pod(policy, at, cpu))
			if policy == "p" || policy == "q" {
				at = draw("another node")
			}
			after = append(after, pod(policy, at, cpu))
		}
		snapshot := clusters(nodes, "a", "b")
		if diff := cmp.Diff(written(asked.Rooms(snapshot, before)), written(asked.Rooms(snapshot, after))); diff != "" {
			t.Errorf("rooms after moves (-before +after):\n%s", diff)
		}
	})
}

func TestAlike(t *testing.T) {
	cpu := func(amount string) corev1.ResourceList {
		return corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(amount)}
	}
	tests := map[string]struct {
		a, b corev1.ResourceList
		want bool
	}{
		"nothing":           {nil, corev1.ResourceList{}, true},
		"the same":          {cpu("4"), cpu("4000m"), true},
		"a little less":     {cpu("8"), cpu("7"), true},
		"much less":         {cpu("8"), cpu("5"), false},
		"none left":         {cpu("100m"), cpu("0"), false},
		"a resource comes":  {nil, cpu("0"), false},
		"a resource goes":   {cpu("0"), nil, false},
		"another resource":  {cpu("1"), corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("1")}, false},
		"one more resource": {cpu("1"), corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1"), corev1.ResourceMemory: resource.MustParse("1")}, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := capacity.Alike(tc.a, tc.b); got != tc.want {
				t.Errorf("%v and %v are alike: %t, want %t", tc.a, tc.b, got, tc.want)
			}
		})
	}
}
