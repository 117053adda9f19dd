// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package simulate_test

import (
	"context"
	"errors"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	utilrand "k8s.io/apimachinery/pkg/util/rand"

	"berth.dev/berth/pkg/localplane"
)

// base is a Cluster, and a class of pods that others make way for. NAMESPACE stands for that of the
// spec: what a spec before has left behind may still be on its way out.
const base = `
{apiVersion: v1, kind: Namespace, metadata: {name: NAMESPACE}}
---
{apiVersion: berth.dev/v1alpha1, kind: Cluster, metadata: {name: beijing}, spec: {matchLabels: {site: beijing}}}
---
{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: simulated}, value: 100}
`

const low = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: low, namespace: NAMESPACE}
spec:
  replicas: 3
  selector: {matchLabels: {app: low}}
  template:
    metadata: {labels: {app: low}}
    spec: {schedulerName: berth-scheduler, containers: [{name: c, image: nginx, resources: {requests: {cpu: "3"}}}]}
`

const high = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: high, namespace: NAMESPACE}
spec:
  replicas: 1
  selector: {matchLabels: {app: high}}
  template:
    metadata: {labels: {app: high}}
    spec:
      schedulerName: berth-scheduler
      priorityClassName: simulated
      containers: [{name: c, image: nginx, resources: {requests: {cpu: "3"}}}]
`

const budget = `
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: low, namespace: NAMESPACE}
spec: {minAvailable: 2, selector: {matchLabels: {app: low}}}
`

var _ = Describe("berthctl simulate", func() {
	var namespace string
	file := func(name, content string) string {
		GinkgoHelper()
		return write(name, strings.ReplaceAll(content, "NAMESPACE", namespace))
	}
	BeforeEach(func(ctx SpecContext) {
		namespace = "shop-" + utilrand.String(5)
		DeferCleanup(removeWorld, namespace)
		DeferCleanup(func(ctx context.Context) error {
			return client.SchedulingV1().PriorityClasses().Delete(ctx, "simulated", metav1.DeleteOptions{})
		})
		capacity := corev1.ResourceList{
			corev1.ResourceCPU: resource.MustParse("4"), corev1.ResourceMemory: resource.MustParse("64Gi"), corev1.ResourcePods: resource.MustParse("110"),
		}
		Expect(localplane.CreateNodes(ctx, client, "beijing", 3, map[string]string{"site": "beijing"}, capacity)).To(Succeed())
		writeNodes(ctx)
		apply(ctx, file("base.yaml", base))
		lowFile := file("low.yaml", low)
		said := simulate(ctx, "--live", "-f", lowFile).fates(namespace)
		apply(ctx, lowFile)
		expectFates(ctx, namespace, "", said)
	})

	It("says how many would be preempted", func(ctx SpecContext) {
		highFile := file("high.yaml", high)
		said := simulate(ctx, "--live", "-f", highFile)
		Expect(said.fates(namespace)).To(HaveKeyWithValue("high in beijing", 1))
		Expect(said.Evictions).To(HaveLen(1))
		Expect(said.Evictions[0].Reason).To(HavePrefix("preempted by pod " + namespace + "/high-"))
		apply(ctx, highFile)
		expectFates(ctx, namespace, "high", said.fates(namespace))
	})

	It("says whom a budget keeps on a node that is drained, in the API server's words", func(ctx SpecContext) {
		apply(ctx, file("budget.yaml", budget))
		Eventually(func(ctx context.Context) (int32, error) {
			b, err := client.PolicyV1().PodDisruptionBudgets(namespace).Get(ctx, "low", metav1.GetOptions{})
			return b.Status.DisruptionsAllowed, err
		}).WithContext(ctx).WithTimeout(timeout).WithPolling(poll).Should(BeEquivalentTo(1))
		said := simulate(ctx, "--live", "--drain", "cluster/beijing")
		Expect(said.Evictions).To(HaveLen(1))
		Expect(said.Kept).To(HaveLen(2))
		pods, err := client.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{LabelSelector: "app=low"})
		Expect(err).NotTo(HaveOccurred())
		for i := range pods.Items {
			Expect(cordon(ctx, pods.Items[i].Spec.NodeName)).To(Succeed())
		}
		Expect(evict(ctx, &pods.Items[0])).To(BeEmpty())
		Eventually(func(ctx context.Context) string { return evict(ctx, &pods.Items[1]) }).
			WithContext(ctx).WithTimeout(timeout).WithPolling(poll).Should(Equal(said.Kept[0].Reason))
	})
})

func cordon(ctx context.Context, name string) error {
	_, err := client.CoreV1().Nodes().Patch(ctx, name, types.MergePatchType, []byte(`{"spec":{"unschedulable":true}}`), metav1.PatchOptions{})
	return err
}

// evict returns why the API server does not let a pod go, empty if it does.
func evict(ctx context.Context, pod *corev1.Pod) string {
	err := client.PolicyV1().Evictions(pod.Namespace).Evict(ctx, &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name}})
	if err == nil {
		return ""
	}
	said := []string{err.Error()}
	var status apierrors.APIStatus
	if errors.As(err, &status) && status.Status().Details != nil {
		for _, cause := range status.Status().Details.Causes {
			said = append(said, cause.Message)
		}
	}
	return strings.Join(said, " ")
}
