// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package grants_test

import (
	"context"
	"slices"
	"strconv"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/test/integration/internal/installation"
	"berth.dev/berth/test/integration/internal/schedulerproc"
)

const (
	single = "single"
	urgent = "urgent"
)

// createSingle makes a ClusterResource of one unit, for all nodes, and a high priority.
func createSingle(ctx context.Context) {
	GinkgoHelper()
	spec := berthv1alpha1.ClusterResourceSpec{
		Capacity: []berthv1alpha1.ClusterResourceQuantity{{Name: "all", Quantity: resource.MustParse("1")}},
	}
	_, err := berth.BerthV1alpha1().ClusterResources().Create(ctx,
		&berthv1alpha1.ClusterResource{ObjectMeta: metav1.ObjectMeta{Name: single}, Spec: spec}, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	_, err = client.SchedulingV1().PriorityClasses().Create(ctx,
		&schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: urgent}, Value: 1000}, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
}

// createAt makes a pod for a cluster that asks for the unit.
func createAt(ctx context.Context, namespace, name, cluster, priority string) {
	GinkgoHelper()
	_, err := client.CoreV1().Pods(namespace).Create(ctx, &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: name, Annotations: map[string]string{berthv1alpha1.ClusterResourceAnnotationPrefix + single: "1"},
		},
		Spec: corev1.PodSpec{
			SchedulerName: schedulerproc.Name, AutomountServiceAccountToken: ptr.To(false), PriorityClassName: priority,
			NodeSelector: map[string]string{placeLabel: cluster}, TerminationGracePeriodSeconds: ptr.To[int64](1),
			Containers: []corev1.Container{{Name: "main", Image: "nginx:1.27"}},
		},
	}, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
}

// expectAt waits until a pod has a node.
func expectAt(ctx context.Context, namespace, name string) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		pod, err := client.CoreV1().Pods(namespace).Get(ctx, name, metav1.GetOptions{})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(pod.Spec.NodeName).NotTo(BeEmpty())
	}, timeout, poll).Should(Succeed(), name)
}

// clustersOfTwo returns clusters of two schedulers, and the name of the second of these.
func clustersOfTwo(ctx context.Context) (first, second, scheduler string) {
	GinkgoHelper()
	list, err := berth.BerthV1alpha1().Clusters().List(ctx, metav1.ListOptions{})
	Expect(err).NotTo(HaveOccurred())
	first, home := list.Items[0].Name, list.Items[0].Status.HomeScheduler
	other := slices.IndexFunc(list.Items, func(c berthv1alpha1.Cluster) bool { return c.Status.HomeScheduler != home })
	Expect(other).To(BeNumerically(">=", 0))
	return first, list.Items[other].Name, list.Items[other].Status.HomeScheduler
}

// expectNext waits until a scheduler says that one of its pods waits for more of the unit.
func expectNext(ctx context.Context, scheduler string) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		s, err := berth.BerthV1alpha1().Schedulers().Get(ctx, scheduler, metav1.GetOptions{})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(s.Status.Spending).NotTo(BeNil())
		g.Expect(s.Status.Spending.Pools).To(ContainElement(SatisfyAll(
			HaveField("Resource", single), HaveField("Next", ContainElement(HaveField("Priority", int32(1000)))),
		)))
	}, timeout, poll).Should(Succeed())
}

// mostLow is how many pods of lower priority may be served first: what their scheduler is told of
// the higher one, it hears some tenths of a second later, or more on a slow machine.
const mostLow = 10

// giveToTheHigherPriority frees a unit at a scheduler where pods wait for it, while one of higher
// priority waits at another.
func giveToTheHigherPriority(ctx SpecContext) {
	GinkgoHelper()
	namespace := installation.CreateNamespace(ctx, client, "priority-")
	createSingle(ctx)
	here, there, scheduler := clustersOfTwo(ctx)
	holder := "holder"
	createAt(ctx, namespace, holder, here, "")
	expectAt(ctx, namespace, holder)
	for n := range mostLow {
		createAt(ctx, namespace, "low-"+strconv.Itoa(n), here, "")
	}
	createAt(ctx, namespace, "high", there, urgent)
	expectNext(ctx, scheduler)
	for before := 0; holder != "high"; before++ {
		Expect(before).To(BeNumerically("<=", mostLow/2), "releases before that of the higher priority")
		holder = giveBack(ctx, namespace, holder)
	}
	Expect(giveBack(ctx, namespace, holder)).To(HavePrefix("low-"))
	Expect(berth.BerthV1alpha1().ClusterResources().Delete(ctx, single, metav1.DeleteOptions{})).To(Succeed())
	Expect(client.CoreV1().Pods(namespace).DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{})).To(Succeed())
}

// giveBack deletes the pod that holds the unit, and returns the one that has it next.
func giveBack(ctx context.Context, namespace, holder string) (next string) {
	GinkgoHelper()
	Expect(client.CoreV1().Pods(namespace).Delete(ctx, holder, metav1.DeleteOptions{})).To(Succeed())
	Eventually(func(g Gomega) {
		pods, err := client.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{})
		g.Expect(err).NotTo(HaveOccurred())
		at := slices.IndexFunc(pods.Items, func(pod corev1.Pod) bool {
			return pod.Name != holder && pod.DeletionTimestamp == nil && pod.Spec.NodeName != ""
		})
		g.Expect(at).To(BeNumerically(">=", 0))
		next = pods.Items[at].Name
	}, timeout, poll).Should(Succeed(), "nobody has what %s gave back", holder)
	AddReportEntry("the unit goes on", holder+" to "+next, ReportEntryVisibilityAlways)
	return next
}
