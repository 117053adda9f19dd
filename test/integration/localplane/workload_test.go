// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package localplane_test

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"

	"berth.dev/berth/pkg/localplane"
)

// newNamespace makes a namespace that pods can be created in, and deletes it
// when the spec is over.
func newNamespace(ctx context.Context, client kubernetes.Interface) string {
	GinkgoHelper()
	ns, err := client.CoreV1().Namespaces().Create(ctx,
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "workload-"}}, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func(ctx SpecContext) {
		Expect(client.CoreV1().Namespaces().Delete(ctx, ns.Name, metav1.DeleteOptions{})).To(Succeed())
	})
	Eventually(func() error {
		_, err := client.CoreV1().ServiceAccounts(ns.Name).Get(ctx, "default", metav1.GetOptions{})
		return err
	}, timeout, poll).Should(Succeed())
	return ns.Name
}

func template(node string) corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "web"}},
		Spec: corev1.PodSpec{
			NodeName:   node,
			Containers: []corev1.Container{{Name: "web", Image: "web:1"}},
		},
	}
}

func pods(ctx context.Context, client kubernetes.Interface, namespace string) []corev1.Pod {
	GinkgoHelper()
	list, err := client.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{})
	Expect(err).NotTo(HaveOccurred())
	return list.Items
}

func isReady(pod corev1.Pod) bool {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue && pod.Status.Phase == corev1.PodRunning
		}
	}
	return false
}

func beReady() OmegaMatcher {
	return WithTransform(isReady, BeTrue())
}

var _ = Describe("workloads", func() {
	It("run, shrink and go away on fake nodes", func(ctx SpecContext) {
		Expect(localplane.CreateNodes(ctx, firstClient, "run", 3, map[string]string{"place": "here"}, nil)).To(Succeed())
		ns := newNamespace(ctx, firstClient)
		deployments := firstClient.AppsV1().Deployments(ns)
		_, err := deployments.Create(ctx, &appsv1.Deployment{
			ObjectMeta: metav1.ObjectMeta{Name: "web"},
			Spec: appsv1.DeploymentSpec{
				Replicas: ptr.To[int32](5),
				Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
				Template: template("run-0"),
			},
		}, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		Eventually(func() []corev1.Pod { return pods(ctx, firstClient, ns) }, timeout, poll).
			Should(And(HaveLen(5), HaveEach(beReady())))

		_, err = deployments.Patch(ctx, "web", "application/merge-patch+json",
			[]byte(`{"spec":{"replicas":2}}`), metav1.PatchOptions{})
		Expect(err).NotTo(HaveOccurred())
		Eventually(func() []corev1.Pod { return pods(ctx, firstClient, ns) }, timeout, poll).Should(HaveLen(2))

		Expect(deployments.Delete(ctx, "web", metav1.DeleteOptions{
			PropagationPolicy: ptr.To(metav1.DeletePropagationForeground),
		})).To(Succeed())
		Eventually(func() []corev1.Pod { return pods(ctx, firstClient, ns) }, timeout, poll).Should(BeEmpty())
		Eventually(func() error {
			_, err := deployments.Get(ctx, "web", metav1.GetOptions{})
			return err
		}, timeout, poll).Should(MatchError(apierrors.IsNotFound, "not found"))
	})

	It("run pods with init containers, sidecars and readiness gates", func(ctx SpecContext) {
		Expect(localplane.CreateNodes(ctx, firstClient, "init", 1, nil, nil)).To(Succeed())
		ns := newNamespace(ctx, firstClient)
		spec := template("init-0").Spec
		spec.InitContainers = []corev1.Container{
			{Name: "prepare", Image: "prepare:1"},
			{Name: "sidecar", Image: "sidecar:1", RestartPolicy: ptr.To(corev1.ContainerRestartPolicyAlways)},
		}
		spec.ReadinessGates = []corev1.PodReadinessGate{{ConditionType: "example.com/gate"}}
		_, err := firstClient.CoreV1().Pods(ns).Create(ctx,
			&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "bare"}, Spec: spec}, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		Eventually(func() []corev1.Pod { return pods(ctx, firstClient, ns) }, timeout, poll).
			Should(And(HaveLen(1), HaveEach(beReady())))
		pod := pods(ctx, firstClient, ns)[0]
		Expect(pod.Status.PodIP).NotTo(BeEmpty())
		Expect(pod.Status.InitContainerStatuses).To(HaveLen(2))
		Expect(pod.Status.InitContainerStatuses[0].State.Terminated).NotTo(BeNil())
		Expect(pod.Status.InitContainerStatuses[1].State.Running).NotTo(BeNil())
	})

	It("complete when they belong to a Job", func(ctx SpecContext) {
		Expect(localplane.CreateNodes(ctx, firstClient, "job", 1, nil, nil)).To(Succeed())
		ns := newNamespace(ctx, firstClient)
		job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "batch"}, Spec: batchv1.JobSpec{
			Completions: ptr.To[int32](3), Parallelism: ptr.To[int32](2), Template: template("job-0"),
		}}
		job.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyNever
		_, err := firstClient.BatchV1().Jobs(ns).Create(ctx, job, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		Eventually(func(g Gomega) {
			live, err := firstClient.BatchV1().Jobs(ns).Get(ctx, "batch", metav1.GetOptions{})
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(live.Status.Succeeded).To(BeEquivalentTo(3))
			g.Expect(live.Status.CompletionTime).NotTo(BeNil())
		}, timeout, poll).Should(Succeed())
	})

	It("become visible as nodes when only the annotation is set", func(ctx SpecContext) {
		_, err := firstClient.CoreV1().Nodes().Create(ctx, &corev1.Node{ObjectMeta: metav1.ObjectMeta{
			Name: "plain", Annotations: map[string]string{localplane.NodeAnnotation: "fake"},
		}}, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		Eventually(func(g Gomega) {
			node, err := firstClient.CoreV1().Nodes().Get(ctx, "plain", metav1.GetOptions{})
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(node.Status.Conditions).To(ContainElement(And(
				HaveField("Type", corev1.NodeReady), HaveField("Status", corev1.ConditionTrue))))
			g.Expect(node.Status.Allocatable.Pods().Value()).To(BeEquivalentTo(110))
			g.Expect(node.Spec.Taints).To(BeEmpty())
		}, timeout, poll).Should(Succeed())
	})

	It("stay within their own control plane", func(ctx SpecContext) {
		Expect(localplane.CreateNodes(ctx, firstClient, "apart", 1, nil, nil)).To(Succeed())
		_, err := secondClient.CoreV1().Nodes().Get(ctx, "apart-0", metav1.GetOptions{})
		Expect(err).To(MatchError(apierrors.IsNotFound, "not found"))
		Expect(first.URL()).NotTo(Equal(second.URL()))
	})
})
