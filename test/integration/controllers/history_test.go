// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"berth.dev/berth/pkg/localplane"
)

// explained returns what berthctl explain tells a user of the history of something, with single
// spaces.
func explained(ctx context.Context, kubeconfig, namespace string, args ...string) (string, error) {
	binDir, err := localplane.FindBinDir()
	if err != nil {
		return "", err
	}
	args = append(append([]string{"explain"}, args...), "-n", namespace, "--history", "--history-from", "https://"+historyAddress)
	command := exec.CommandContext(ctx, filepath.Join(binDir, "berthctl"), args...)
	command.Env = append(os.Environ(), "KUBECONFIG="+kubeconfig)
	out, err := command.CombinedOutput()
	return strings.Join(strings.Fields(string(out)), " "), err
}

var _ = Describe("the history of the controllers", func() {
	It("tells who had pods evicted and why, and what became of the shares, to those who may get them", func(ctx SpecContext) {
		m := settled(ctx)
		m.reweigh(ctx)
		m.expectMoved(ctx)
		Eventually(func(g Gomega) {
			out, err := explained(ctx, plane.AdminKubeconfig(), m.namespace, "deployment", "web")
			g.Expect(err).NotTo(HaveOccurred(), out)
			g.Expect(out).To(ContainSubstring(" Evicted for propagationpolicy/policy; from cluster " + m.hz + ", which has 3 and should have 1, to " +
				m.bj + ", which has 2 and should have 4; policy policy berth-controller-manager"))
			g.Expect(out).To(ContainSubstring(" propagationpolicy/policy SharesChanged for propagationpolicy/policy; Deployment web: " +
				m.bj + " 4, " + m.hz + " 1 "))
			g.Expect(out).To(ContainSubstring("berth-controller-manager remembers since 2"))
		}).WithContext(ctx).WithTimeout(timeout).WithPolling(poll).Should(Succeed())

		By("asking as somebody with no rights")
		nobody, err := plane.Kubeconfig("nobody")
		Expect(err).NotTo(HaveOccurred())
		out, err := explained(ctx, nobody, m.namespace, "deployment", "web")
		Expect(err).NotTo(HaveOccurred(), out)
		Expect(out).To(ContainSubstring("it answers 403: "))
		Expect(out).To(ContainSubstring("the ClusterRole berth-history-reader allows it"))
		Expect(out).NotTo(ContainSubstring("Evicted"))
	})

	It("says that a restart has lost it", func(ctx SpecContext) {
		m := settled(ctx)
		m.reweigh(ctx)
		m.expectMoved(ctx)
		Eventually(explained).WithContext(ctx).WithArguments(plane.AdminKubeconfig(), m.namespace, "deployment", "web").
			WithTimeout(timeout).WithPolling(poll).Should(ContainSubstring(" Evicted "))
		stopManager()
		startManager(ctx)
		untilReady(ctx)
		Eventually(explained).WithContext(ctx).WithArguments(plane.AdminKubeconfig(), m.namespace, "deployment", "web").
			WithTimeout(timeout).WithPolling(poll).Should(And(
			Not(ContainSubstring(" Evicted ")), ContainSubstring("berth-controller-manager remembers since 2"),
			ContainSubstring("what was decided before is lost"),
		))
	})
})
