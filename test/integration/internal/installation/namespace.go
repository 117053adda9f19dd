// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package installation

import (
	"context"
	"time"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"berth.dev/berth/pkg/model/rights"
)

const (
	namespaceTimeout = 150 * time.Second
	namespacePoll    = 100 * time.Millisecond
)

// CreateNamespace makes a namespace whose name begins with a prefix, waits until pods can be
// created in it, and returns its name.
func CreateNamespace(ctx context.Context, client kubernetes.Interface, prefix string) string {
	ginkgo.GinkgoHelper()
	ns, err := client.CoreV1().Namespaces().Create(ctx,
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: prefix}}, metav1.CreateOptions{})
	gomega.Expect(err).NotTo(gomega.HaveOccurred())
	gomega.Eventually(func() error {
		_, err := client.CoreV1().ServiceAccounts(ns.Name).Get(ctx, "default", metav1.GetOptions{})
		return err
	}).WithTimeout(namespaceTimeout).WithPolling(namespacePoll).Should(gomega.Succeed())
	return ns.Name
}

// Allow lets Berth write what the Applications and Subscriptions of a namespace list, as the
// ServiceAccount default, as berthctl allow namespace does.
func Allow(ctx context.Context, client kubernetes.Interface, namespace string) {
	ginkgo.GinkgoHelper()
	role, bindings := rights.Objects(namespace, rights.DefaultServiceAccount)
	_, err := client.RbacV1().Roles(namespace).Create(ctx, role, metav1.CreateOptions{})
	gomega.Expect(err).NotTo(gomega.HaveOccurred())
	for _, binding := range bindings {
		_, err := client.RbacV1().RoleBindings(namespace).Create(ctx, binding, metav1.CreateOptions{})
		gomega.Expect(err).NotTo(gomega.HaveOccurred())
	}
}
