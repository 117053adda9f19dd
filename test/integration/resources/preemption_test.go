// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package resources_test

import (
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

var _ = Describe("preemption", func() {
	var s *site

	// Holders run in zone a, where nothing ends by itself, and preemptors in zone b.
	BeforeEach(func(ctx SpecContext) {
		s = newSite(ctx)
		s.createSilentNode(ctx, "one", "a")
		s.createSilentNode(ctx, "two", "a")
		s.createNode(ctx, "three", "b", "32")
	})

	holder := func(units string) []option {
		return []option{asking("licence", units), onZone("a"), withPriority(low)}
	}
	preemptor := func(units string) []option {
		return []option{asking("licence", units), onZone("b"), withPriority(high)}
	}

	It("takes from holders of low priority on other nodes, and from as few as possible", func(ctx SpecContext) {
		s.createResource(ctx, "licence", s.capacity("", "10"))
		small := []string{"small-0", "small-1", "small-2", "small-3", "small-4"}
		s.createMany(ctx, len(small), "small", holder("1")...)
		s.createPod(ctx, "large", holder("5")...)
		s.expectBound(ctx, append(small, "large")...)
		s.createPod(ctx, "urgent", preemptor("4")...)
		s.expectBound(ctx, "urgent")
		Expect(s.state(ctx, "large")).To(Equal(gone))
		s.expectToStay(ctx, bound, append(small, "urgent")...)
	})

	It("takes nothing from holders that are not of lower priority, nor more than helps", func(ctx SpecContext) {
		s.createResource(ctx, "licence", s.capacity("", "3"))
		s.createPod(ctx, "equal", asking("licence", "2"), onZone("a"), withPriority(high))
		s.createPod(ctx, "minor", holder("1")...)
		s.expectBound(ctx, "equal", "minor")
		s.createPod(ctx, "urgent", preemptor("2")...)
		s.expectWaiting(ctx, "urgent", fmt.Sprintf(usedUp, s.full("licence")))
		s.expectToStay(ctx, bound, "equal", "minor")
	})

	It("keeps what is freed for the pod that it was freed for, and kills nobody twice", func(ctx SpecContext) {
		s.createResource(ctx, "licence", s.capacity("", "3"))
		holders := []string{"holder-0", "holder-1", "holder-2"}
		s.createMany(ctx, len(holders), "holder", append(holder("1"), endingSlowly())...)
		s.expectBound(ctx, holders...)
		s.createPod(ctx, "urgent", preemptor("2")...)
		count := func(state string) func(Gomega) {
			return func(g Gomega) {
				g.Expect(s.count(ctx, state, holders...)).To(Equal(map[string]int{terminating: 2, bound: 1}[state]))
			}
		}
		Eventually(count(terminating)).WithTimeout(timeout).WithPolling(poll).Should(Succeed())

		By("trying the pod again, because there is another node")
		s.createNode(ctx, "four", "b", "32")
		s.expectWaiting(ctx, "urgent", awaitingRelease)
		Consistently(count(bound)).WithTimeout(settle).WithPolling(poll).Should(Succeed())

		By("having the first of its victims gone, which would suffice for a thief")
		s.createPod(ctx, "thief", holder("1")...)
		s.expectWaiting(ctx, "thief", fmt.Sprintf(usedUp, s.full("licence")))
		victims := s.in(ctx, terminating, holders...)
		s.removePod(ctx, victims[0])
		s.createPod(ctx, "late-thief", holder("1")...)
		s.expectWaiting(ctx, "late-thief", fmt.Sprintf(usedUp, s.full("licence")))
		s.expectToStay(ctx, waiting, "thief", "late-thief", "urgent")

		s.removePod(ctx, victims[1])
		s.expectBound(ctx, "urgent")
		Consistently(count(bound)).WithTimeout(settle).WithPolling(poll).Should(Succeed())
		Expect(s.states(ctx, "thief", "late-thief")).To(HaveEach(waiting))

		By("giving the rest to the others when it is released")
		s.deletePod(ctx, "urgent")
		s.expectBound(ctx, "thief", "late-thief")
	})

	It("waits for a holder that is terminating rather than to kill another", func(ctx SpecContext) {
		s.createResource(ctx, "licence", s.capacity("", "2"))
		s.createPod(ctx, "leaving", append(holder("1"), endingSlowly())...)
		s.createPod(ctx, "staying", holder("1")...)
		s.expectBound(ctx, "leaving", "staying")
		s.deletePod(ctx, "leaving")
		Expect(s.state(ctx, "leaving")).To(Equal(terminating))
		s.createPod(ctx, "urgent", preemptor("1")...)
		s.expectWaiting(ctx, "urgent", awaitingRelease)
		s.removePod(ctx, "leaving")
		s.expectBound(ctx, "urgent")
		s.expectToStay(ctx, bound, "staying")
	})

	It("is not for pods that never preempt", func(ctx SpecContext) {
		s.createResource(ctx, "licence", s.capacity("", "1"))
		s.createPod(ctx, "holder", holder("1")...)
		s.expectBound(ctx, "holder")
		s.createPod(ctx, "polite", asking("licence", "1"), onZone("b"), withPriority(never))
		s.expectWaiting(ctx, "polite", fmt.Sprintf(usedUp, s.full("licence")))
		s.expectToStay(ctx, bound, "holder")
		s.deletePod(ctx, "holder")
		s.expectBound(ctx, "polite")
	})

	It("frees cpu and what the pools lack together", func(ctx SpecContext) {
		s.createResource(ctx, "licence", s.capacity("", "1"))
		s.createPod(ctx, "holder", holder("1")...)
		s.createPod(ctx, "busy", onZone("b"), withCPU("20"), withPriority(low))
		s.expectBound(ctx, "holder", "busy")
		s.createPod(ctx, "urgent", append(preemptor("1"), withCPU("20"))...)
		s.expectBound(ctx, "urgent")
		Expect(s.states(ctx, "holder", "busy")).To(HaveEach(gone))
	})
})
