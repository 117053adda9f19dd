// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package whatif_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/plugintest"
	"berth.dev/berth/pkg/simulator/whatif"
)

// grouped is a policy of groups for Deployments of the names.
func grouped(groups []berthv1alpha1.ClusterGroup, names ...string) *berthv1alpha1.PropagationPolicy {
	p := plugintest.MakePolicy("p")
	for _, name := range names {
		p.Deployment(name)
	}
	policy := p.Obj()
	policy.Spec.Placement.ClusterGroups = groups
	return policy
}

// tiered lets hangzhou have what finds no node in beijing.
func tiered() []berthv1alpha1.ClusterGroup {
	return []berthv1alpha1.ClusterGroup{
		{Name: "home", ClusterNames: []string{"beijing"}},
		{Name: "burst", ClusterNames: []string{"hangzhou"}, Tier: new(int32(1)), GiveUpAfter: &metav1.Duration{Duration: time.Hour}},
	}
}

func expect(t *testing.T, s *whatif.Simulation, evictions int, want ...string) {
	t.Helper()
	result := settled(t, s)
	if diff := cmp.Diff(want, brief(result)); diff != "" {
		t.Errorf("workloads (-want +got):\n%s", diff)
	}
	if got := len(result.Evictions); got != evictions {
		t.Errorf("%d evictions, want %d", got, evictions)
	}
}

// A site has 8 cpus.
func TestALaterTierTakesWhatFindsNoNode(t *testing.T) {
	s := simulation(t, append(twoSites(), grouped(tiered(), "x"), deployment("x", 10, "1"))...)
	expect(t, s, 0, "Deployment/x 8 beijing, 2 hangzhou")
	another := plugintest.MakeNode("beijing", 2).Capacity(map[corev1.ResourceName]string{
		corev1.ResourceCPU: "1", corev1.ResourcePods: "10", corev1.ResourceMemory: "8Gi",
	}).Obj()
	if err := s.Apply(t.Context(), another); err != nil {
		t.Fatal(err)
	}
	expect(t, s, 1, "Deployment/x 9 beijing, 1 hangzhou")
	if err := s.Scale(t.Context(), "Deployment", plugintest.Namespace, "x", 5); err != nil {
		t.Fatal(err)
	}
	expect(t, s, 1, "Deployment/x 5 beijing")
}

func TestTiersOfSeveralWorkloads(t *testing.T) {
	s := simulation(t, append(twoSites(), grouped(tiered(), "x", "y"), deployment("x", 6, "1"), deployment("y", 6, "1"))...)
	expect(t, s, 0, "Deployment/x 6 beijing", "Deployment/y 2 beijing, 4 hangzhou")
}

func TestWhatNobodyTakesWaits(t *testing.T) {
	result := settled(t, simulation(t, append(twoSites(), grouped(tiered(), "x"), deployment("x", 20, "1"))...))
	if got := brief(result); len(got) != 1 || !strings.HasPrefix(got[0], "Deployment/x 8 beijing, 8 hangzhou, 4 wait: ") {
		t.Errorf("workloads = %v", got)
	}
}

func TestReplicasFollowTheClusters(t *testing.T) {
	each := grouped([]berthv1alpha1.ClusterGroup{{Name: "all", ClusterSelector: &metav1.LabelSelector{}, ReplicasPerCluster: new(int32(2))}}, "x")
	each.Spec.Scaling = &berthv1alpha1.Scaling{Mode: berthv1alpha1.ScaleFollowClusters}
	nobody := each.DeepCopy()
	nobody.Spec.Scaling = nil
	target := autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "x"}
	tests := map[string]struct {
		objects []runtime.Object
		want    string
	}{
		"nobody scales":   {[]runtime.Object{nobody}, "Deployment/x 1 hangzhou"},
		"the policy does": {[]runtime.Object{each}, "Deployment/x 2 beijing, 2 hangzhou"},
		"an autoscaler does": {[]runtime.Object{each, &autoscalingv2.HorizontalPodAutoscaler{
			ObjectMeta: meta("auto"), Spec: autoscalingv2.HorizontalPodAutoscalerSpec{ScaleTargetRef: target, MaxReplicas: 9},
		}}, "Deployment/x 1 hangzhou"},
		"one of the first version does": {[]runtime.Object{each, &autoscalingv1.HorizontalPodAutoscaler{
			ObjectMeta: meta("auto"), Spec: autoscalingv1.HorizontalPodAutoscalerSpec{
				ScaleTargetRef: autoscalingv1.CrossVersionObjectReference(target), MaxReplicas: 9,
			},
		}}, "Deployment/x 1 hangzhou"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			objects := append(twoSites(), deployment("x", 1, "1"))
			expect(t, simulation(t, append(objects, tc.objects...)...), 0, tc.want)
		})
	}
}

// Of files nobody else says what there is in the Clusters.
func TestWeightsByWhatThereIs(t *testing.T) {
	third := plugintest.MakeNode("hangzhou", 2).Capacity(map[corev1.ResourceName]string{
		corev1.ResourceCPU: "8", corev1.ResourcePods: "10", corev1.ResourceMemory: "8Gi",
	}).Obj()
	by := func(weights berthv1alpha1.ClusterWeights) *berthv1alpha1.PropagationPolicy {
		return grouped([]berthv1alpha1.ClusterGroup{{Name: "all", ClusterSelector: &metav1.LabelSelector{}, ClusterWeights: &weights}}, "x")
	}
	tests := map[string]struct {
		policy *berthv1alpha1.PropagationPolicy
		want   string
	}{
		"allocatable": {by(berthv1alpha1.ClusterWeights{Type: berthv1alpha1.WeighAllocatable, Resource: "cpu"}), "Deployment/x 2 beijing, 4 hangzhou"},
		"room":        {by(berthv1alpha1.ClusterWeights{Type: berthv1alpha1.WeighRoom}), "Deployment/x 1 beijing, 5 hangzhou"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			load := &corev1.Pod{ObjectMeta: meta("load"), Spec: template("load", "4").Spec}
			load.Spec.NodeName = "beijing-0"
			s := simulation(t, append(twoSites(), third, load, tc.policy, deployment("x", 6, "1"))...)
			expect(t, s, 0, tc.want, "Pod/load 1 beijing")
		})
	}
}
