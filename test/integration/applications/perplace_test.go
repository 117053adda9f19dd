// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package applications_test

import (
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/localplane"
)

var _ = Describe("A metric", func() {
	It("has a value for each cluster, and names those without the label that it asks by", func(ctx SpecContext) {
		s := newSite(ctx, nil)
		_, err := berth.BerthV1alpha1().GlobalMetricsProviders().Patch(ctx, s.namespace, types.MergePatchType, fmt.Appendf(nil,
			`{"spec":{"static":{"metrics":{"load-%s-x":0.2,"load-%s-y":0.9}}}}`, s.full("berlin"), s.full("madrid")), metav1.PatchOptions{})
		Expect(err).NotTo(HaveOccurred())
		metric := &berthv1alpha1.GlobalMetric{ObjectMeta: metav1.ObjectMeta{Name: "load-" + s.namespace}, Spec: berthv1alpha1.MetricSpec{
			Max: 1, Provider: berthv1alpha1.MetricSource{Name: s.namespace, Metric: "load-$(cluster)-$(labels.example.com/zone)"},
		}}
		for _, bad := range []string{"$(node)", "a$(labels.)", "$(cluster", "$(labels.a b)", "$(cluster) $(x)"} {
			wrong := metric.DeepCopy()
			wrong.Spec.Provider.Metric = bad
			_, err := berth.BerthV1alpha1().GlobalMetrics().Create(ctx, wrong, metav1.CreateOptions{})
			Expect(err).To(MatchError(ContainSubstring("$( must be followed by cluster) or labels.KEY)")), bad)
		}
		_, err = berth.BerthV1alpha1().GlobalMetrics().Create(ctx, metric, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		for name, zone := range map[string]string{"berlin": "x", "madrid": "y", "rome": ""} {
			full := s.full(name)
			Expect(localplane.CreateNodes(ctx, client, full, 2, map[string]string{siteLabel: full}, nil)).To(Succeed())
			cluster := &berthv1alpha1.Cluster{
				ObjectMeta: metav1.ObjectMeta{Name: full, Labels: map[string]string{"site": s.namespace}},
				Spec: berthv1alpha1.ClusterSpec{
					MatchLabels: map[string]string{siteLabel: full}, Metrics: []berthv1alpha1.MetricReference{{Name: metric.Name, Weight: 1}},
				},
			}
			if zone != "" {
				cluster.Labels["example.com/zone"] = zone
			}
			_, err := berth.BerthV1alpha1().Clusters().Create(ctx, cluster, metav1.CreateOptions{})
			Expect(err).NotTo(HaveOccurred())
		}
		Eventually(func(g Gomega) {
			found, err := berth.BerthV1alpha1().GlobalMetrics().Get(ctx, metric.Name, metav1.GetOptions{})
			g.Expect(err).NotTo(HaveOccurred())
			told := apimeta.FindStatusCondition(found.Status.Conditions, berthv1alpha1.MetricAvailable)
			g.Expect(told).NotTo(BeNil())
			g.Expect(told.Reason + ": " + told.Message).To(Equal("MissingLabel: " + s.full("rome") + ": there is no label example.com/zone"))
		}).WithTimeout(timeout).WithPolling(poll).Should(Succeed())
		s.apply(ctx, nil)
		s.runsIn(ctx, "madrid")

		_, err = berth.BerthV1alpha1().GlobalMetricsProviders().Patch(ctx, s.namespace, types.MergePatchType, fmt.Appendf(nil,
			`{"spec":{"static":{"metrics":{"load-%s-z":0.99}}}}`, s.full("rome")), metav1.PatchOptions{})
		Expect(err).NotTo(HaveOccurred())
		_, err = berth.BerthV1alpha1().Clusters().Patch(ctx, s.full("rome"), types.MergePatchType,
			[]byte(`{"metadata":{"labels":{"example.com/zone":"z"}}}`), metav1.PatchOptions{})
		Expect(err).NotTo(HaveOccurred())
		Eventually(func() bool {
			found, err := berth.BerthV1alpha1().GlobalMetrics().Get(ctx, metric.Name, metav1.GetOptions{})
			return err == nil && apimeta.IsStatusConditionTrue(found.Status.Conditions, berthv1alpha1.MetricAvailable)
		}).WithTimeout(timeout).WithPolling(poll).Should(BeTrue())
	})
})
