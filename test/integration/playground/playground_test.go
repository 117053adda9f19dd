// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package playground_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"syscall"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/generated/clientset/versioned"
	"berth.dev/berth/pkg/localplane"
	"berth.dev/berth/test/integration/internal/installation"
)

var _ = Describe("berth-playground demo", func() {
	It("shows thirteen steps and leaves nothing behind", func(ctx SpecContext) {
		p := start(ctx, "demo")
		Eventually(p.exited, demoTimeout, poll).Should(Receive(BeZero()), p.String)
		out := p.String()
		for _, line := range []string{
			"Step 1 of 13", "Step 13 of 13", "What was seen",
			"beijing 2, hangzhou 3, all Running",
			"beijing 4, hangzhou 6; none of the first 5 pods moved",
			"no pod was evicted, pod-deletion-cost did it",
			"4 pods moved, all by eviction; never fewer than 9 of 10 ready",
			"beijing 8, hangzhou 2 for the new revision; never fewer than 10 ready, no eviction",
			"with ScheduleAnyway they run elsewhere: beijing 8, hangzhou 7",
			"3 of 5 pods run; the others say that matlab is used up",
			"made way for urgent on beijing-",
			"all 8 pods of the bundle run where the Subscription says: beijing and hangzhou",
			"no scheduler has more than 1.1 times its share of the clusters; 120 pods exactly as shared out, placed by s1 ",
			"; all 240 pods run, exactly as shared out, none bound twice",
			"s1 has all 12 clusters, s2 is gone and its process stopped; no pod noticed",
		} {
			Expect(out).To(ContainSubstring(line))
		}
		// By which name a Cluster weighs more depends on when its nodes are counted.
		Expect(out).To(MatchRegexp(`the [3-5] clusters of s3 moved and [0-2] of the others`))
		Expect(p.stateDir).NotTo(BeADirectory())
	})
})

var _ = Describe("berth-playground", func() {
	It("serves what it says until Ctrl-C, and leaves nothing behind", func(ctx SpecContext) {
		p := start(ctx, "--clusters=3", "--nodes=2")
		p.awaitReady()
		config, err := clientcmd.BuildConfigFromFlags("", p.kubeconfig())
		Expect(err).NotTo(HaveOccurred())
		client, err := kubernetes.NewForConfig(config)
		Expect(err).NotTo(HaveOccurred())
		berth, err := versioned.NewForConfig(config)
		Expect(err).NotTo(HaveOccurred())
		var clusters []berthv1alpha1.Cluster
		// A cluster is ready with its first node.
		Eventually(func(g Gomega) {
			list, err := berth.BerthV1alpha1().Clusters().List(ctx, metav1.ListOptions{})
			g.Expect(err).NotTo(HaveOccurred())
			clusters = list.Items
			g.Expect(clusters).To(HaveLen(3))
			g.Expect(clusters).To(HaveEach(HaveField("Status.ReadyNodeCount", BeEquivalentTo(2))))
		}, startTimeout, poll).Should(Succeed())

		By("placing the example that the guide names")
		binDir, err := localplane.FindBinDir()
		Expect(err).NotTo(HaveOccurred())
		apply := exec.CommandContext(ctx, filepath.Join(binDir, "berth-playground"), "apply",
			installation.Path("examples", "node-groups", "nginx.yaml"))
		apply.Env = append(os.Environ(), "KUBECONFIG="+p.kubeconfig())
		text, err := apply.CombinedOutput()
		Expect(err).NotTo(HaveOccurred(), string(text))
		Eventually(func(g Gomega) {
			pods, err := client.CoreV1().Pods("default").List(ctx, metav1.ListOptions{})
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(pods.Items).To(And(HaveLen(5), HaveEach(HaveField("Status.Phase", corev1.PodRunning))))
		}, startTimeout, poll).Should(Succeed())

		By("asking what was decided, and listing the clusters over REST, as the guide says")
		typed := func(pattern string) string {
			GinkgoHelper()
			line := regexp.MustCompile(`(?m)^ +(` + pattern + `.*)$`).FindStringSubmatch(p.String())
			Expect(line).To(HaveLen(2), p.String())
			command := exec.CommandContext(ctx, "sh", "-c", line[1])
			command.Dir, command.Env = p.dir, apply.Env
			text, err := command.CombinedOutput()
			Expect(err).NotTo(HaveOccurred(), string(text))
			return string(text)
		}
		Eventually(typed, startTimeout, poll).WithArguments(`\S*berthctl explain`).Should(And(
			MatchRegexp(`pod/nginx-\S+ +Placed `), MatchRegexp(`propagationpolicy/nginx-propagation +SharesChanged `)))
		listed := typed("curl ")
		for i := range clusters {
			Expect(listed).To(ContainSubstring(fmt.Sprintf("%q", clusters[i].Name)))
		}

		By("ending with Ctrl-C")
		children := p.children()
		Expect(children).To(HaveLen(7), "etcd, kube-apiserver, kube-controller-manager, kwok and Berth's three programs")
		Expect(p.process.Signal(syscall.SIGINT)).To(Succeed())
		Eventually(p.exited, stopTimeout, poll).Should(Receive(BeZero()), p.String)
		for _, pid := range children {
			Expect(running(pid)).To(BeFalse(), "process %d", pid)
		}
		Expect(p.stateDir).NotTo(BeADirectory())
	})

	It("takes its children along when it is killed", func(ctx SpecContext) {
		p := start(ctx)
		p.awaitReady()
		children := p.children()
		Expect(children).NotTo(BeEmpty())
		Expect(p.process.Kill()).To(Succeed())
		for _, pid := range children {
			Eventually(running, stopTimeout, poll).WithArguments(pid).Should(BeFalse(), "process %d", pid)
		}
	})

	It("ends and says why when one of its programs ends", func(ctx SpecContext) {
		p := start(ctx)
		p.awaitReady()
		Expect(syscall.Kill(p.child("berth-scheduler"), syscall.SIGKILL)).To(Succeed())
		Eventually(p.exited, stopTimeout, poll).Should(Receive(Equal(1)))
		Expect(p.String()).To(ContainSubstring("Error: berth-scheduler exited: signal: killed"))
		Expect(p.stateDir).NotTo(BeADirectory())
	})

	It("can be interrupted while it starts", func(ctx SpecContext) {
		p := start(ctx)
		Eventually(p.String, startTimeout, poll).Should(ContainSubstring("starting kube-apiserver"))
		Expect(p.process.Signal(syscall.SIGINT)).To(Succeed())
		Eventually(p.exited, stopTimeout, poll).Should(Receive(Equal(130)))
		Expect(p.String()).To(HaveSuffix("Interrupted.\n"))
		Expect(p.stateDir).NotTo(BeADirectory())
	})

	It("cleans up when nobody reads its output any more", func(ctx SpecContext) {
		binDir, err := localplane.FindBinDir()
		Expect(err).NotTo(HaveOccurred())
		stateDir := filepath.Join(GinkgoT().TempDir(), "state")
		// The shell reports the exit code of the first program of the pipe.
		cmd := exec.CommandContext(ctx, "bash", "-o", "pipefail", "-c", `"$0" demo --state-dir="$1" | head -n 2`,
			filepath.Join(binDir, "berth-playground"), stateDir)
		Expect(cmd.Run()).To(MatchError("exit status 130"))
		Expect(stateDir).NotTo(BeADirectory())
	})

	DescribeTable("refuses a size that makes no sense",
		func(ctx SpecContext, argument string) {
			p := start(ctx, argument)
			Eventually(p.exited, stopTimeout, poll).Should(Receive(Equal(1)))
			Expect(p.String()).To(MatchRegexp(`Error: --(clusters|nodes)=.*: must be from 1 to`))
			Expect(p.stateDir).NotTo(BeADirectory())
		},
		Entry("no clusters", "--clusters=0"),
		Entry("too many clusters", "--clusters=101"),
		Entry("a negative number of nodes", "--nodes=-1"),
	)
})
