// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package playground_test

import (
	"context"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/generated/clientset/versioned"
	"berth.dev/berth/pkg/localplane"
)

// schedulerProcesses returns the processes of the Scheduler with the name.
func (p *playground) schedulerProcesses(name string) []int {
	GinkgoHelper()
	return slices.DeleteFunc(p.children(), func(pid int) bool {
		line, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
		return err != nil || !slices.Contains(strings.Split(string(line), "\x00"), "--scheduler-name="+name)
	})
}

// runPod makes a pod for Berth's scheduler and waits until it runs.
func runPod(ctx context.Context, client kubernetes.Interface, name string) {
	GinkgoHelper()
	_, err := client.CoreV1().Pods("default").Create(ctx, &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.PodSpec{
			SchedulerName: "berth-scheduler", Containers: []corev1.Container{{Name: "main", Image: "nginx"}},
		},
	}, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	Eventually(func(g Gomega) {
		pod, err := client.CoreV1().Pods("default").Get(ctx, name, metav1.GetOptions{})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(pod.Status.Phase).To(Equal(corev1.PodRunning))
	}, startTimeout, poll).Should(Succeed())
}

// eventTold waits until an event of a Scheduler has the reason.
func eventTold(ctx context.Context, client kubernetes.Interface, reason string) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		events, err := client.CoreV1().Events(metav1.NamespaceAll).List(ctx, metav1.ListOptions{FieldSelector: "reason=" + reason})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(events.Items).To(ContainElement(HaveField("InvolvedObject.Kind", "Scheduler")))
	}, startTimeout, poll).Should(Succeed())
}

var _ = Describe("a managed Scheduler in the playground", func() {
	It("runs as a process for as long as there is a Scheduler", func(ctx SpecContext) {
		p := start(ctx, "--clusters=4", "--nodes=1")
		p.awaitReady()
		config, err := clientcmd.BuildConfigFromFlags("", p.kubeconfig())
		Expect(err).NotTo(HaveOccurred())
		client, err := kubernetes.NewForConfig(config)
		Expect(err).NotTo(HaveOccurred())
		clientset, err := versioned.NewForConfig(config)
		Expect(err).NotTo(HaveOccurred())
		schedulers := clientset.BerthV1alpha1().Schedulers()

		By("creating two of them")
		bound := func(g Gomega, want ...string) {
			for _, name := range want {
				s, err := schedulers.Get(ctx, name, metav1.GetOptions{})
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(apimeta.IsStatusConditionTrue(s.Status.Conditions, berthv1alpha1.SchedulerReady)).To(BeTrue(), name)
				g.Expect(int(s.Status.ClusterCount)).To(BeNumerically(">=", 4/len(want)-1), name)
			}
		}
		for _, name := range []string{"a", "b"} {
			_, err := schedulers.Create(ctx, &berthv1alpha1.Scheduler{
				ObjectMeta: metav1.ObjectMeta{Name: name},
				Spec:       berthv1alpha1.SchedulerSpec{Managed: &berthv1alpha1.ManagedScheduler{}},
			}, metav1.CreateOptions{})
			Expect(err).NotTo(HaveOccurred())
		}
		Eventually(func(g Gomega) { bound(g, "a", "b") }, startTimeout, poll).Should(Succeed())
		Expect(p.schedulerProcesses("a")).To(HaveLen(1))
		runPod(ctx, client, "first")
		eventTold(ctx, client, berthv1alpha1.ReasonStandsBack)

		By("starting it again when it ends, as a kubelet does")
		before := p.schedulerProcesses("b")
		Expect(before).To(HaveLen(1))
		Expect(syscall.Kill(before[0], syscall.SIGKILL)).To(Succeed())
		Eventually(func(g Gomega) {
			after := p.schedulerProcesses("b")
			g.Expect(after).To(HaveLen(1))
			g.Expect(after).NotTo(Equal(before))
			pods, err := client.CoreV1().Pods(localplane.BerthNamespace).List(ctx, metav1.ListOptions{LabelSelector: "berth.dev/scheduler=b"})
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(pods.Items).To(HaveLen(1))
			g.Expect(pods.Items[0].Status.ContainerStatuses).To(ConsistOf(
				And(HaveField("RestartCount", BeEquivalentTo(1)), HaveField("Ready", BeTrue()))))
		}, startTimeout, poll).Should(Succeed())

		By("stopping it once it has given its clusters up")
		Expect(schedulers.Delete(ctx, "b", metav1.DeleteOptions{})).To(Succeed())
		Eventually(func(g Gomega) {
			_, err := schedulers.Get(ctx, "b", metav1.GetOptions{})
			g.Expect(apierrors.IsNotFound(err)).To(BeTrue())
			bound(g, "a")
			g.Expect(p.schedulerProcesses("b")).To(BeEmpty())
		}, startTimeout, poll).Should(Succeed())
		runPod(ctx, client, "second")

		By("leaving everything to the berth-scheduler without a name when none is left")
		Expect(schedulers.Delete(ctx, "a", metav1.DeleteOptions{})).To(Succeed())
		Eventually(func() []int { return p.schedulerProcesses("a") }, startTimeout, poll).Should(BeEmpty())
		runPod(ctx, client, "third")
		eventTold(ctx, client, berthv1alpha1.ReasonTakesOver)

		By("ending with Ctrl-C while one runs")
		_, err = schedulers.Create(ctx, &berthv1alpha1.Scheduler{
			ObjectMeta: metav1.ObjectMeta{Name: "c"}, Spec: berthv1alpha1.SchedulerSpec{Managed: &berthv1alpha1.ManagedScheduler{}},
		}, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		Eventually(func() []int { return p.schedulerProcesses("c") }, startTimeout, poll).Should(HaveLen(1))
		children := p.children()
		Expect(p.process.Signal(syscall.SIGINT)).To(Succeed())
		Eventually(p.exited, stopTimeout, poll).Should(Receive(BeZero()), p.String)
		for _, pid := range children {
			Expect(running(pid)).To(BeFalse(), "process %d", pid)
		}
		Expect(p.stateDir).NotTo(BeADirectory())
	})
})
