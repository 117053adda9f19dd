// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package scheduler_test

import (
	"bytes"
	"context"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	coordinationv1 "k8s.io/api/coordination/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"berth.dev/berth/pkg/localplane"
	"berth.dev/berth/test/integration/internal/schedulerproc"
)

var _ = Describe("the lease", Serial, func() {
	It("is given back by a scheduler that is asked to end, so that the next one leads at once", func(ctx SpecContext) {
		s := newSiteWith(ctx, "beijing", "hangzhou")
		s.createPolicy(ctx, s.policy("nginx", "Deployment", twoToThree()...))
		Eventually(leader).WithContext(ctx).WithTimeout(timeout).WithPolling(poll).ShouldNot(BeEmpty())
		replaceMain()
		Expect(leader(ctx)).To(BeEmpty())

		By("having a standby, which waits far longer than this spec for a lease that is not given back")
		unforgiving := []string{"--leader-elect-lease-duration=600s", "--leader-elect-renew-deadline=500s", "--leader-elect-retry-period=1s"}
		first := schedulerproc.Start(ctx, plane, schedulerproc.Options{Name: "first", Args: unforgiving}).EndAfterwards()
		Eventually(leader).WithContext(ctx).WithTimeout(timeout).WithPolling(poll).ShouldNot(BeEmpty())
		before := leader(ctx)
		schedulerproc.Start(ctx, plane, schedulerproc.Options{Name: "second", Args: unforgiving}).EndAfterwards()
		s.createDeployment(ctx, s.deployment("nginx", 5))
		s.expectShares(ctx, "nginx", map[string]int{"beijing": 2, "hangzhou": 3})
		first.End()
		s.scale(ctx, "nginx", 10)
		s.expectShares(ctx, "nginx", map[string]int{"beijing": 4, "hangzhou": 6})
		Expect(leader(ctx)).NotTo(Or(BeEmpty(), Equal(before)))
	})

	It("of the default scheduler is left alone by one whose configuration names none", func(ctx SpecContext) {
		const stock, namespace = "kube-scheduler", metav1.NamespaceSystem
		leases := client.CoordinationV1().Leases(namespace)
		_, err := leases.Create(ctx, &coordinationv1.Lease{
			ObjectMeta: metav1.ObjectMeta{Name: stock},
			// It has expired: whoever wants it can have it.
			Spec: coordinationv1.LeaseSpec{
				HolderIdentity: ptr.To("the default scheduler"), LeaseDurationSeconds: ptr.To[int32](1),
				RenewTime: ptr.To(metav1.NewMicroTime(metav1.Now().AddDate(0, 0, -1))),
			},
		}, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		allowLeases(ctx, namespace)
		DeferCleanup(func(ctx SpecContext) {
			Expect(leases.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{})).To(Succeed())
		})

		nameless := withoutLines(schedulerproc.ShippedConfiguration(), "resourceName:", "resourceNamespace:")
		schedulerproc.Start(ctx, plane, schedulerproc.Options{Name: "nameless", Configuration: nameless, Args: schedulerproc.QuickElection}).EndAfterwards()
		Eventually(func(g Gomega) {
			own, err := leases.Get(ctx, "berth-scheduler", metav1.GetOptions{})
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(own.Spec.HolderIdentity).NotTo(HaveValue(BeEmpty()))
		}, timeout, poll).Should(Succeed())
		lease, err := leases.Get(ctx, stock, metav1.GetOptions{})
		Expect(err).NotTo(HaveOccurred())
		Expect(lease.Spec.HolderIdentity).To(HaveValue(Equal("the default scheduler")))
	})
})

// allowLeases lets the scheduler use any lease of the namespace until the spec is over.
func allowLeases(ctx context.Context, namespace string) {
	GinkgoHelper()
	meta := metav1.ObjectMeta{Namespace: namespace, Name: "any-lease"}
	role := &rbacv1.Role{ObjectMeta: meta, Rules: []rbacv1.PolicyRule{{
		APIGroups: []string{"coordination.k8s.io"}, Resources: []string{"leases"}, Verbs: []string{"get", "create", "update"},
	}}}
	_, err := client.RbacV1().Roles(namespace).Create(ctx, role, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	binding := &rbacv1.RoleBinding{
		ObjectMeta: meta,
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: meta.Name},
		Subjects: []rbacv1.Subject{{
			Kind: rbacv1.ServiceAccountKind, Namespace: localplane.BerthNamespace, Name: schedulerproc.Name,
		}},
	}
	_, err = client.RbacV1().RoleBindings(namespace).Create(ctx, binding, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func(ctx SpecContext) {
		Expect(client.RbacV1().Roles(namespace).Delete(ctx, meta.Name, metav1.DeleteOptions{})).To(Succeed())
		Expect(client.RbacV1().RoleBindings(namespace).Delete(ctx, meta.Name, metav1.DeleteOptions{})).To(Succeed())
	})
}

// withoutLines drops the lines that begin, after their indent, with any of the words. It fails if a
// word is on no line.
func withoutLines(text []byte, words ...string) []byte {
	GinkgoHelper()
	var kept [][]byte
	dropped := map[string]bool{}
lines:
	for line := range bytes.Lines(text) {
		for _, word := range words {
			if strings.HasPrefix(strings.TrimSpace(string(line)), word) {
				dropped[word] = true
				continue lines
			}
		}
		kept = append(kept, line)
	}
	Expect(dropped).To(HaveLen(len(words)))
	return bytes.Join(kept, nil)
}
