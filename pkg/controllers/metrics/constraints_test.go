// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package metrics_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// The threshold of the harness is 0.001 of the range.
func TestAValueBeyondAConstraintIsWrittenAtOnce(t *testing.T) {
	meta := metav1.ObjectMeta{Name: "web", Namespace: "shop"}
	app := &berthv1alpha1.Application{ObjectMeta: meta}
	app.Spec.Constraints.ClusterMetrics = []string{"load < 5", "load ? 1"}
	policy := &berthv1alpha1.PropagationPolicy{ObjectMeta: meta}
	policy.Spec.Placement.Constraints = &berthv1alpha1.ClusterConstraints{ClusterMetrics: []string{"load < 5"}}
	pod := &corev1.Pod{ObjectMeta: meta}
	pod.Annotations = map[string]string{berthv1alpha1.ClusterMetricConstraintAnnotation: "green > 1; load < 5"}
	made := cluster("made")
	made.Spec.Provision = &berthv1alpha1.ClusterProvision{CloudMetrics: []string{"load < 5"}}
	magnum := &berthv1alpha1.MagnumCluster{ObjectMeta: meta}
	magnum.Spec.Constraints.ProjectMetrics = []string{"load < 5"}
	other := app.DeepCopy()
	other.Spec.Constraints.ClusterMetrics = []string{"green < 5", "load < 6"}
	for name, tc := range map[string]struct {
		constrained client.Object
		want        string
	}{
		"of an Application":  {app, "0.5004 fresh"},
		"of a policy":        {policy, "0.5004 fresh"},
		"of a pod":           {pod, "0.5004 fresh"},
		"of a new Cluster":   {made, "0.5004 fresh"},
		"of a MagnumCluster": {magnum, "0.5004 fresh"},
		"of something else":  {other, "0.4995 fresh"},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t, staticProvider("static", 4.995), globalMetric("load", "static"), cluster("berlin", load()), tc.constrained)
			h.round()
			provider := staticProvider("static", 5.004)
			stored := &berthv1alpha1.GlobalMetricsProvider{}
			h.get(stored, "static")
			stored.Spec, stored.Generation = provider.Spec, stored.Generation+1
			if err := h.api.Update(t.Context(), stored); err != nil {
				t.Fatal(err)
			}
			h.round()
			if got := h.sample("berlin"); got != tc.want {
				t.Errorf("berlin has %s, want %s", got, tc.want)
			}
		})
	}
}
