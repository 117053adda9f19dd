// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package nodegrouppolicy_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/plugins/nodegrouppolicy"
	"berth.dev/berth/pkg/plugintest"
)

// An upstream plugin that does not sign pods switches batching off for all of them; so would ours.
func TestPodsWithoutAPolicyAreScheduledInBatches(t *testing.T) {
	d, rs := deployment("nginx", 5)
	other := plugintest.Deployment("other", 5)
	otherSet := plugintest.ReplicaSet(other, "v1")
	bare := plugintest.MakePod("task").Obj()
	foreign := bare.DeepCopy()
	foreign.Namespace = "elsewhere"
	tests := map[string]struct {
		pod        *corev1.Pod
		wantSigned bool
	}{
		"no policy in its namespace":           {foreign, true},
		"no policy selects it":                 {plugintest.MakePodOf(otherSet, 0).Obj(), true},
		"it asks for no policy":                {plugintest.MakePodOf(rs, 0).Annotation(berthv1alpha1.PolicyAnnotation, "none").Obj(), true},
		"no policy selects pods without owner": {bare, true},
		"a policy places it":                   {plugintest.MakePodOf(rs, 0).Obj(), false},
		"it asks for a policy":                 {plugintest.MakePodOf(otherSet, 0).Annotation(berthv1alpha1.PolicyAnnotation, "web").Obj(), false},
		"it asks for a policy that is missing": {plugintest.MakePodOf(otherSet, 0).Annotation(berthv1alpha1.PolicyAnnotation, "gone").Obj(), false},
		"its owner is not known":               {plugintest.MakePodOf(plugintest.ReplicaSet(d, "v2"), 0).Obj(), false},
	}
	s := newTwoSites(t, beijingHangzhou().Obj(), d, rs, other, otherSet)
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			signature := s.Framework.SignPod(s.Context(), tc.pod, false)
			if gotSigned := signature != nil; gotSigned != tc.wantSigned {
				t.Errorf("the profile signs the pod: %t, want %t", gotSigned, tc.wantSigned)
			}
		})
	}
}

// The framework schedules in batches pods of which each node takes one. The signature of others
// would be of no use.
func TestPodsOfWhichANodeTakesSeveralAreNotSigned(t *testing.T) {
	s := newTwoSites(t)
	request := func(name corev1.ResourceName, quantity string) *corev1.Pod {
		return plugintest.MakePod("task").Req(map[corev1.ResourceName]string{name: quantity}).Obj()
	}
	s.Try(plugintest.MakePod("first").Obj()) // Now the scheduler has a look at its nodes of 32 CPUs.
	for name, tc := range map[string]struct {
		pod        *corev1.Pod
		wantSigned bool
	}{
		"it asks for nothing":               {plugintest.MakePod("task").Obj(), false},
		"two fill a node":                   {request(corev1.ResourceCPU, "16"), false},
		"two are too many":                  {request(corev1.ResourceCPU, "16001m"), true},
		"it needs most of the memory":       {request(corev1.ResourceMemory, "100Gi"), true},
		"it asks for what the node has not": {request("example.com/gpu", "1"), true},
		"it asks for a port of the node":    {plugintest.MakePod("task").HostPort(80).Obj(), true},
	} {
		t.Run(name, func(t *testing.T) {
			signature := s.Framework.SignPod(s.Context(), tc.pod, false)
			if gotSigned := signature != nil; gotSigned != tc.wantSigned {
				t.Errorf("the profile signs the pod: %t, want %t", gotSigned, tc.wantSigned)
			}
		})
	}
}

func TestNoPodIsSignedBeforePoliciesHaveBeenRead(t *testing.T) {
	s := plugintest.New(t, nil, plugintest.Held())
	if s.Framework.SignPod(s.Context(), plugintest.MakePod("task").Obj(), false) != nil {
		t.Error("the profile signs a pod that may have a policy")
	}
}

// find returns the plugin as the framework made it.
func find[T fwk.Plugin](t testing.TB, s *plugintest.Scheduler) T {
	t.Helper()
	var found T
	for _, extension := range s.Framework.EnqueueExtensions() {
		if plugin, ok := extension.(T); ok && extension.Name() == nodegrouppolicy.Name {
			return plugin
		}
	}
	t.Fatal("the framework does not have the plugin")
	return found
}

func TestPodsWithoutAPolicyCostNothing(t *testing.T) {
	d, rs := deployment("nginx", 5)
	s := newTwoSites(t, beijingHangzhou().Obj(), d, rs)
	plugin := find[*nodegrouppolicy.NodeGroupPolicy](t, s)
	s.Try(plugintest.MakePod("first").Obj())
	nodes, err := s.Framework.SnapshotSharedLister().NodeInfos().List()
	if err != nil {
		t.Fatal(err)
	}
	ctx := s.Context()
	foreign := plugintest.MakePod("task").Namespace("elsewhere").Obj()
	refusing := plugintest.MakePodOf(rs, 0).Annotation(berthv1alpha1.PolicyAnnotation, "none").Obj()
	tests := map[string]struct {
		pod *corev1.Pod
		run func(state fwk.CycleState, pod *corev1.Pod) *fwk.Status
	}{
		"PreFilter, no policy in the namespace": {foreign, func(state fwk.CycleState, pod *corev1.Pod) *fwk.Status {
			_, status := plugin.PreFilter(ctx, state, pod, nodes)
			return status
		}},
		"PreFilter, no policy wanted": {refusing, func(state fwk.CycleState, pod *corev1.Pod) *fwk.Status {
			_, status := plugin.PreFilter(ctx, state, pod, nodes)
			return status
		}},
		"PreScore": {foreign, func(state fwk.CycleState, pod *corev1.Pod) *fwk.Status {
			return plugin.PreScore(ctx, state, pod, nodes)
		}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			state := framework.NewCycleState()
			if status := tc.run(state, tc.pod); !status.IsSkip() {
				t.Fatalf("got %v, want Skip", status)
			}
			if got := testing.AllocsPerRun(100, func() { tc.run(state, tc.pod) }); got != 0 {
				t.Errorf("%v allocations, want none", got)
			}
		})
	}
}

func TestPodsWithAPolicyCostLittle(t *testing.T) {
	d, rs := deployment("nginx", 50)
	s := newTwoSites(t, beijingHangzhou().Obj(), d, rs)
	place(t, s, rs, 0, 3)
	plugin := find[*nodegrouppolicy.NodeGroupPolicy](t, s)
	pod := plugintest.MakePodOf(rs, 3).Obj()
	s.Try(pod)
	nodes, err := s.Framework.SnapshotSharedLister().NodeInfos().List()
	if err != nil {
		t.Fatal(err)
	}
	ctx := s.Context()
	tests := map[string]struct {
		run  func(state fwk.CycleState)
		most float64
	}{
		// Two of them put the state into the cycle.
		"PreFilter": {func(state fwk.CycleState) { plugin.PreFilter(ctx, state, pod, nodes) }, 3},
		"Filter that admits": {func(state fwk.CycleState) {
			if status := plugin.Filter(ctx, state, pod, nodes[0]); status != nil {
				t.Errorf("Filter: %v", status.AsError())
			}
		}, 0},
		"Score": {func(state fwk.CycleState) {
			if _, status := plugin.Score(ctx, state, pod, nodes[0]); status != nil {
				t.Errorf("Score: %v", status.AsError())
			}
		}, 0},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			state := framework.NewCycleState()
			if _, status := plugin.PreFilter(ctx, state, pod, nodes); !status.IsSuccess() {
				t.Fatalf("PreFilter: %v", status.AsError())
			}
			if status := plugin.PreScore(ctx, state, pod, nodes); !status.IsSuccess() {
				t.Fatalf("PreScore: %v", status)
			}
			if got := testing.AllocsPerRun(100, func() { tc.run(state) }); got > tc.most {
				t.Errorf("%v allocations, want at most %v", got, tc.most)
			}
		})
	}
}
