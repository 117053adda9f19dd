// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package feeds_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var _ = Describe("Kinds of feeds", func() {
	It("come and go without holding up the others", func(ctx SpecContext) {
		namespace := newNamespace(ctx)
		deploy(ctx, namespace, "web", 3)
		subscribe(ctx, namespace, feed("Ring", "db"), feed("Deployment", "web"))
		untilLines(ctx, namespace, "Ring db - KindNotServed", "Deployment web 3 Parsed")

		define(ctx, "Ring", "rings", true)
		untilLines(ctx, namespace, "Ring db - Forbidden", "Deployment web 3 Parsed")
		allowReading(ctx, "rings")
		untilLines(ctx, namespace, "Ring db - NotFound", "Deployment web 3 Parsed")
		createRing(ctx, namespace, "Ring", "rings", "db")
		untilLines(ctx, namespace, "Ring db 4 Parsed", "Deployment web 3 Parsed")

		undefine(ctx, "rings")
		untilLines(ctx, namespace, "Ring db - KindNotServed", "Deployment web 3 Parsed")
		scale(ctx, namespace, "web", 4)
		untilLines(ctx, namespace, "Ring db - KindNotServed", "Deployment web 4 Parsed")

		define(ctx, "Ring", "rings", true)
		createRing(ctx, namespace, "Ring", "rings", "db")
		untilLines(ctx, namespace, "Ring db 4 Parsed", "Deployment web 4 Parsed")
	})

	It("are taught by a FeedParser and forgotten with it", func(ctx SpecContext) {
		namespace := newNamespace(ctx)
		define(ctx, "Chain", "chains", false)
		allowReading(ctx, "chains")
		createRing(ctx, namespace, "Chain", "chains", "db")
		subscribe(ctx, namespace, feed("Chain", "db"))
		untilLines(ctx, namespace, "Chain db - CopiedWhole")

		teach(ctx, "first", "Chain", "/spec/nodes")
		untilLines(ctx, namespace, "Chain db 4 Parsed")
		Eventually(ctx, accepted("first")).WithTimeout(timeout).WithPolling(poll).Should(Equal("True Accepted"))

		By("changing it")
		_, err := berth.BerthV1alpha1().FeedParsers().Patch(ctx, "first", "application/merge-patch+json",
			[]byte(`{"spec":{"replicas":{"path":"/spec/none"}}}`), metav1.PatchOptions{})
		Expect(err).NotTo(HaveOccurred())
		untilLines(ctx, namespace, "Chain db 7 Parsed")

		By("deleting it")
		unteach(ctx, "first")
		untilLines(ctx, namespace, "Chain db - CopiedWhole")
	})

	It("have one FeedParser at a time, the oldest that can be used", func(ctx SpecContext) {
		namespace := newNamespace(ctx)
		define(ctx, "Link", "links", false)
		allowReading(ctx, "links")
		createRing(ctx, namespace, "Link", "links", "db")
		subscribe(ctx, namespace, feed("Link", "db"))
		// The API server cannot tell that this path leads out of the object's content.
		teach(ctx, "a-wrong", "Link", "/metadata/generation")
		Eventually(ctx, accepted("a-wrong")).WithTimeout(timeout).WithPolling(poll).Should(Equal("False InvalidRule"))
		teach(ctx, "b-first", "Link", "/spec/nodes")
		teach(ctx, "c-second", "Link", "/spec/other")
		untilLines(ctx, namespace, "Link db 4 Parsed")
		Eventually(ctx, accepted("c-second")).WithTimeout(timeout).WithPolling(poll).Should(Equal("False Shadowed"))
		unteach(ctx, "b-first")
		untilLines(ctx, namespace, "Link db 7 Parsed")
		Eventually(ctx, accepted("c-second")).WithTimeout(timeout).WithPolling(poll).Should(Equal("True Accepted"))
	})

	It("are read again when an object that could not be understood is mended", func(ctx SpecContext) {
		namespace := newNamespace(ctx)
		define(ctx, "Knot", "knots", true)
		allowReading(ctx, "knots")
		deploy(ctx, namespace, "web", 3)
		createRing(ctx, namespace, "Knot", "knots", "db")
		resource := ringResource("knots")
		patch := func(text string) {
			GinkgoHelper()
			_, err := objects.Resource(resource).Namespace(namespace).Patch(ctx, "db", "application/merge-patch+json", []byte(text), metav1.PatchOptions{})
			Expect(err).NotTo(HaveOccurred())
		}
		// A number that is absent is 1, as the scale subresource has it.
		patch(`{"spec":{"nodes":null}}`)
		subscribe(ctx, namespace, feed("Knot", "db"), feed("Deployment", "web"))
		untilLines(ctx, namespace, "Knot db 1 Parsed", "Deployment web 3 Parsed")

		By("an affinity that no API server takes")
		patch(`{"spec":{"nodes":2,"pods":{"spec":{"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{}}}}}}}`)
		untilLines(ctx, namespace, "Knot db - Invalid", "Deployment web 3 Parsed")

		patch(`{"spec":{"pods":{"spec":{"affinity":null}}}}`)
		untilLines(ctx, namespace, "Knot db 2 Parsed", "Deployment web 3 Parsed")
		found, err := inventory(ctx, namespace)
		Expect(err).NotTo(HaveOccurred())
		Expect(found.Status.Feeds[0].Parser).To(Equal("scale"))
		Expect(found.Spec.Feeds[0].ReplicaJSONPath).To(Equal("/spec/nodes"))
		Expect(found.Status.ObservedGeneration).To(BeEquivalentTo(1))
	})
})
