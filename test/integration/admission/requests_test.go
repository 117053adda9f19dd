// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package admission_test

import (
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
)

var _ = Describe("A pod that asks for cluster resources", func() {
	DescribeTable("must be placed by Berth", func(ctx SpecContext, asking change) {
		_, err := create(ctx, pod(asking))
		Expect(err).To(refused("must set schedulerName to berth-scheduler"))
		_, err = create(ctx, pod(asking, scheduledBy("another")))
		Expect(err).To(refused("must set schedulerName to berth-scheduler"))
		_, err = create(ctx, pod(asking, scheduledBy(berthScheduler), onNode))
		Expect(err).To(refused("must not set nodeName"))
		mustCreate(ctx, pod(asking, scheduledBy(berthScheduler)))
	},
		Entry("by annotation", annotated(requestPrefix+"a", "500M")),
		Entry("by a resource of a container", requesting(domain+"a", "5")),
		Entry("by a resource of an init container", requestingAtFirst(domain+"a", "5")),
	)

	It("may ask for other extended resources of any scheduler", func(ctx SpecContext) {
		mustCreate(ctx, pod(requesting("example.com/cluster-resource.berth.dev", "1e3"), requestingAtFirst("example.com/a", "1")))
	})

	DescribeTable("must give an amount that can be read", func(ctx SpecContext, value string) {
		_, err := create(ctx, pod(scheduledBy(berthScheduler), annotated(requestPrefix+"good", "1"), annotated(requestPrefix+"bad", value)))
		Expect(err).To(refused("of at most 16 characters: " + requestPrefix + "bad"))
	},
		Entry("nothing", ""),
		Entry("no number", "many"),
		Entry("negative", "-1"),
		Entry("an exponent that would hang", "1e-2147483647"),
		Entry("thirty digits", strings.Repeat("9", 30)),
		Entry("a space", "1 "),
		Entry("a line of its own", "1\n2"),
	)

	DescribeTable("may give any other amount", func(ctx SpecContext, value string) {
		mustCreate(ctx, pod(scheduledBy(berthScheduler), annotated(requestPrefix+"a", value)))
	},
		Entry("a number", "5"), Entry("nothing at all", "0"), Entry("thousandths", "500m"), Entry("half", ".5"),
		Entry("bytes", "100Gi"), Entry("sixteen characters", "9223372036854775"),
	)

	It("must write the amount of a container without an exponent", func(ctx SpecContext) {
		for _, amount := range []string{"1e3", "1e30"} {
			_, err := create(ctx, pod(scheduledBy(berthScheduler), requesting(domain+"a", amount)))
			Expect(err).To(refused("without an exponent"))
		}
		mustCreate(ctx, pod(scheduledBy(berthScheduler), requesting(domain+"a", "10G")))
	})

	It("asks in one form for each of them", func(ctx SpecContext) {
		_, err := create(ctx, pod(scheduledBy(berthScheduler), requesting(domain+"a", "1"), annotated(requestPrefix+"a", "1")))
		Expect(err).To(refused("either by annotation or as a resource of a container"))
		mustCreate(ctx, pod(scheduledBy(berthScheduler), requesting(domain+"a", "1"), annotated(requestPrefix+"b", "1")))
	})

	DescribeTable("cannot ask for something else once it has a node", func(ctx SpecContext, subresource string) {
		const why = "cannot be changed once it has a node"
		bound := placed(ctx, annotated(requestPrefix+"a", "1"))
		Expect(annotate(ctx, tenant, bound, subresource, requestPrefix+"a", "2")).To(refused(why))
		Expect(annotate(ctx, tenant, bound, subresource, requestPrefix+"a", nil)).To(refused(why))
		Expect(annotate(ctx, tenant, bound, subresource, requestPrefix+"b", "1")).To(refused(why))
		Expect(annotate(ctx, tenant, bound, subresource, "example.com/own", "1")).To(Succeed())
	},
		Entry("on the pod", ""),
		Entry("on its status", "status"),
	)

	DescribeTable("may ask for something else until then, of Berth", func(ctx SpecContext, subresource string) {
		waiting := mustCreate(ctx, pod(scheduledBy(berthScheduler)))
		Expect(annotate(ctx, tenant, waiting, subresource, requestPrefix+"a", "1")).To(Succeed())
		Expect(annotate(ctx, tenant, waiting, subresource, requestPrefix+"a", "2")).To(Succeed())
		Expect(annotate(ctx, tenant, waiting, subresource, requestPrefix+"a", "many")).To(refused("of at most 16 characters"))
		Expect(annotate(ctx, tenant, waiting, subresource, requestPrefix+"a", nil)).To(Succeed())

		another := mustCreate(ctx, pod(scheduledBy("another")))
		Expect(annotate(ctx, tenant, another, subresource, requestPrefix+"a", "1")).To(refused("must set schedulerName"))
	},
		Entry("on the pod", ""),
		Entry("on its status", "status"),
	)

	// The API server gives up an expression that costs too much, and then refuses the pod.
	It("may be as large as pods get", func(ctx SpecContext) {
		large := pod(scheduledBy(berthScheduler))
		for i := range 50 {
			annotated(fmt.Sprintf("%sr%d", requestPrefix, i), "1")(large)
			requesting(fmt.Sprintf("%sc%d", domain, i), "1")(large)
		}
		for i := range 1000 {
			annotated(fmt.Sprintf("example.com/annotation-%d", i), strings.Repeat("x", 200))(large)
		}
		first := large.Spec.Containers[0]
		for i := range 99 {
			another := first.DeepCopy()
			another.Name = fmt.Sprintf("another-%d", i)
			large.Spec.Containers = append(large.Spec.Containers, *another)
			large.Spec.InitContainers = append(large.Spec.InitContainers, corev1.Container{
				Name: fmt.Sprintf("first-%d", i), Image: first.Image, Resources: first.Resources,
			})
		}
		created := mustCreate(ctx, large)
		Expect(annotate(ctx, tenant, created, "", "example.com/own", "1")).To(Succeed())
	})
})
