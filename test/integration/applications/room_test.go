// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package applications_test

import (
	"context"
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// take lets something else have all CPUs of a node but so many.
func (s *site) take(ctx context.Context, node string, left int64) *corev1.Pod {
	GinkgoHelper()
	known, err := client.CoreV1().Nodes().Get(ctx, node, metav1.GetOptions{})
	Expect(err).NotTo(HaveOccurred())
	return s.occupy(ctx, node, known.Status.Allocatable.Cpu().Value()-left)
}

// occupy lets something else have so many CPUs of a node.
func (s *site) occupy(ctx context.Context, node string, count int64) *corev1.Pod {
	GinkgoHelper()
	cpus := resource.NewQuantity(count, resource.DecimalSI)
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "taken-", Namespace: s.namespace},
		Spec: corev1.PodSpec{NodeName: node, Containers: []corev1.Container{{
			Name: "pause", Image: "pause",
			Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: *cpus}},
		}}},
	}
	pod, err := client.CoreV1().Pods(s.namespace).Create(ctx, pod, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	return pod
}

// untilFull waits until the controllers have seen that no cluster has room. An Application that
// they see before what else was made goes by what they have seen.
func (s *site) untilFull(ctx context.Context) {
	GinkgoHelper()
	probe := &berthv1alpha1.Application{ObjectMeta: metav1.ObjectMeta{Name: "probe", Namespace: s.namespace}}
	probe.Spec.Constraints.ClusterLabels = []string{"site is " + s.namespace}
	hungry(&probe.Spec, probe.Name)
	applications := berth.BerthV1alpha1().Applications(s.namespace)
	_, err := applications.Create(ctx, probe, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	Eventually(func(g Gomega) {
		known, err := applications.Get(ctx, probe.Name, metav1.GetOptions{})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(known.Status.Conditions).To(ContainElement(HaveField("Message", ContainSubstring("0 of 2 pods fit"))))
	}).WithTimeout(timeout).WithPolling(poll).Should(Succeed())
	Expect(applications.Delete(ctx, probe.Name, metav1.DeleteOptions{})).To(Succeed())
}

// hungry lets the pods of an Application ask for a CPU each.
func hungry(spec *berthv1alpha1.ApplicationSpec, name string) {
	GinkgoHelper()
	labels := map[string]string{"app": name}
	pods := int32(2)
	spec.Manifests = []berthv1alpha1.Manifest{manifest(&appsv1.Deployment{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"},
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: appsv1.DeploymentSpec{
			Replicas: &pods, Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{Containers: []corev1.Container{{
					Name: "pause", Image: "pause",
					Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}},
				}}},
			},
		},
	})}
}

var _ = Describe("Room", func() {
	It("is a condition of being chosen, so that all of six Applications run although one of two clusters is full", func(ctx SpecContext) {
		s := newSite(ctx, map[string]float64{"berlin": 0.5, "madrid": 0.5})
		for i := range 2 {
			s.take(ctx, fmt.Sprintf("%s-%d", s.full("berlin"), i), 0)
			s.take(ctx, fmt.Sprintf("%s-%d", s.full("madrid"), i), 6)
		}
		for i := range 6 {
			app := &berthv1alpha1.Application{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("web-%d", i), Namespace: s.namespace}}
			app.Spec.Constraints.ClusterLabels = []string{"site is " + s.namespace}
			hungry(&app.Spec, app.Name)
			_, err := berth.BerthV1alpha1().Applications(s.namespace).Create(ctx, app, metav1.CreateOptions{})
			Expect(err).NotTo(HaveOccurred())
			DeferCleanup(func(ctx SpecContext) {
				Expect(berth.BerthV1alpha1().Applications(s.namespace).Delete(ctx, app.Name, metav1.DeleteOptions{})).To(Succeed())
			})
		}
		Eventually(func(g Gomega) {
			apps, err := berth.BerthV1alpha1().Applications(s.namespace).List(ctx, metav1.ListOptions{})
			g.Expect(err).NotTo(HaveOccurred())
			for i := range apps.Items {
				status := &apps.Items[i].Status
				g.Expect(status.ScheduledTo).To(Equal(s.full("madrid")))
				g.Expect(apimeta.IsStatusConditionTrue(status.Conditions, berthv1alpha1.ApplicationReady)).To(BeTrue(), apps.Items[i].Name)
			}
		}).WithTimeout(timeout).WithPolling(poll).Should(Succeed())
	})

	It("that no cluster has is told, nothing is made, and what goes away lets it run", func(ctx SpecContext) {
		s := newSite(ctx, map[string]float64{"berlin": 0.5})
		s.take(ctx, s.full("berlin")+"-1", 0)
		taken := s.take(ctx, s.full("berlin")+"-0", 0)
		s.untilFull(ctx)
		s.apply(ctx, func(spec *berthv1alpha1.ApplicationSpec) { hungry(spec, "front") })
		Eventually(func(g Gomega) {
			scheduled := apimeta.FindStatusCondition(s.app(ctx).Status.Conditions, berthv1alpha1.ApplicationScheduled)
			g.Expect(scheduled).NotTo(BeNil())
			g.Expect(scheduled.Reason).To(Equal(berthv1alpha1.ReasonNoClusterMatches))
			g.Expect(scheduled.Message).To(ContainSubstring(
				s.full("berlin") + ": deployment front: 0 of 2 pods fit: 0/2 nodes are available: 2 Insufficient cpu"))
		}).WithTimeout(timeout).WithPolling(poll).Should(Succeed())
		_, err := client.AppsV1().Deployments(s.namespace).Get(ctx, "front", metav1.GetOptions{})
		Expect(err).To(MatchError(apierrors.IsNotFound, "IsNotFound"))

		now := int64(0)
		Expect(client.CoreV1().Pods(s.namespace).Delete(ctx, taken.Name,
			metav1.DeleteOptions{GracePeriodSeconds: &now})).To(Succeed())
		Eventually(func() bool {
			return apimeta.IsStatusConditionTrue(s.app(ctx).Status.Conditions, berthv1alpha1.ApplicationReady)
		}).WithTimeout(timeout).WithPolling(poll).Should(BeTrue())
	})
})
