// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package admission_test

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A ResourceQuota counts what containers ask for, and knows nothing of annotations.
var _ = Describe("A pod in a namespace with a ResourceQuota", func() {
	const why = "counts what containers ask for"

	It("asks for what the quota limits by a resource of a container", func(ctx SpecContext) {
		created, err := tenant.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{
			ObjectMeta: metav1.ObjectMeta{GenerateName: "limited-"},
		}, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		pods := tenant.CoreV1().Pods(created.Name)
		try := func(ctx context.Context, changes ...change) error {
			_, err := pods.Create(ctx, pod(append(changes, scheduledBy(berthScheduler))...), dryRun)
			return err
		}
		before, err := pods.Create(ctx, pod(scheduledBy(berthScheduler), annotated(requestPrefix+"a", "1")), metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())

		_, err = tenant.CoreV1().ResourceQuotas(created.Name).Create(ctx, &corev1.ResourceQuota{
			ObjectMeta: metav1.ObjectMeta{Name: "pods"},
			Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{corev1.ResourcePods: resource.MustParse("100")}},
		}, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		_, err = tenant.CoreV1().ResourceQuotas(created.Name).Create(ctx, &corev1.ResourceQuota{
			ObjectMeta: metav1.ObjectMeta{Name: "licences"},
			Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{"requests." + domain + "a": resource.MustParse("5")}},
		}, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())

		Eventually(try).WithContext(ctx).WithArguments(annotated(requestPrefix+"a", "1")).
			WithTimeout(timeout).WithPolling(poll).Should(refused(why))
		Expect(try(ctx, annotated(requestPrefix+"a", "1"), annotated(requestPrefix+"b", "1"))).To(refused(why + ": " + requestPrefix + "a"))
		Expect(try(ctx, requesting(domain+"a", "5"))).To(Succeed())
		Expect(try(ctx, annotated(requestPrefix+"b", "1"))).To(Succeed())
		Expect(try(ctx, annotated(requestPrefix+"ab", "1"))).To(Succeed())

		By("changing pods that wait")
		waiting, err := pods.Create(ctx, pod(scheduledBy(berthScheduler)), metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		for _, subresource := range []string{"", "status"} {
			Expect(annotate(ctx, tenant, waiting, subresource, requestPrefix+"a", "1")).To(refused(why))
			Expect(annotate(ctx, tenant, before, subresource, requestPrefix+"a", "2")).To(refused(why))
			Expect(annotate(ctx, tenant, before, subresource, "example.com/own", "1")).To(Succeed())
		}
		Expect(annotate(ctx, tenant, before, "", requestPrefix+"a", nil)).To(Succeed())

		By("looking at another namespace")
		mustCreate(ctx, pod(scheduledBy(berthScheduler), annotated(requestPrefix+"a", "1")))
	})
})
