// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/test/integration/internal/promserver"
)

var _ = Describe("Metrics of a real Prometheus server", func() {
	It("follow what an exporter says, into the status of the clusters", func(ctx SpecContext) {
		server := promserver.Start(ctx, GinkgoT())
		server.Gauges.WithLabelValues("de").Set(1)
		server.Gauges.WithLabelValues("sk").Set(2)

		kinds := berth.BerthV1alpha1()
		provider := &berthv1alpha1.GlobalMetricsProvider{ObjectMeta: metav1.ObjectMeta{Name: "real-prometheus"}}
		provider.Spec.Type = berthv1alpha1.PrometheusMetrics
		provider.Spec.AllowPlainHTTP = true
		provider.Spec.Prometheus = &berthv1alpha1.PrometheusProvider{URL: berthv1alpha1.ProviderURL(server.URL)}
		_, err := kinds.GlobalMetricsProviders().Create(ctx, provider, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(func(ctx SpecContext) {
			Expect(kinds.GlobalMetricsProviders().Delete(ctx, provider.Name, metav1.DeleteOptions{})).To(Succeed())
		})
		for metric, query := range map[string]string{
			"real-de": `berth_test_load{zone="de"}`, "real-sum": `sum(berth_test_load)`, "real-all": `berth_test_load`,
		} {
			_, err = kinds.GlobalMetrics().Create(ctx, &berthv1alpha1.GlobalMetric{
				ObjectMeta: metav1.ObjectMeta{Name: metric},
				Spec: berthv1alpha1.MetricSpec{
					Max: 8, Provider: berthv1alpha1.MetricSource{Name: provider.Name, Metric: query},
				},
			}, metav1.CreateOptions{})
			Expect(err).NotTo(HaveOccurred())
			DeferCleanup(func(ctx SpecContext) {
				Expect(kinds.GlobalMetrics().Delete(ctx, metric, metav1.DeleteOptions{})).To(Succeed())
			})
		}
		_, err = kinds.Clusters().Create(ctx, &berthv1alpha1.Cluster{
			ObjectMeta: metav1.ObjectMeta{Name: "measured"},
			Spec: berthv1alpha1.ClusterSpec{Metrics: []berthv1alpha1.MetricReference{
				{Name: "real-de", Weight: 1}, {Name: "real-sum", Weight: 1}, {Name: "real-all", Weight: 1},
			}},
		}, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(func(ctx SpecContext) {
			Expect(kinds.Clusters().Delete(ctx, "measured", metav1.DeleteOptions{})).To(Succeed())
		})

		measured := func(ctx context.Context) (string, error) { return metricsOf(ctx, "measured") }
		Eventually(measured).WithContext(ctx).WithTimeout(timeout).WithPolling(poll).Should(
			SatisfyAll(ContainSubstring("real-de=1/0.125 "), ContainSubstring("real-sum=3/0.375 "),
				ContainSubstring("real-all "+berthv1alpha1.ReasonSeveralValues)))

		By("another value")
		server.Gauges.WithLabelValues("de").Set(4)
		Eventually(measured).WithContext(ctx).WithTimeout(timeout).WithPolling(poll).Should(
			SatisfyAll(ContainSubstring("real-de=4/0.5 "), ContainSubstring("real-sum=6/0.75 ")))
	})
})
