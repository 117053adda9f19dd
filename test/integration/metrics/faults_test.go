// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package metrics_test

import (
	"context"
	"encoding/json"
	"maps"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/test/integration/internal/promserver"
)

// plantFaults adds a policy and an Application that cannot be carried out to what populate has
// made, which has a Cluster without nodes, a pool that is used up, and pods that their share leaves
// no place.
func plantFaults(ctx context.Context) {
	GinkgoHelper()
	kinds := plane.Berth.BerthV1alpha1()
	policy := &berthv1alpha1.PropagationPolicy{ObjectMeta: metav1.ObjectMeta{Name: "foreign"}}
	policy.Spec.ResourceSelectors = []berthv1alpha1.ResourceSelector{{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "elsewhere", Name: "web"}}
	policy.Spec.Placement.StaticWeightList = []berthv1alpha1.StaticClusterWeight{{ClusterNames: []string{"harbour"}, Weight: 1}}
	_, err := kinds.PropagationPolicies("default").Create(ctx, policy, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	raw, err := json.Marshal(map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "settings"}, "data": map[string]any{"a": "b"},
	})
	Expect(err).NotTo(HaveOccurred())
	app := &berthv1alpha1.Application{ObjectMeta: metav1.ObjectMeta{Name: "nowhere"}}
	app.Spec.Manifests = []berthv1alpha1.Manifest{{RawExtension: runtime.RawExtension{Raw: raw}}}
	app.Spec.Constraints.ClusterLabels = berthv1alpha1.LabelConstraints{"location is MOON"}
	_, err = kinds.Applications("default").Create(ctx, app, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
}

// raised returns which alerts would call somebody, at once or if they go on.
func raised(ctx context.Context, server *promserver.Server) ([]string, error) {
	var answer struct {
		Alerts []struct{ Labels struct{ Alertname string } }
	}
	err := ask(ctx, server, "/api/v1/alerts", &answer)
	names := map[string]bool{}
	for _, alert := range answer.Alerts {
		names[alert.Labels.Alertname] = true
	}
	return slices.Sorted(maps.Keys(names)), err
}

func expectRaised(ctx context.Context, server *promserver.Server, want ...string) {
	GinkgoHelper()
	Eventually(raised).WithArguments(ctx, server).WithContext(ctx).WithTimeout(patience).WithPolling(poll).Should(Equal(want))
}
