// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package applications_test

import (
	"context"
	"encoding/json"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
	ctrlclient "sigs.k8s.io/controller-runtime/pkg/client"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/localplane"
	"berth.dev/berth/test/integration/internal/installation"
)

// site is what a spec has to itself: a namespace, Clusters of two nodes each, and a provider with a
// metric for each of them.
type site struct {
	namespace string
}

const siteLabel = "example.com/cluster"

// newSite makes Clusters with the values of their metric, by the first part of their names.
func newSite(ctx context.Context, values map[string]float64) *site {
	GinkgoHelper()
	s := &site{namespace: installation.CreateNamespace(ctx, client, "site-")}
	installation.Allow(ctx, client, s.namespace)
	metrics := map[string]float64{}
	for name, value := range values {
		metrics[s.full(name)] = value
	}
	_, err := berth.BerthV1alpha1().GlobalMetricsProviders().Create(ctx, &berthv1alpha1.GlobalMetricsProvider{
		ObjectMeta: metav1.ObjectMeta{Name: s.namespace},
		Spec: berthv1alpha1.GlobalMetricsProviderSpec{MetricsProviderSpec: berthv1alpha1.MetricsProviderSpec{
			Type: "static", Static: &berthv1alpha1.StaticProvider{Metrics: metrics},
		}},
	}, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	for name := range values {
		s.addCluster(ctx, s.full(name))
	}
	for name := range values {
		Eventually(func(g Gomega) {
			cluster, err := berth.BerthV1alpha1().Clusters().Get(ctx, s.full(name), metav1.GetOptions{})
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(apimeta.IsStatusConditionTrue(cluster.Status.Conditions, berthv1alpha1.ClusterOnline)).To(BeTrue())
			g.Expect(cluster.Status.Metrics).NotTo(BeEmpty())
			g.Expect(cluster.Status.Metrics[0].Value).NotTo(BeNil())
		}).WithTimeout(timeout).WithPolling(poll).Should(Succeed())
	}
	return s
}

// full returns the name of a Cluster in the API.
func (s *site) full(name string) string { return name + "-" + s.namespace }

func (s *site) addCluster(ctx context.Context, name string) {
	GinkgoHelper()
	Expect(localplane.CreateNodes(ctx, client, name, 2, map[string]string{siteLabel: name}, nil)).To(Succeed())
	_, err := berth.BerthV1alpha1().GlobalMetrics().Create(ctx, &berthv1alpha1.GlobalMetric{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       berthv1alpha1.MetricSpec{Min: 0, Max: 1, Provider: berthv1alpha1.MetricSource{Name: s.namespace}},
	}, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	_, err = berth.BerthV1alpha1().Clusters().Create(ctx, &berthv1alpha1.Cluster{
		// The label keeps the Applications of other specs away.
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"site": s.namespace}},
		Spec: berthv1alpha1.ClusterSpec{
			MatchLabels: map[string]string{siteLabel: name},
			Metrics:     []berthv1alpha1.MetricReference{{Name: name, Weight: 1}},
		},
	}, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	// The status of an Application ranks a limited number of Clusters, whosever they are.
	DeferCleanup(func(ctx SpecContext) {
		err := berth.BerthV1alpha1().Clusters().Delete(ctx, name, metav1.DeleteOptions{})
		Expect(ctrlclient.IgnoreNotFound(err)).To(Succeed())
	})
}

// provide changes the value of the metric of a Cluster.
func (s *site) provide(ctx context.Context, name string, value float64) {
	GinkgoHelper()
	patch, err := json.Marshal(map[string]any{"spec": map[string]any{"static": map[string]any{"metrics": map[string]float64{s.full(name): value}}}})
	Expect(err).NotTo(HaveOccurred())
	_, err = berth.BerthV1alpha1().GlobalMetricsProviders().Patch(ctx, s.namespace, "application/merge-patch+json", patch, metav1.PatchOptions{})
	Expect(err).NotTo(HaveOccurred())
}

// measure changes the value of the metric of a Cluster, and waits until it has arrived there.
func (s *site) measure(ctx context.Context, name string, value float64) {
	GinkgoHelper()
	s.provide(ctx, name, value)
	Eventually(func(g Gomega) {
		cluster, err := berth.BerthV1alpha1().Clusters().Get(ctx, s.full(name), metav1.GetOptions{})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(cluster.Status.Metrics).To(HaveLen(1))
		g.Expect(cluster.Status.Metrics[0].Value).To(HaveValue(Equal(value)))
	}).WithTimeout(timeout).WithPolling(poll).Should(Succeed())
}

// replicas is how many pods the Application of each spec has.
const replicas = 3

// apply makes an Application that is reviewed every second, of a Deployment and a ConfigMap.
func (s *site) apply(ctx context.Context, change func(*berthv1alpha1.ApplicationSpec)) {
	GinkgoHelper()
	labels := map[string]string{"app": "web"}
	app := &berthv1alpha1.Application{
		ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: s.namespace},
		Spec: berthv1alpha1.ApplicationSpec{
			Constraints:     berthv1alpha1.ClusterConstraints{ClusterLabels: []string{"site is " + s.namespace}},
			RescheduleAfter: &metav1.Duration{Duration: time.Second},
			Manifests: []berthv1alpha1.Manifest{
				manifest(&appsv1.Deployment{
					TypeMeta:   metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"},
					ObjectMeta: metav1.ObjectMeta{Name: "front"},
					Spec: appsv1.DeploymentSpec{
						Replicas: ptr.To[int32](replicas), Selector: &metav1.LabelSelector{MatchLabels: labels},
						Template: corev1.PodTemplateSpec{
							ObjectMeta: metav1.ObjectMeta{Labels: labels},
							Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "pause", Image: "pause"}}},
						},
					},
				}),
				manifest(&corev1.ConfigMap{
					TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
					ObjectMeta: metav1.ObjectMeta{Name: "settings"}, Data: map[string]string{"color": "blue"},
				}),
			},
		},
	}
	if change != nil {
		change(&app.Spec)
	}
	_, err := berth.BerthV1alpha1().Applications(s.namespace).Create(ctx, app, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func(ctx SpecContext) {
		Expect(berth.BerthV1alpha1().Applications(s.namespace).Delete(ctx, app.Name, metav1.DeleteOptions{})).To(Succeed())
	})
}

func manifest(object runtime.Object) berthv1alpha1.Manifest {
	GinkgoHelper()
	raw, err := json.Marshal(object)
	Expect(err).NotTo(HaveOccurred())
	return berthv1alpha1.Manifest{RawExtension: runtime.RawExtension{Raw: raw}}
}

func (s *site) app(ctx context.Context) *berthv1alpha1.Application {
	GinkgoHelper()
	app, err := berth.BerthV1alpha1().Applications(s.namespace).Get(ctx, "web", metav1.GetOptions{})
	Expect(err).NotTo(HaveOccurred())
	return app
}

// runsIn waits until everything runs in a Cluster and nowhere else.
func (s *site) runsIn(ctx context.Context, name string) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		app := s.app(ctx)
		ready := apimeta.FindStatusCondition(app.Status.Conditions, berthv1alpha1.ApplicationReady)
		g.Expect(ready).NotTo(BeNil())
		g.Expect(app.Status.ScheduledTo).To(Equal(s.full(name)), ready.Message)
		g.Expect(ready.Status).To(Equal(metav1.ConditionTrue), ready.Message)
		pods, err := client.CoreV1().Pods(s.namespace).List(ctx, metav1.ListOptions{})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(pods.Items).To(HaveLen(replicas))
		for i := range pods.Items {
			g.Expect(pods.Items[i].Annotations).To(HaveKeyWithValue(berthv1alpha1.PlacedClusterAnnotation, s.full(name)))
		}
	}).WithTimeout(timeout).WithPolling(poll).Should(Succeed())
}
