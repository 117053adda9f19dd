// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package writes_test

import (
	"context"
	"strconv"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/localplane"
)

// siteLabel on a node names its site.
const siteLabel = "example.com/site"

var sites = []string{"beijing", "hangzhou"}

// createSites makes two Clusters with three nodes each, and a ClusterResource.
func createSites(ctx context.Context) {
	GinkgoHelper()
	licences := &berthv1alpha1.ClusterResource{ObjectMeta: metav1.ObjectMeta{Name: "licence"}}
	for _, site := range sites {
		label := map[string]string{siteLabel: site}
		Expect(localplane.CreateNodes(ctx, client, site, 3, label, nil)).To(Succeed())
		_, err := berth.BerthV1alpha1().Clusters().Create(ctx, &berthv1alpha1.Cluster{
			ObjectMeta: metav1.ObjectMeta{Name: site}, Spec: berthv1alpha1.ClusterSpec{MatchLabels: label},
		}, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		licences.Spec.Capacity = append(licences.Spec.Capacity, berthv1alpha1.ClusterResourceQuantity{
			Name: site, Quantity: *resource.NewQuantity(pods/2, resource.DecimalSI), NodeSelector: label,
		})
	}
	_, err := berth.BerthV1alpha1().ClusterResources().Create(ctx, licences, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	// A pod that comes before would be told that nothing can be given out yet, in one more event.
	Eventually(func(g Gomega) {
		found, err := berth.BerthV1alpha1().ClusterResources().Get(ctx, licences.Name, metav1.GetOptions{})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(found.Status.Allocatable).To(HaveLen(len(sites)))
	}, timeout, poll).Should(Succeed())
}

func podSpec(schedulerName string) corev1.PodSpec {
	return corev1.PodSpec{
		SchedulerName: schedulerName, AutomountServiceAccountToken: ptr.To(false),
		Containers: []corev1.Container{{Name: "main", Image: "nginx:1.27"}},
	}
}

func createPods(ctx context.Context, namespace string, spec *corev1.PodSpec) {
	GinkgoHelper()
	for i := range pods {
		_, err := client.CoreV1().Pods(namespace).Create(ctx, &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: "pod-" + strconv.Itoa(i)}, Spec: *spec,
		}, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
	}
}

func plainPods(schedulerName string) func(ctx context.Context, namespace string) {
	return func(ctx context.Context, namespace string) {
		GinkgoHelper()
		spec := podSpec(schedulerName)
		createPods(ctx, namespace, &spec)
	}
}

func resourcePods(ctx context.Context, namespace string) {
	GinkgoHelper()
	spec := podSpec("berth-scheduler")
	licence := corev1.ResourceList{berthv1alpha1.ClusterResourceDomain + "/licence": resource.MustParse("1")}
	spec.Containers[0].Resources = corev1.ResourceRequirements{Requests: licence, Limits: licence}
	createPods(ctx, namespace, &spec)
}

func policyPods(ctx context.Context, namespace string) {
	GinkgoHelper()
	policy := &berthv1alpha1.PropagationPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec: berthv1alpha1.PropagationPolicySpec{
			ResourceSelectors: []berthv1alpha1.ResourceSelector{{APIVersion: "apps/v1", Kind: "Deployment", Name: "web"}},
			Placement: berthv1alpha1.Placement{StaticWeightList: []berthv1alpha1.StaticClusterWeight{
				{ClusterNames: sites[:1], Weight: 2}, {ClusterNames: sites[1:], Weight: 3},
			}},
		},
	}
	_, err := berth.BerthV1alpha1().PropagationPolicies(namespace).Create(ctx, policy, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	scheduler.UntilKnows(ctx, berth)
	labels := map[string]string{"app": "web"}
	_, err = client.AppsV1().Deployments(namespace).Create(ctx, &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec: appsv1.DeploymentSpec{
			Replicas: ptr.To[int32](pods), Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: podSpec("berth-scheduler")},
		},
	}, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
}

// expectReported waits until the status of the policy tells where all pods are.
func expectReported(ctx context.Context, namespace string) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		policy, err := berth.BerthV1alpha1().PropagationPolicies(namespace).Get(ctx, "web", metav1.GetOptions{})
		g.Expect(err).NotTo(HaveOccurred())
		current := 0
		for _, workload := range policy.Status.Workloads {
			for _, cluster := range workload.Clusters {
				current += int(cluster.Current)
			}
		}
		g.Expect(current).To(Equal(pods))
	}, timeout, poll).Should(Succeed())
}
