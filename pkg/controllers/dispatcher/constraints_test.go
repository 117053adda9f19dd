// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package dispatcher_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// labelled is two, where the one cluster of b alone is green.
func labelled(more ...client.Object) []client.Object {
	objects := two(more...)
	for _, o := range objects {
		if c, ok := o.(*berthv1alpha1.Cluster); ok && c.Name == "c3" {
			c.Labels = map[string]string{"energy": "green"}
			c.Spec.CustomResources = []string{"gpus.example.com"}
			c.Spec.Metrics = []berthv1alpha1.MetricReference{{Name: "load", Weight: 1}}
			c.Status.Metrics = []berthv1alpha1.MetricSample{{Name: "load", Value: ptr.To(5.0), Normalized: ptr.To(0.5)}}
		}
	}
	return objects
}

func annotated(key, text string) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Annotations = map[string]string{key: text} }
}

func TestConstraintsDecideTheHome(t *testing.T) {
	for name, tc := range map[string]struct{ key, text, want string }{
		"a label":                     {berthv1alpha1.ClusterLabelConstraintAnnotation, "energy is green", "b"},
		"a metric":                    {berthv1alpha1.ClusterMetricConstraintAnnotation, "load < 6", "b"},
		"a custom resource":           {berthv1alpha1.ClusterResourceConstraintAnnotation, "gpus.example.com", "b"},
		"a label that excludes":       {berthv1alpha1.ClusterLabelConstraintAnnotation, "energy is not green", "a"},
		"what no cluster meets":       {berthv1alpha1.ClusterLabelConstraintAnnotation, "energy is blue", "a"},
		"what cannot be understood":   {berthv1alpha1.ClusterLabelConstraintAnnotation, "energy green", "a"},
		"no constraint, only ranking": {berthv1alpha1.ClusterRankingAnnotation, berthv1alpha1.ClusterRankingMetrics, "a"},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t, labelled(pod("p", annotated(tc.key, tc.text)))...)
			h.pass()
			if got := h.home("p"); got != tc.want {
				t.Errorf("home %q, want %q", got, tc.want)
			}
		})
	}
}

func TestAHomeThatMeetsNoConstraintIsLeftAtOnce(t *testing.T) {
	h := newHarness(t, labelled(pod("p", at("a"),
		annotated(berthv1alpha1.ClusterLabelConstraintAnnotation, "energy is green")))...)
	h.pass()
	if got := h.home("p"); got != "b" {
		t.Errorf("home %q, want b without any wait", got)
	}
}

func TestConstraintsOfAPolicyDecideTheHome(t *testing.T) {
	for name, tc := range map[string]struct {
		constraint string
		want       string
	}{
		"the first seat is in an admitted cluster":            {"energy is green", "b"},
		"the first seat is in a cluster that is not admitted": {"energy is not green", "a"},
	} {
		t.Run(name, func(t *testing.T) {
			objects := labelled(append(web(1), pod("p", ofWeb))...)
			for _, o := range objects {
				if policy, ok := o.(*berthv1alpha1.PropagationPolicy); ok {
					policy.Spec.Placement.Constraints = &berthv1alpha1.ClusterConstraints{ClusterLabels: []string{tc.constraint}}
				}
			}
			h := newHarness(t, objects...)
			h.pass()
			if got := h.home("p"); got != tc.want {
				t.Errorf("home %q, want %q", got, tc.want)
			}
		})
	}
}
