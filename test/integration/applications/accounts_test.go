// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package applications_test

import (
	"context"
	"os/exec"
	"path/filepath"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/localplane"
	"berth.dev/berth/pkg/model/rights"
)

// ready returns reason and message of the condition Ready.
func (s *site) ready(ctx context.Context) string {
	GinkgoHelper()
	ready := apimeta.FindStatusCondition(s.app(ctx).Status.Conditions, berthv1alpha1.ApplicationReady)
	if ready == nil {
		return ""
	}
	return ready.Reason + ": " + ready.Message
}

// deny takes from the ServiceAccount default what newSite has given it: to be impersonated, or to
// write.
func (s *site) deny(ctx context.Context, impersonate, write bool) {
	GinkgoHelper()
	_, bindings := rights.Objects(s.namespace, "default")
	for i, taken := range []bool{impersonate, write} {
		if taken {
			Expect(client.RbacV1().RoleBindings(s.namespace).Delete(ctx, bindings[i].Name, metav1.DeleteOptions{})).To(Succeed())
		}
	}
}

// berthctl runs berthctl as the administrator.
func berthctl(ctx context.Context, args ...string) {
	GinkgoHelper()
	binDir, err := localplane.FindBinDir()
	Expect(err).NotTo(HaveOccurred())
	command := exec.CommandContext(ctx, filepath.Join(binDir, "berthctl"),
		append([]string{"--kubeconfig=" + plane.AdminKubeconfig()}, args...)...)
	output, err := command.CombinedOutput()
	Expect(err).NotTo(HaveOccurred(), string(output))
}

// expectNothing expects that nothing is made of the Application: no object, and no policy.
func (s *site) expectNothing(ctx context.Context) {
	GinkgoHelper()
	policies, err := berth.BerthV1alpha1().PropagationPolicies(s.namespace).List(ctx, metav1.ListOptions{})
	Expect(err).NotTo(HaveOccurred())
	Expect(policies.Items).To(BeEmpty())
	deployments, err := client.AppsV1().Deployments(s.namespace).List(ctx, metav1.ListOptions{})
	Expect(err).NotTo(HaveOccurred())
	Expect(deployments.Items).To(BeEmpty())
}

var _ = Describe("An Application is written with the rights of its author's namespace", func() {
	It("and waits until the namespace allows Berth to impersonate its ServiceAccount", func(ctx SpecContext) {
		s := newSite(ctx, map[string]float64{"a": 1})
		s.deny(ctx, true, true)
		s.apply(ctx, nil)
		Eventually(ctx, s.ready).WithTimeout(timeout).WithPolling(poll).Should(And(
			HavePrefix(berthv1alpha1.ReasonNotAllowed), ContainSubstring("impersonate serviceaccounts"),
			ContainSubstring("berthctl allow namespace "+s.namespace)))
		s.expectNothing(ctx)
		berthctl(ctx, "allow", "namespace", s.namespace)
		s.runsIn(ctx, "a")
	})

	It("and is told which right the ServiceAccount lacks", func(ctx SpecContext) {
		s := newSite(ctx, map[string]float64{"a": 1})
		s.deny(ctx, false, true)
		s.apply(ctx, nil)
		Eventually(ctx, s.ready).WithTimeout(timeout).WithPolling(poll).Should(And(
			HavePrefix(berthv1alpha1.ReasonNotAllowed), ContainSubstring("may not get deployments.apps"),
			ContainSubstring("berthctl allow namespace "+s.namespace)))
		s.expectNothing(ctx)
		berthctl(ctx, "allow", "namespace", s.namespace)
		s.runsIn(ctx, "a")
	})

	It("which do not reach what the role does not list", func(ctx SpecContext) {
		s := newSite(ctx, map[string]float64{"a": 1})
		s.apply(ctx, func(spec *berthv1alpha1.ApplicationSpec) {
			spec.Manifests = []berthv1alpha1.Manifest{manifest(&corev1.ServiceAccount{
				TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ServiceAccount"},
				ObjectMeta: metav1.ObjectMeta{Name: "other"},
			})}
		})
		Eventually(ctx, s.ready).WithTimeout(timeout).WithPolling(poll).Should(And(
			HavePrefix(berthv1alpha1.ReasonNotAllowed), ContainSubstring("ServiceAccount default may not get serviceaccounts")))
	})

	It("as the ServiceAccount that it names, once that exists", func(ctx SpecContext) {
		s := newSite(ctx, map[string]float64{"a": 1})
		s.deny(ctx, true, true)
		s.apply(ctx, func(spec *berthv1alpha1.ApplicationSpec) { spec.ServiceAccountName = "deployer" })
		Eventually(ctx, s.ready).WithTimeout(timeout).WithPolling(poll).Should(
			Equal("NotAllowed: there is no ServiceAccount deployer in namespace " + s.namespace + " to write as"))
		berthctl(ctx, "allow", "namespace", s.namespace, "--service-account", "deployer")
		_, err := client.CoreV1().ServiceAccounts(s.namespace).Create(ctx,
			&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "deployer"}}, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		s.runsIn(ctx, "a")
	})
})
