// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package soundness_test runs what tells whether an installation works, and what takes it away
// again, against Berth's programs and a real API server.
package soundness_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/generated/clientset/versioned"
	"berth.dev/berth/pkg/localplane"
	"berth.dev/berth/test/integration/internal/installation"
	"berth.dev/berth/test/integration/internal/schedulerproc"
)

const (
	// timeout is for what takes seconds on an idle machine.
	timeout = 150 * time.Second
	poll    = 100 * time.Millisecond
)

var (
	plane  *localplane.ControlPlane
	client kubernetes.Interface
	berth  versioned.Interface
)

func TestSoundness(t *testing.T) {
	installation.Suite{Title: "check and purge", Begin: begin}.Run(t)
}

func begin(ctx SpecContext, started installation.Plane) {
	plane, client, berth = started.ControlPlane, started.Client, started.Berth
	installation.Apply(ctx, plane)
}

// berthctl runs the program as the administrator, and returns its output and whether it succeeded.
func berthctl(ctx context.Context, args ...string) (string, bool) {
	GinkgoHelper()
	bin, err := localplane.FindBinDir()
	Expect(err).NotTo(HaveOccurred())
	command := exec.CommandContext(ctx, filepath.Join(bin, "berthctl"), args...)
	command.Env = append(os.Environ(), "KUBECONFIG="+plane.AdminKubeconfig())
	command.Stderr = GinkgoWriter
	out, err := command.Output()
	GinkgoWriter.Printf("berthctl %s\n%s", strings.Join(args, " "), out)
	return string(out), err == nil
}

// wrong returns the IDs of the checks that failed.
func wrong(ctx context.Context, args ...string) []string {
	GinkgoHelper()
	out, succeeded := berthctl(ctx, append([]string{"check", "-o", "json"}, args...)...)
	var read struct {
		Categories []struct {
			Checks []struct{ ID, Result string }
		}
	}
	Expect(json.Unmarshal([]byte(out), &read)).To(Succeed(), out)
	failed := []string{}
	for _, category := range read.Categories {
		for _, c := range category.Checks {
			if c.Result == "error" {
				failed = append(failed, c.ID)
			}
		}
	}
	Expect(succeeded).To(Equal(len(failed) == 0))
	return failed
}

// place has Berth place the pods of a Deployment, by a policy for one Cluster, and returns them.
func place(ctx context.Context, namespace string) []corev1.Pod {
	GinkgoHelper()
	node := localplane.FakeNode("quay", nil, localplane.DefaultCapacity())
	_, err := client.CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	cluster := &berthv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "harbour"}}
	cluster.Spec.Nodes = []string{"quay"}
	_, err = berth.BerthV1alpha1().Clusters().Create(ctx, cluster, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	policy := &berthv1alpha1.PropagationPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "web"}}
	policy.Spec.ResourceSelectors = []berthv1alpha1.ResourceSelector{{APIVersion: "apps/v1", Kind: "Deployment", Name: "web"}}
	policy.Spec.Placement.StaticWeightList = []berthv1alpha1.StaticClusterWeight{{ClusterNames: []string{"harbour"}, Weight: 1}}
	_, err = berth.BerthV1alpha1().PropagationPolicies(namespace).Create(ctx, policy, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	labels := map[string]string{"app": "web"}
	web := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "web"}}
	web.Spec.Replicas, web.Spec.Selector = ptr.To[int32](3), &metav1.LabelSelector{MatchLabels: labels}
	web.Spec.Template.Labels = labels
	web.Spec.Template.Spec = corev1.PodSpec{SchedulerName: "berth-scheduler", Containers: []corev1.Container{{Name: "main", Image: "image"}}}
	_, err = client.AppsV1().Deployments(namespace).Create(ctx, web, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	var pods []corev1.Pod
	Eventually(func(g Gomega) {
		pods = podsIn(ctx, namespace)
		g.Expect(pods).To(HaveLen(3))
		for i := range pods {
			g.Expect(pods[i].Annotations).To(HaveKey(berthv1alpha1.SeatAnnotation))
		}
	}).WithTimeout(timeout).WithPolling(poll).Should(Succeed())
	return pods
}

func podsIn(ctx context.Context, namespace string) []corev1.Pod {
	GinkgoHelper()
	pods, err := client.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{LabelSelector: "app=web"})
	Expect(err).NotTo(HaveOccurred())
	return pods.Items
}

var _ = Describe("Berth", Ordered, func() {
	It("is found wanting before it runs", func(ctx SpecContext) {
		Expect(wrong(ctx, "--pre")).To(BeEmpty())
		Expect(wrong(ctx)).To(ConsistOf("installed"))
	})

	It("has nothing wrong when it runs, and each fault is named", func(ctx SpecContext) {
		schedulerproc.Start(ctx, plane, schedulerproc.Options{Args: schedulerproc.Patient}).EndAfterwards()
		schedulerproc.StartControllers(ctx, plane)
		out, succeeded := berthctl(ctx, "check", "--wait", "--wait-duration", timeout.String())
		Expect(succeeded).To(BeTrue(), out)

		namespace := installation.CreateNamespace(ctx, client, "checked-")
		before := place(ctx, namespace)
		Expect(wrong(ctx)).To(BeEmpty())
		Expect(client.FlowcontrolV1().FlowSchemas().Delete(ctx, "berth-leader-election", metav1.DeleteOptions{})).To(Succeed())
		Expect(wrong(ctx)).To(ConsistOf("flow-schema"))

		By("taking everything away while the controllers run, from pods that a policy guards")
		planned, succeeded := berthctl(ctx, "purge", "--dry-run")
		Expect(succeeded).To(BeTrue())
		Expect(podsIn(ctx, namespace)[0].Annotations).To(HaveKey(berthv1alpha1.SeatAnnotation))
		done, succeeded := berthctl(ctx, "purge")
		Expect(succeeded).To(BeTrue(), done)
		Expect(done).To(ContainSubstring("Cluster harbour: deleted"))
		Expect(planned).To(ContainSubstring("Cluster harbour: deleted"))

		Eventually(func(g Gomega) {
			clusters, err := berth.BerthV1alpha1().Clusters().List(ctx, metav1.ListOptions{})
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(clusters.Items).To(BeEmpty())
		}).WithTimeout(timeout).WithPolling(poll).Should(Succeed())
		after := podsIn(ctx, namespace)
		Expect(after).To(HaveLen(len(before)))
		for i := range after {
			Expect(after[i].UID).To(Equal(before[i].UID))
			Expect(after[i].DeletionTimestamp).To(BeNil())
			Expect(after[i].Annotations).NotTo(HaveKey(HavePrefix("berth.dev/")))
			Expect(after[i].Annotations).NotTo(HaveKey(corev1.PodDeletionCost))
		}
	})
})
