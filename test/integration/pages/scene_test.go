// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package pages_test

import (
	"context"
	"encoding/json"
	"strconv"

	"github.com/chromedp/cdproto/emulation"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/test/integration/internal/installation"
	"berth.dev/berth/test/integration/internal/schedulerproc"
)

// scene is the namespace of a world in which the real programs of Berth run.
const scene = "shop"

// deployment returns a Deployment whose pods ask for something.
func deployment(name string, replicas int32, asks corev1.ResourceList) *appsv1.Deployment {
	labels := map[string]string{"app": name}
	return &appsv1.Deployment{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"},
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{SchedulerName: schedulerproc.Name, Containers: []corev1.Container{{
					Name: "main", Image: "registry.invalid/" + name, Resources: corev1.ResourceRequirements{Requests: asks, Limits: asks},
				}}},
			},
		},
	}
}

func asks(name corev1.ResourceName, quantity string) corev1.ResourceList {
	return corev1.ResourceList{name: resource.MustParse(quantity)}
}

// city places a Cluster.
func city(name string) func(*berthv1alpha1.Cluster) {
	return func(c *berthv1alpha1.Cluster) { c.Spec.GeoLocation = &berthv1alpha1.GeoLocation{City: name} }
}

// setScene makes three sites that share a Deployment, licences that are used up, an Application,
// and pods that wait for different reasons.
func setScene(ctx context.Context) {
	GinkgoHelper()
	newSite(ctx, "beijing", city("Beijing"))
	newSite(ctx, "hangzhou", city("Hangzhou"))
	newSite(ctx, "lanzhou", city("Lanzhou"))
	_, err := client.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: scene}}, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	installation.Allow(ctx, client, scene)
	schedulerproc.Start(ctx, plane, schedulerproc.Options{}).EndAfterwards()
	controllers := schedulerproc.StartControllers(ctx, plane, "--health-probe-bind-address=0", "--metrics-bind-address=0")
	DeferCleanup(func() { Expect(controllers.Stop(timeout)).To(Succeed()) })
	own := berth.BerthV1alpha1()
	licences := &berthv1alpha1.ClusterResource{ObjectMeta: metav1.ObjectMeta{Name: "render-licence"}}
	licences.Spec.Capacity = []berthv1alpha1.ClusterResourceQuantity{{Name: "all", Quantity: resource.MustParse("5")}}
	_, err = own.ClusterResources().Create(ctx, licences, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	policy := &berthv1alpha1.PropagationPolicy{ObjectMeta: metav1.ObjectMeta{Name: "front"}}
	policy.Spec.ResourceSelectors = []berthv1alpha1.ResourceSelector{{APIVersion: "apps/v1", Kind: "Deployment", Name: "front"}}
	for name, weight := range map[string]int64{"beijing": 2, "hangzhou": 3, "lanzhou": 1} {
		policy.Spec.Placement.StaticWeightList = append(policy.Spec.Placement.StaticWeightList,
			berthv1alpha1.StaticClusterWeight{ClusterNames: []string{name}, Weight: weight})
	}
	_, err = own.PropagationPolicies(scene).Create(ctx, policy, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	raw, err := json.Marshal(deployment("api", 3, asks(corev1.ResourceCPU, "100m")))
	Expect(err).NotTo(HaveOccurred())
	bundle := &berthv1alpha1.Subscription{ObjectMeta: metav1.ObjectMeta{Name: "bundle"}}
	bundle.Spec.Subscribers = []berthv1alpha1.Subscriber{{ClusterAffinity: metav1.LabelSelector{MatchLabels: map[string]string{"tier": "none"}}}}
	bundle.Spec.Feeds = []berthv1alpha1.Feed{{APIVersion: "apps/v1", Kind: "Deployment", Namespace: scene, Name: "tools"}}
	_, err = own.Subscriptions(scene).Create(ctx, bundle, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	app := &berthv1alpha1.Application{ObjectMeta: metav1.ObjectMeta{Name: "api"}}
	app.Spec.Manifests = []berthv1alpha1.Manifest{{RawExtension: runtime.RawExtension{Raw: raw}}}
	_, err = own.Applications(scene).Create(ctx, app, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	for _, d := range []*appsv1.Deployment{
		deployment("front", 12, asks(corev1.ResourceCPU, "100m")), deployment("render", 8, asks("cluster-resource.berth.dev/render-licence", "1")),
		deployment("huge", 2, asks(corev1.ResourceCPU, "500")),
	} {
		_, err := client.AppsV1().Deployments(scene).Create(ctx, d, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
	}
	DeferCleanup(func(ctx SpecContext) {
		Expect(own.Applications(scene).Delete(ctx, "api", metav1.DeleteOptions{})).To(Succeed())
		Expect(own.Subscriptions(scene).Delete(ctx, "bundle", metav1.DeleteOptions{})).To(Succeed())
		Expect(own.PropagationPolicies(scene).Delete(ctx, "front", metav1.DeleteOptions{})).To(Succeed())
		Expect(client.AppsV1().Deployments(scene).DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{})).To(Succeed())
		Expect(own.ClusterResources().Delete(ctx, licences.Name, metav1.DeleteOptions{})).To(Succeed())
		Eventually(func() ([]corev1.Pod, error) {
			pods, err := client.CoreV1().Pods(scene).List(ctx, metav1.ListOptions{})
			return pods.Items, err
		}).WithTimeout(timeout).WithPolling(poll).Should(BeEmpty())
		Expect(client.CoreV1().Namespaces().Delete(ctx, scene, metav1.DeleteOptions{})).To(Succeed())
	})
}

// inBoth takes a picture of a page in light and in dark.
func (b *browser) inBoth(name string) {
	GinkgoHelper()
	for _, scheme := range []string{"dark", "light"} {
		call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
		})
		Expect(evaluate[[]string](b, unreadable)).To(BeEmpty(), "%s in %s", name, scheme)
		b.picture(name + "-" + scheme)
	}
	Expect(b.nameless()).To(BeEmpty(), name)
}

var _ = Describe("a world in which Berth runs", func() {
	It("is shown as the API has it", func(ctx SpecContext) {
		setScene(ctx)
		b := servers["berthctl ui"](ctx).open(ctx, "sites")
		shows := func(page, table, first string, want ...any) {
			GinkgoHelper()
			b.visit(b.site + page)
			Eventually(b.row).WithArguments(table, first).WithContext(ctx).WithTimeout(timeout).WithPolling(poll).Should(ContainElements(want...))
		}
		shows("pools", "pools", "render-licence", "5", "0", "3")
		b.visit(b.site + "waiting")
		Eventually(b.rows).WithArguments("reasons").WithContext(ctx).WithTimeout(timeout).WithPolling(poll).Should(ConsistOf(
			ContainElements(ContainSubstring("render-licence"), "3"), ContainElements(ContainSubstring("Insufficient cpu"), "2")))
		b.inBoth("waiting")
		shows("applications", "applications", scene, "3/3")
		app, err := berth.BerthV1alpha1().Applications(scene).Get(ctx, "api", metav1.GetOptions{})
		Expect(err).NotTo(HaveOccurred())
		Expect(b.row("applications", scene)).To(ContainElement(app.Status.ScheduledTo))
		b.inBoth("applications")
		for name, share := range map[string]int{"beijing": 4, "hangzhou": 6, "lanzhou": 2} {
			if name == app.Status.ScheduledTo {
				share += 3
			}
			shows("sites", "sites", name, strconv.Itoa(share))
		}
		b.inBoth("sites")
		b.visit(b.site + "pools")
		b.inBoth("pools")
		for page, name := range map[string]string{
			"clusters/hangzhou": "site", "resources/render-licence": "pool", "namespaces/shop/applications/api": "application",
			"namespaces/shop/workloads/deployment/front": "workload",
		} {
			b.visit(b.site + page)
			Expect(b.text()).NotTo(ContainSubstring("Not found"), page)
			b.inBoth(name)
		}
		By("following the runbooks")
		followRunbooks(ctx)
	})
})
