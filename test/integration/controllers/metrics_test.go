// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"context"
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// metricsOf tells what a cluster shows of its metrics, and whether all could be read.
func metricsOf(ctx context.Context, name string) (string, error) {
	c, err := berth.BerthV1alpha1().Clusters().Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return "", err
	}
	var texts []string
	for _, sample := range c.Status.Metrics {
		text := sample.Name
		if sample.Value != nil {
			text += fmt.Sprintf("=%v/%v", *sample.Value, *sample.Normalized)
		}
		texts = append(texts, text+" "+sample.Reason)
	}
	if found := apimeta.FindStatusCondition(c.Status.Conditions, berthv1alpha1.MetricsAvailable); found != nil {
		texts = append(texts, "("+string(found.Status)+" "+found.Reason+")")
	}
	return strings.Join(texts, ""), nil
}

var _ = Describe("Metrics", func() {
	It("get into the status of the clusters that they describe", func(ctx SpecContext) {
		kinds := berth.BerthV1alpha1()
		provider := &berthv1alpha1.GlobalMetricsProvider{ObjectMeta: metav1.ObjectMeta{Name: "static-provider"}}
		provider.Spec.Type = berthv1alpha1.StaticMetrics
		provider.Spec.Static = &berthv1alpha1.StaticProvider{Metrics: map[string]float64{"heat_demand_zone_1": 3.75}}
		provider, err := kinds.GlobalMetricsProviders().Create(ctx, provider, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		_, err = kinds.GlobalMetrics().Create(ctx, &berthv1alpha1.GlobalMetric{
			ObjectMeta: metav1.ObjectMeta{Name: "heat-demand-zone-1"},
			Spec: berthv1alpha1.MetricSpec{
				Max: 5, Provider: berthv1alpha1.MetricSource{Name: "static_provider", Metric: "heat_demand_zone_1"},
			},
		}, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		_, err = kinds.Clusters().Create(ctx, &berthv1alpha1.Cluster{
			ObjectMeta: metav1.ObjectMeta{Name: "heated"},
			Spec: berthv1alpha1.ClusterSpec{Metrics: []berthv1alpha1.MetricReference{
				{Name: "heat_demand_zone_1", Weight: 1},
			}},
		}, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(func(ctx SpecContext) {
			Expect(kinds.Clusters().Delete(ctx, "heated", metav1.DeleteOptions{})).To(Succeed())
			Expect(kinds.GlobalMetrics().Delete(ctx, "heat-demand-zone-1", metav1.DeleteOptions{})).To(Succeed())
			Expect(kinds.GlobalMetricsProviders().Delete(ctx, "static-provider", metav1.DeleteOptions{})).To(Succeed())
		})
		read := func(want string) {
			GinkgoHelper()
			Eventually(metricsOf).WithContext(ctx).WithArguments("heated").WithTimeout(timeout).WithPolling(poll).Should(Equal(want))
		}
		read("heat_demand_zone_1=3.75/0.75 (True MetricsRead)")

		_, err = kinds.GlobalMetricsProviders().Patch(ctx, provider.Name, types.MergePatchType,
			[]byte(`{"spec":{"static":{"metrics":{"heat_demand_zone_1":6}}}}`), metav1.PatchOptions{})
		Expect(err).NotTo(HaveOccurred())
		read("heat_demand_zone_1=3.75/0.75 OutOfRange(False OutOfRange)")
	})

	It("say which clusters are online", func(ctx SpecContext) {
		newPlainCluster(ctx, "without-nodes", "no-such-node")
		Eventually(func(ctx context.Context) (string, error) {
			c, err := berth.BerthV1alpha1().Clusters().Get(ctx, "without-nodes", metav1.GetOptions{})
			if err != nil {
				return "", err
			}
			found := apimeta.FindStatusCondition(c.Status.Conditions, berthv1alpha1.ClusterOnline)
			if found == nil {
				return "", nil
			}
			return string(found.Status) + " " + found.Reason, nil
		}).WithContext(ctx).WithTimeout(timeout).WithPolling(poll).Should(Equal("False TooFewNodesReady"))
	})

	It("choose the cloud of a cluster that is to be made, once there is one", func(ctx SpecContext) {
		kinds := berth.BerthV1alpha1()
		_, err := kinds.Clusters().Create(ctx, &berthv1alpha1.Cluster{
			ObjectMeta: metav1.ObjectMeta{Name: "to-be-made"},
			Spec: berthv1alpha1.ClusterSpec{Provision: &berthv1alpha1.ClusterProvision{
				CloudLabels: berthv1alpha1.LabelConstraints{"location is DE"},
			}},
		}, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(func(ctx SpecContext) {
			Expect(kinds.Clusters().Delete(ctx, "to-be-made", metav1.DeleteOptions{})).To(Succeed())
		})
		bound := func(ctx context.Context) (string, error) {
			c, err := kinds.Clusters().Get(ctx, "to-be-made", metav1.GetOptions{})
			if err != nil {
				return "", err
			}
			text := ""
			if c.Status.ScheduledTo != nil {
				text = c.Status.ScheduledTo.Kind + " " + c.Status.ScheduledTo.Name + " "
			}
			if found := apimeta.FindStatusCondition(c.Status.Conditions, berthv1alpha1.ClusterCloudBound); found != nil {
				text += found.Reason
			}
			return text, nil
		}
		Eventually(bound).WithContext(ctx).WithTimeout(timeout).WithPolling(poll).Should(Equal("NoCloudMatches"))
		cloud, err := kinds.GlobalClouds().Create(ctx, &berthv1alpha1.GlobalCloud{
			ObjectMeta: metav1.ObjectMeta{Name: "cloud-de", Labels: map[string]string{"location": "DE"}},
		}, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(func(ctx SpecContext) {
			Expect(kinds.GlobalClouds().Delete(ctx, "cloud-de", metav1.DeleteOptions{})).To(Succeed())
		})
		Eventually(bound).WithContext(ctx).WithTimeout(timeout).WithPolling(poll).Should(Equal("GlobalCloud cloud-de CloudChosen"))
		observed := func(ctx context.Context) (int64, error) {
			c, err := kinds.GlobalClouds().Get(ctx, "cloud-de", metav1.GetOptions{})
			return c.Status.ObservedGeneration, err
		}
		Eventually(observed).WithContext(ctx).WithTimeout(timeout).WithPolling(poll).Should(Equal(cloud.Generation))
	})
})
