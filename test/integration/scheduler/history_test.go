// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package scheduler_test

import (
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth.dev/berth/pkg/localplane"
	"berth.dev/berth/test/integration/internal/schedulerproc"
)

// historyProfile is the schedulerName of the pods of these specs.
const historyProfile = "berth-history"

// historyConfiguration is that of a scheduler for these pods alone, beside the one that leads.
const historyConfiguration = `apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
leaderElection: {leaderElect: false}
profiles:
- schedulerName: ` + historyProfile + `
  plugins:
    multiPoint: {enabled: [{name: NodeGroupPolicy, weight: 10}]}
    bind: {disabled: [{name: "*"}], enabled: [{name: BerthBinder}]}
`

// startRemembering starts a scheduler that remembers, and returns where it is to be asked.
func startRemembering(ctx context.Context) string {
	GinkgoHelper()
	port, err := localplane.FreePort()
	Expect(err).NotTo(HaveOccurred())
	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	schedulerproc.Start(ctx, plane, schedulerproc.Options{
		Name: "remembering-scheduler", Configuration: []byte(historyConfiguration), Args: []string{"--history-bind-address=" + address},
	}).EndAfterwards()
	return "https://" + address
}

// remembered returns what berthctl explain tells a user of the history of a pod, with single
// spaces.
func (s *site) remembered(ctx context.Context, kubeconfig, from string, args ...string) (string, error) {
	binDir, err := localplane.FindBinDir()
	Expect(err).NotTo(HaveOccurred())
	args = append(append([]string{"explain"}, args...), "-n", s.namespace, "--history", "--history-from", from)
	command := exec.CommandContext(ctx, filepath.Join(binDir, "berthctl"), args...)
	command.Env = append(os.Environ(), "KUBECONFIG="+kubeconfig)
	out, err := command.CombinedOutput()
	return strings.Join(strings.Fields(string(out)), " "), err
}

// allowHistory gives a user the role that may read history, and no other right.
func allowHistory(ctx context.Context, user string) (kubeconfig string) {
	GinkgoHelper()
	bindings := client.RbacV1().ClusterRoleBindings()
	_, err := bindings.Create(ctx, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "test-history-" + user},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "berth-history-reader"},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}},
	}, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func(ctx SpecContext) {
		Expect(bindings.Delete(ctx, "test-history-"+user, metav1.DeleteOptions{})).To(Succeed())
	})
	kubeconfig, err = plane.Kubeconfig(user)
	Expect(err).NotTo(HaveOccurred())
	return kubeconfig
}

var _ = Describe("the history", func() {
	It("tells what was decided about a pod, to those who may get it", func(ctx SpecContext) {
		s := newSiteWith(ctx, "beijing")
		from := startRemembering(ctx)
		_, err := client.CoreV1().Pods(s.namespace).Create(ctx, &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: "late"},
			Spec: corev1.PodSpec{
				SchedulerName: historyProfile, NodeSelector: map[string]string{"test.berth.dev/wanted": s.suffix},
				Containers: []corev1.Container{{Name: "main", Image: "registry.invalid/a"}},
			},
		}, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		admin := plane.AdminKubeconfig()
		tells := func(want ...string) {
			GinkgoHelper()
			Eventually(func(g Gomega) {
				out, err := s.remembered(ctx, admin, from, "pod", "late")
				g.Expect(err).NotTo(HaveOccurred(), out)
				for _, text := range want {
					g.Expect(out).To(ContainSubstring(text))
				}
			}).WithContext(ctx).WithTimeout(timeout).WithPolling(slowPoll).Should(Succeed())
		}
		waited := " pod/late Unschedulable 0/"
		tells("History: TIME ", waited, "node(s) didn't match Pod's node affinity/selector", "berth-scheduler remembers since 2")

		s.patchNode(ctx, "beijing", 0, `{"metadata":{"labels":{"test.berth.dev/wanted":"`+s.suffix+`"}}}`)
		tells(waited, " pod/late Placed on node "+s.node("beijing", 0)+" in cluster "+s.full("beijing"))

		By("asking as somebody who may read history, but not these pods")
		eve := allowHistory(ctx, "eve-"+s.suffix)
		Eventually(func(g Gomega) {
			out, err := s.remembered(ctx, eve, from, "deployment", "late")
			g.Expect(err).NotTo(HaveOccurred(), out)
			g.Expect(out).To(ContainSubstring("nothing is remembered"))
			g.Expect(out).To(ContainSubstring("berth-scheduler remembers since 2"))
		}).WithContext(ctx).WithTimeout(timeout).WithPolling(slowPoll).Should(Succeed())
		out, err := s.remembered(ctx, eve, from, "pod", "late")
		Expect(err).To(HaveOccurred())
		Expect(out).NotTo(ContainSubstring("didn't match"))

		By("asking for a pod that never was")
		out, err = s.remembered(ctx, admin, from, "pod", "nobody")
		Expect(err).To(HaveOccurred())
		Expect(out).To(ContainSubstring(`pod "nobody" not found in namespace "` + s.namespace + `", and no process remembers it`))

		By("asking for a deployment that never was")
		out, err = s.remembered(ctx, admin, from, "deployment", "nobody")
		Expect(err).To(HaveOccurred())
		Expect(out).To(ContainSubstring(`deployment "nobody" not found in namespace "` + s.namespace + `", and no process remembers it`))

		By("asking a process that does not answer")
		out, err = s.remembered(ctx, admin, "https://127.0.0.1:1", "deployment", "late")
		Expect(err).NotTo(HaveOccurred(), out)
		Expect(out).To(ContainSubstring("https://127.0.0.1:1 cannot be asked: "))
	})
})
