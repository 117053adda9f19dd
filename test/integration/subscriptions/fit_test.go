// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package subscriptions_test

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// pools makes a ClusterResource of the site with a pool for each of the Clusters, or for all of
// them together under the name "all", and returns its name.
func (s *site) pools(ctx context.Context, mode berthv1alpha1.PoolMode, amounts map[string]string) string {
	GinkgoHelper()
	r := &berthv1alpha1.ClusterResource{
		ObjectMeta: metav1.ObjectMeta{Name: "licence-" + s.suffix}, Spec: berthv1alpha1.ClusterResourceSpec{Mode: mode},
	}
	for name, amount := range amounts {
		selector := map[string]string{siteLabel: s.suffix}
		if name != "all" {
			selector[nameLabel] = name
		}
		r.Spec.Capacity = append(r.Spec.Capacity, berthv1alpha1.ClusterResourceQuantity{
			Name: name, Quantity: resource.MustParse(amount), NodeSelector: selector,
		})
	}
	_, err := berth.BerthV1alpha1().ClusterResources().Create(ctx, r, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	return r.Name
}

// forms are the ways in which a pod asks for a unit of a ClusterResource.
var forms = map[string]func(name string) func(*corev1.PodTemplateSpec){
	"resource": func(name string) func(*corev1.PodTemplateSpec) {
		return func(template *corev1.PodTemplateSpec) {
			unit := corev1.ResourceList{corev1.ResourceName("cluster-resource.berth.dev/" + name): resource.MustParse("1")}
			template.Spec.Containers[0].Resources = corev1.ResourceRequirements{Requests: unit, Limits: unit}
		}
	},
	"annotation": func(name string) func(*corev1.PodTemplateSpec) {
		return func(template *corev1.PodTemplateSpec) {
			template.Annotations = map[string]string{"pod.alpha.kubernetes.io/cluster-resource-" + name: "1"}
		}
	},
}

// occupy makes a pod on a node that takes port 80 of it.
func (s *site) occupy(ctx context.Context, node string) {
	GinkgoHelper()
	_, err := client.CoreV1().Pods(s.namespace).Create(ctx, &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "port-"},
		Spec: corev1.PodSpec{NodeName: node, Containers: []corev1.Container{{
			Name: "a", Image: "a", Ports: []corev1.ContainerPort{{ContainerPort: 80, HostPort: 80}},
		}}},
	}, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
}

// untilAvailable waits until a Deployment runs as it should, and its Subscription says so.
func (s *site) untilAvailable(ctx context.Context, app, want string) {
	GinkgoHelper()
	until(ctx, s.where(app), want)
	until(ctx, s.reason("shop", berthv1alpha1.SubscriptionScheduled), berthv1alpha1.ReasonAllPlaced)
	until(ctx, s.reason("shop", berthv1alpha1.SubscriptionAvailable), berthv1alpha1.ReasonAllRunning)
}

var _ = Describe("What fits", func() {
	for form, asks := range forms {
		It("counts pools of ClusterResources that pods ask for as "+form, func(ctx SpecContext) {
			s := newSite(ctx)
			s.cluster(ctx, "a", "32")
			s.cluster(ctx, "b", "32")
			licence := s.pools(ctx, berthv1alpha1.AnyOf, map[string]string{"a": "2", "b": "10"})
			s.subscribe(ctx, "shop", []string{"web"}, nil)
			s.deployWith(ctx, "web", 8, asks(licence))
			s.untilAvailable(ctx, "web", "a=1 b=7")
		})

		It("fills nested pools as far as they go for pods that ask as "+form, func(ctx SpecContext) {
			s := newSite(ctx)
			s.cluster(ctx, "a", "32")
			s.cluster(ctx, "b", "32")
			licence := s.pools(ctx, berthv1alpha1.AllOf, map[string]string{"all": "4", "a": "3", "b": "3"})
			s.subscribe(ctx, "shop", []string{"web"}, nil)
			s.deployWith(ctx, "web", 6, asks(licence))
			until(ctx, s.where("web"), "-=2 a=3 b=1")
			until(ctx, s.reason("shop", berthv1alpha1.SubscriptionScheduled), berthv1alpha1.ReasonNoRoom)
		})

		It("admits one of two bundles that ask for the same units as "+form, func(ctx SpecContext) {
			s := newSite(ctx)
			s.cluster(ctx, "a", "32")
			s.cluster(ctx, "b", "32")
			licence := s.pools(ctx, berthv1alpha1.AnyOf, map[string]string{"a": "3", "b": "2"})
			for _, name := range []string{"first", "second"} {
				s.subscribe(ctx, name, []string{name + "-web", name + "-db"}, bundled)
				until(ctx, s.reason(name, berthv1alpha1.SubscriptionScheduled), berthv1alpha1.ReasonFeedsUnknown)
				s.deployWith(ctx, name+"-web", 2, asks(licence))
				s.deployWith(ctx, name+"-db", 2, asks(licence))
				if name == "first" {
					until(ctx, s.reason(name, berthv1alpha1.SubscriptionAvailable), berthv1alpha1.ReasonAllRunning)
				}
			}
			until(ctx, s.reason("second", berthv1alpha1.SubscriptionScheduled), berthv1alpha1.ReasonBundleWaits)
			Consistently(ctx, func(ctx context.Context) string { return s.where("second-web")(ctx) + ", " + s.where("second-db")(ctx) }).
				WithTimeout(settle).WithPolling(poll).Should(Equal("-=2, -=2"))

			By("ending the first")
			s.scale(ctx, "first-web", 0)
			s.scale(ctx, "first-db", 0)
			until(ctx, s.reason("second", berthv1alpha1.SubscriptionAvailable), berthv1alpha1.ReasonAllRunning)
		})
	}

	It("counts ports of nodes", func(ctx SpecContext) {
		s := newSite(ctx)
		s.clusterOf(ctx, "a", "8", "8", "8")
		s.clusterOf(ctx, "b", "8", "8", "8")
		s.occupy(ctx, "a-"+s.suffix)
		s.occupy(ctx, "a-1-"+s.suffix)
		s.subscribe(ctx, "shop", []string{"web"}, nil)
		s.deployWith(ctx, "web", 4, func(template *corev1.PodTemplateSpec) {
			template.Spec.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: 80, HostPort: 80}}
		})
		until(ctx, s.reason("shop", berthv1alpha1.SubscriptionAvailable), berthv1alpha1.ReasonAllRunning)
		Expect(s.placement("shop")(ctx)).To(Equal("web a=1 b=3"))
	})

	It("counts the overhead of a RuntimeClass", func(ctx SpecContext) {
		s := newSite(ctx)
		s.cluster(ctx, "a", "4")
		s.cluster(ctx, "b", "8")
		class, err := client.NodeV1().RuntimeClasses().Create(ctx, &nodev1.RuntimeClass{
			ObjectMeta: metav1.ObjectMeta{GenerateName: "kata-"}, Handler: "kata",
			Overhead: &nodev1.Overhead{PodFixed: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("250m")}},
		}, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		s.subscribe(ctx, "shop", []string{"web"}, nil)
		s.deployWith(ctx, "web", 9, func(template *corev1.PodTemplateSpec) { template.Spec.RuntimeClassName = &class.Name })
		s.untilAvailable(ctx, "web", "a=3 b=6")
	})

	It("counts what a LimitRange adds", func(ctx SpecContext) {
		s := newSite(ctx)
		s.cluster(ctx, "a", "4")
		s.cluster(ctx, "b", "8")
		_, err := client.CoreV1().LimitRanges(s.namespace).Create(ctx, &corev1.LimitRange{
			ObjectMeta: metav1.ObjectMeta{Name: "limits"},
			Spec: corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{{
				Type: corev1.LimitTypeContainer, DefaultRequest: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1250m")},
				Default: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("2")},
			}}},
		}, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		s.subscribe(ctx, "shop", []string{"web"}, nil)
		s.deployWith(ctx, "web", 9, func(template *corev1.PodTemplateSpec) {
			template.Spec.Containers[0].Resources = corev1.ResourceRequirements{}
		})
		s.untilAvailable(ctx, "web", "a=3 b=6")
	})

	It("finds no room for a default that fits nowhere", func(ctx SpecContext) {
		s := newSite(ctx)
		s.cluster(ctx, "a", "4")
		s.cluster(ctx, "b", "8")
		_, err := client.CoreV1().LimitRanges(s.namespace).Create(ctx, &corev1.LimitRange{
			ObjectMeta: metav1.ObjectMeta{Name: "limits"},
			Spec: corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{{
				Type: corev1.LimitTypeContainer, DefaultRequest: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("20")},
			}}},
		}, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		s.subscribe(ctx, "shop", []string{"web"}, nil)
		s.deployWith(ctx, "web", 2, func(template *corev1.PodTemplateSpec) {
			template.Spec.Containers[0].Resources = corev1.ResourceRequirements{}
		})
		until(ctx, s.reason("shop", berthv1alpha1.SubscriptionScheduled), berthv1alpha1.ReasonNoRoom)
		until(ctx, s.where("web"), "-=2")
		Expect(s.told("shop", berthv1alpha1.SubscriptionAvailable)(ctx)).To(HavePrefix("False "))
	})

	It("says what the API server would say of a template that makes no pods", func(ctx SpecContext) {
		s := newSite(ctx)
		s.cluster(ctx, "a", "4")
		_, err := client.CoreV1().LimitRanges(s.namespace).Create(ctx, &corev1.LimitRange{
			ObjectMeta: metav1.ObjectMeta{Name: "limits"},
			Spec: corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{{
				Type: corev1.LimitTypeContainer, Max: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("500m")},
			}}},
		}, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		s.subscribe(ctx, "shop", []string{"web"}, nil)
		s.deployWith(ctx, "web", 2, func(template *corev1.PodTemplateSpec) {
			template.Spec.Containers[0].Resources.Limits = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}
		})
		Eventually(ctx, s.told("shop", berthv1alpha1.SubscriptionScheduled)).WithTimeout(timeout).WithPolling(poll).Should(And(
			HavePrefix("False PodsRefused: Deployment web: its pods would be refused: "),
			ContainSubstring("maximum cpu usage per Container is 500m, but limit is 1"),
		))
	})
})
