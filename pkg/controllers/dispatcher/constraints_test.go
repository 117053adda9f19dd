// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package dispatcher_test

import (
	"testing"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

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

func TestAHomeWhoseClustersAreCordonedGetsNoPod(t *testing.T) {
	for want, cordoned := range map[string]bool{"a": false, "b": true} {
		objects := labelled(pod("p"))
		for _, o := range objects {
			if c, ok := o.(*berthv1alpha1.Cluster); ok && c.Labels["energy"] != "green" {
				c.Spec.Unschedulable = cordoned
			}
		}
		h := newHarness(t, objects...)
		h.pass()
		if got := h.home("p"); got != want {
			t.Errorf("home %q, want %q with the clusters of a cordoned: %t", got, want, cordoned)
		}
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
