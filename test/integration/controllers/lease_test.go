// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"context"
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	coordinationv1 "k8s.io/api/coordination/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"berth.dev/berth/pkg/localplane"
)

// leaseHolder returns who has the lease of the controller manager in a namespace, empty if nobody
// does.
func leaseHolder(ctx context.Context, namespace string) string {
	lease, err := client.CoordinationV1().Leases(namespace).Get(ctx, localplane.BerthControllerManager, metav1.GetOptions{})
	if err != nil {
		return ""
	}
	return ptr.Deref(lease.Spec.HolderIdentity, "")
}

// allowLease lets the controller manager have its lease in a namespace.
func allowLease(ctx context.Context, namespace string) {
	GinkgoHelper()
	meta := metav1.ObjectMeta{Namespace: namespace, Name: "leader"}
	_, err := client.RbacV1().Roles(namespace).Create(ctx, &rbacv1.Role{ObjectMeta: meta, Rules: []rbacv1.PolicyRule{
		{APIGroups: []string{coordinationv1.GroupName}, Resources: []string{"leases"}, Verbs: []string{"create", "get", "update"}},
		{APIGroups: []string{""}, Resources: []string{"events"}, Verbs: []string{"create", "patch"}},
	}}, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	_, err = client.RbacV1().RoleBindings(namespace).Create(ctx, &rbacv1.RoleBinding{
		ObjectMeta: meta, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: meta.Name},
		Subjects: []rbacv1.Subject{
			{Kind: rbacv1.ServiceAccountKind, Namespace: localplane.BerthNamespace, Name: localplane.BerthControllerManager},
		},
	}, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
}

var _ = Describe("A second controller manager that leads by another lease", Serial, func() {
	It("waits for the first, and an event names both", func(ctx SpecContext) {
		namespace := newNamespace(ctx)
		allowLease(ctx, namespace)
		first, firstHealth, firstMetrics, firstHistory := manager, health, metricsAddress, historyAddress
		startManager(ctx, "--leader-election-namespace="+namespace)
		second := manager
		ended := false
		DeferCleanup(func() {
			if !ended {
				Expect(second.Stop(timeout)).To(Succeed())
				manager, health, metricsAddress, historyAddress = first, firstHealth, firstMetrics, firstHistory
			}
		})
		Eventually(leaseHolder).WithContext(ctx).WithArguments(namespace).WithTimeout(timeout).WithPolling(poll).ShouldNot(BeEmpty())
		of, by := leaseHolder(ctx, namespace), leaseHolder(ctx, localplane.BerthNamespace)
		Expect(by).NotTo(Or(BeEmpty(), Equal(of)))
		want := fmt.Sprintf("%s has lease %s/%s and waits for this one, which %s holds", of, namespace, localplane.BerthControllerManager, by)
		Eventually(waiting).WithContext(ctx).WithArguments(of).WithTimeout(timeout).WithPolling(poll).Should(Equal([]string{want}))

		Expect(first.Stop(timeout)).To(Succeed())
		Eventually(leaseHolder).WithContext(ctx).WithArguments(localplane.BerthNamespace).WithTimeout(longTimeout).WithPolling(poll).Should(Equal(of))
		Expect(second.Stop(timeout)).To(Succeed())
		ended = true
		startManager(ctx)
		untilReady(ctx)
	})
})

// waiting returns the messages of events at the usual lease which say that somebody waits for it.
func waiting(ctx context.Context, who string) (messages []string, err error) {
	events, err := client.CoreV1().Events(localplane.BerthNamespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	for i := range events.Items {
		e := &events.Items[i]
		about := e.InvolvedObject.Kind == "Lease" && e.InvolvedObject.Name == localplane.BerthControllerManager
		if about && strings.HasPrefix(e.Message, who) && strings.Contains(e.Message, "waits") {
			messages = append(messages, e.Message)
		}
	}
	return messages, nil
}
