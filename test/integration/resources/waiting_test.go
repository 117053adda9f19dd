// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package resources_test

import (
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// Without a wake-up a pod that waits is tried again after five minutes, long after the timeout of
// these specs.
var _ = Describe("I3: a pod that waits says why and is placed once", func() {
	var s *site

	BeforeEach(func(ctx SpecContext) {
		s = newSite(ctx)
		s.createNode(ctx, "one", "a", "32")
	})

	It("something is released, by an end or by a deletion, in either way of asking", func(ctx SpecContext) {
		s.createResource(ctx, "licence", s.capacity("", "2"))
		s.createPod(ctx, "first", asking("licence", "1"))
		s.createPod(ctx, "second", askingByAnnotation("licence", "1"))
		s.expectBound(ctx, "first", "second")
		s.createPod(ctx, "third", askingByAnnotation("licence", "1"))
		s.expectWaiting(ctx, "third", fmt.Sprintf(usedUp, s.full("licence")))
		s.deletePod(ctx, "first")
		s.expectBound(ctx, "third")
		s.createPod(ctx, "fourth", asking("licence", "1"))
		s.expectWaiting(ctx, "fourth", fmt.Sprintf(usedUp, s.full("licence")))
		s.completePod(ctx, "second")
		s.expectBound(ctx, "fourth")
	})

	It("the other of its two resources is released, and holds nothing until then", func(ctx SpecContext) {
		s.createResource(ctx, "free", s.capacity("", "1"))
		s.createResource(ctx, "scarce", s.capacity("", "1"))
		s.createPod(ctx, "holder", asking("scarce", "1"))
		s.expectBound(ctx, "holder")
		s.createPod(ctx, "both", asking("free", "1"), asking("scarce", "1"))
		s.expectWaiting(ctx, "both", fmt.Sprintf(usedUp, s.full("scarce")))
		s.createPod(ctx, "single", asking("free", "1"))
		s.expectBound(ctx, "single")
		s.deletePod(ctx, "holder")
		s.expectToStay(ctx, waiting, "both")
		s.deletePod(ctx, "single")
		s.expectBound(ctx, "both")
	})

	It("a resource that it asks for appears", func(ctx SpecContext) {
		s.createPod(ctx, "early", asking("licence", "1"))
		s.expectWaiting(ctx, "early", fmt.Sprintf(notFound, s.full("licence")))
		s.createResource(ctx, "licence", s.capacity("", "1"))
		s.expectBound(ctx, "early")
	})

	It("a node joins a pool of what it asks for", func(ctx SpecContext) {
		s.createResource(ctx, "licence", s.capacity("b", "1"))
		s.createPod(ctx, "early", asking("licence", "1"))
		s.expectWaiting(ctx, "early", "node(s) in no pool of "+s.full("licence"))
		s.createNode(ctx, "two", "c", "32")
		s.expectToStay(ctx, waiting, "early")
		_, err := client.CoreV1().Nodes().Patch(ctx, s.full("two"), "application/merge-patch+json",
			[]byte(`{"metadata":{"labels":{"`+zoneLabel+`":"b"}}}`), metav1.PatchOptions{})
		Expect(err).NotTo(HaveOccurred())
		s.expectBound(ctx, "early")
	})

	It("there is more of it; less of it evicts nobody and gives nothing more out, until there is more again", func(ctx SpecContext) {
		s.createResource(ctx, "licence", s.capacity("", "1"))
		s.createPod(ctx, "first", asking("licence", "1"))
		s.expectBound(ctx, "first")
		s.createMany(ctx, 3, "more", asking("licence", "1"))
		for _, name := range []string{"more-0", "more-1", "more-2"} {
			s.expectWaiting(ctx, name, fmt.Sprintf(usedUp, s.full("licence")))
		}
		s.setCapacity(ctx, "licence", s.capacity("", "3"))
		more := []any{"bound", "more-0", "more-1", "more-2"}
		Eventually(s.count).WithContext(ctx).WithArguments(more...).WithTimeout(timeout).WithPolling(poll).Should(Equal(2))

		s.setCapacity(ctx, "licence", s.capacity("", "1"))
		Eventually(func(g Gomega) {
			g.Expect(s.resource(ctx, "licence").Status.Conditions).To(ContainElement(And(
				HaveField("Type", berthv1alpha1.ClusterResourceOvercommitted), HaveField("Status", metav1.ConditionTrue))))
		}, timeout, poll).Should(Succeed())
		By("giving the scheduler time to hear of it, which nothing tells")
		Consistently(s.count).WithContext(ctx).WithArguments(more...).WithTimeout(settle).WithPolling(poll).Should(Equal(2))
		s.deletePod(ctx, "first")
		Consistently(s.count).WithContext(ctx).WithArguments(more...).WithTimeout(settle).WithPolling(poll).Should(Equal(2))

		s.setCapacity(ctx, "licence", s.capacity("", "3"))
		s.expectBound(ctx, "more-0", "more-1", "more-2")
		Eventually(func(g Gomega) {
			g.Expect(s.resource(ctx, "licence").Status.Conditions).To(ContainElement(And(
				HaveField("Type", berthv1alpha1.ClusterResourceOvercommitted), HaveField("Status", metav1.ConditionFalse))))
		}, timeout, poll).Should(Succeed())
	})

	It("what others ask for is as large as numbers get", func(ctx SpecContext) {
		s.createResource(ctx, "licence", s.capacity("", "1"))
		huge := []string{"huge-0", "huge-1", "huge-2"}
		s.createPod(ctx, huge[0], askingByAnnotation("licence", "9E"))
		s.createPod(ctx, huge[1], askingByAnnotation("licence", "8Ei"), withPriority(high))
		s.createPod(ctx, huge[2], asking("licence", "9223372036854775807"))
		for _, name := range huge {
			s.expectWaiting(ctx, name, s.full("licence"))
		}
		s.createPod(ctx, "holder", asking("licence", "1"))
		s.expectBound(ctx, "holder")
		s.createPod(ctx, "early", asking("licence", "1"))
		s.expectWaiting(ctx, "early", fmt.Sprintf(usedUp, s.full("licence")))
		s.deletePod(ctx, "holder")
		s.expectBound(ctx, "early")
		s.expectToStay(ctx, waiting, huge...)
	})

	// The hint of NodeResourcesFit for nodes does not know which resources it was told to ignore.
	It("a node with enough cpu comes, though the node does not list the resource", func(ctx SpecContext) {
		s.createResource(ctx, "licence", s.capacity("", "5"))
		s.createPod(ctx, "big", asking("licence", "1"), withCPU("64"))
		s.expectWaiting(ctx, "big", "Insufficient cpu")
		s.createNode(ctx, "large", "a", "128")
		s.expectBound(ctx, "big")
	})

	It("cpu is released on its node", func(ctx SpecContext) {
		s.createResource(ctx, "licence", s.capacity("", "5"))
		s.createPod(ctx, "busy", withCPU("20"))
		s.expectBound(ctx, "busy")
		s.createPod(ctx, "big", asking("licence", "1"), withCPU("20"))
		s.expectWaiting(ctx, "big", "Insufficient cpu")
		s.deletePod(ctx, "busy")
		s.expectBound(ctx, "big")
	})

	It("a pod that somebody else bound is gone, which is charged as if it were ours", func(ctx SpecContext) {
		s.createResource(ctx, "licence", s.capacity("", "1"))
		s.createPod(ctx, "foreign", asking("licence", "1"), onZone("nowhere"))
		s.expectWaiting(ctx, "foreign", "didn't match Pod's node affinity/selector")
		Expect(client.CoreV1().Pods(s.namespace).Bind(ctx, &corev1.Binding{
			ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "foreign"},
			Target:     corev1.ObjectReference{Kind: "Node", Name: s.full("one")},
		}, metav1.CreateOptions{})).To(Succeed())
		Eventually(s.reported).WithContext(ctx).WithArguments("licence").WithTimeout(timeout).WithPolling(poll).
			Should(Equal(map[string]int{"default": 1}))
		s.createPod(ctx, "ours", asking("licence", "1"))
		s.expectWaiting(ctx, "ours", fmt.Sprintf(usedUp, s.full("licence")))
		s.deletePod(ctx, "foreign")
		s.expectBound(ctx, "ours")
	})
})
