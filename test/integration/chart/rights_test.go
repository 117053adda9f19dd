// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package chart_test

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// grant gives a user rights everywhere until the spec is over, and returns his kubeconfig.
func grant(ctx context.Context, user string, rules ...rbacv1.PolicyRule) string {
	GinkgoHelper()
	meta := metav1.ObjectMeta{Name: user}
	_, err := client.RbacV1().ClusterRoles().Create(ctx, &rbacv1.ClusterRole{ObjectMeta: meta, Rules: rules}, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	_, err = client.RbacV1().ClusterRoleBindings().Create(ctx, &rbacv1.ClusterRoleBinding{
		ObjectMeta: meta,
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: user},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}},
	}, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func(ctx SpecContext) {
		Expect(client.RbacV1().ClusterRoleBindings().Delete(ctx, user, metav1.DeleteOptions{})).To(Succeed())
		Expect(client.RbacV1().ClusterRoles().Delete(ctx, user, metav1.DeleteOptions{})).To(Succeed())
	})
	Eventually(func(g Gomega) {
		review, err := client.AuthorizationV1().SubjectAccessReviews().Create(ctx, &authorizationv1.SubjectAccessReview{
			Spec: authorizationv1.SubjectAccessReviewSpec{User: user, ResourceAttributes: &authorizationv1.ResourceAttributes{
				Verb: rules[0].Verbs[0], Group: rules[0].APIGroups[0], Resource: rules[0].Resources[0],
			}},
		}, metav1.CreateOptions{})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(review.Status.Allowed).To(BeTrue())
	}).WithTimeout(timeout).WithPolling(poll).Should(Succeed())
	kubeconfig, err := plane.Kubeconfig(user)
	Expect(err).NotTo(HaveOccurred())
	return kubeconfig
}

// rule allows verbs on all resources of groups.
func rule(verbs []string, groups ...string) rbacv1.PolicyRule {
	return rbacv1.PolicyRule{APIGroups: groups, Resources: []string{"*"}, Verbs: verbs}
}

var _ = Describe("A user who may read everything", Serial, func() {
	DescribeTable("makes nothing without the right", func(ctx SpecContext, want string, groups ...string) {
		kubeconfig := grant(ctx, "installer", rule([]string{"get", "list", "watch"}, "*"), rule([]string{"create", "patch", "delete"}, groups...))
		DeferCleanup(func(ctx SpecContext) {
			run(ctx, "uninstall", "berth", "--namespace", systemNamespace, "--ignore-not-found")
		})
		refused := runAs(ctx, kubeconfig, inSystem("install", "berth", "--create-namespace")...)
		Expect(refused.failed).To(BeTrue())
		Expect(refused.err).To(And(ContainSubstring("failed pre-install"), ContainSubstring(want)))
		expectNothing(ctx)
		accounts, err := client.CoreV1().ServiceAccounts(systemNamespace).List(ctx,
			metav1.ListOptions{LabelSelector: "app.kubernetes.io/part-of=berth"})
		Expect(err).NotTo(HaveOccurred())
		Expect(accounts.Items).To(BeEmpty())
	},
		Entry("to define kinds", `Resources:["customresourcedefinitions"]`,
			"", "apps", "policy", "networking.k8s.io", "flowcontrol.apiserver.k8s.io", "admissionregistration.k8s.io", rbacv1.GroupName),
		Entry("to make roles", `cannot delete resource "clusterroles"`,
			"", "apps", "policy", "networking.k8s.io", "flowcontrol.apiserver.k8s.io", "admissionregistration.k8s.io", "apiextensions.k8s.io"),
		Entry("to make admission policies", `Resources:["validatingadmissionpolicies"]`,
			"", "apps", "policy", "networking.k8s.io", "flowcontrol.apiserver.k8s.io", "apiextensions.k8s.io", rbacv1.GroupName),
		Entry("to give Berth its rights", "cluster-admin privileges to use the aggregationRule",
			"", "apps", "policy", "networking.k8s.io", "flowcontrol.apiserver.k8s.io", "admissionregistration.k8s.io", "apiextensions.k8s.io",
			rbacv1.GroupName),
	)
})
