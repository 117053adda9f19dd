// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package resources_test

import (
	"strconv"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// Pods of higher priority come first and cannot use what is released. Each is tried for it once at
// most, one right after the other; by a timer it would take longer than these specs wait.
var _ = Describe("I3: a pod that fits is reached behind others who wait", func() {
	const front = 40
	var s *site

	BeforeEach(func(ctx SpecContext) {
		s = newSite(ctx)
		s.createNode(ctx, "one", "a", "32")
		s.createNode(ctx, "two", "b", "32")
		s.createResource(ctx, "licence", s.capacity("", "1"))
		s.createPod(ctx, "holder", askingByAnnotation("licence", "1"))
		s.expectBound(ctx, "holder")
	})

	// wait creates the pods in front and the one that fits, and waits until all have been tried.
	wait := func(ctx SpecContext, options ...option) {
		GinkgoHelper()
		s.createMany(ctx, front, "front", append(options, withPriority(never))...)
		s.createPod(ctx, "fits", askingByAnnotation("licence", "1"))
		Eventually(s.tried).WithContext(ctx).WithTimeout(timeout).WithPolling(poll).Should(Equal(front + 1))
	}

	It("who want more cpu than there is", func(ctx SpecContext) {
		wait(ctx, asking("licence", "1"), withCPU("50"))
		s.deletePod(ctx, "holder")
		s.expectBound(ctx, "fits")
	})

	It("who want two resources that no node has both", func(ctx SpecContext) {
		s.createResource(ctx, "left", s.capacity("a", "9"))
		s.createResource(ctx, "right", s.capacity("b", "9"))
		wait(ctx, askingByAnnotation("licence", "1"), asking("left", "1"), asking("right", "1"))
		s.deletePod(ctx, "holder")
		s.expectBound(ctx, "fits")
	})

	It("who ask for something else meanwhile, which there is none of", func(ctx SpecContext) {
		wait(ctx, askingByAnnotation("licence", "1"))
		for i := range front {
			patch := `{"metadata":{"annotations":{"` + berthv1alpha1.ClusterResourceAnnotationPrefix + s.full("licence") + `":"500m"}}}`
			_, err := client.CoreV1().Pods(s.namespace).Patch(
				ctx, "front-"+strconv.Itoa(i), types.MergePatchType, []byte(patch), metav1.PatchOptions{})
			Expect(err).NotTo(HaveOccurred())
		}
		s.deletePod(ctx, "holder")
		s.expectBound(ctx, "fits")
	})
})
