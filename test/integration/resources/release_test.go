// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package resources_test

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/workqueue"

	"berth.dev/berth/test/integration/internal/testsize"
)

var _ = Describe("a release", Serial, func() {
	const (
		holders  = 100
		oneByOne = 60
		atOnce   = 40
	)
	waiters := testsize.Of(1000, 400)

	It("wakes those of many waiting pods that it can serve, and no others", func(ctx SpecContext) {
		s := newSite(ctx)
		s.createNode(ctx, "one", "", "4000")
		s.createResource(ctx, "licence", s.capacity("", strconv.Itoa(holders)))
		w := s.watchFrom(ctx, "licence", map[string]int{"default": holders})
		s.createMany(ctx, holders, "holder", asking("licence", "1"))
		Eventually(w.bound, timeout, poll).Should(Equal(holders))
		// Older than the others, and too large for what is released.
		s.createMany(ctx, waiters/10, "large", asking("licence", "50"))
		s.createMany(ctx, waiters*9/10, "waiter", asking("licence", "1"))
		Eventually(s.tried).WithContext(ctx).WithTimeout(timeout).WithPolling(5 * poll).Should(Equal(waiters))

		before, lapsedBefore := main.Attempts(ctx), lapsed(ctx, main)
		var took []time.Duration
		for n := range oneByOne {
			released := time.Now()
			s.deletePod(ctx, "holder-"+strconv.Itoa(n))
			Eventually(w.bound, timeout, time.Millisecond).Should(Equal(holders + n + 1))
			took = append(took, w.boundAt(holders+n).Sub(released))
		}
		slices.Sort(took)
		By("releasing many at once")
		workqueue.ParallelizeUntil(ctx, atOnce, atOnce, func(n int) {
			defer GinkgoRecover()
			s.deletePod(ctx, "holder-"+strconv.Itoa(oneByOne+n))
		})
		Eventually(w.bound, timeout, poll).Should(Equal(holders + oneByOne + atOnce))
		perPod := (main.Attempts(ctx) - before) / (oneByOne + atOnce)
		late := (lapsed(ctx, main) - lapsedBefore) / (oneByOne + atOnce)
		AddReportEntry("release to next bind", fmt.Sprintf(
			"median %v, maximum %v with %d waiting pods; %.2f attempts per bound pod, %.2f of them late, of %d released one by one and %d at once",
			took[len(took)/2].Round(time.Millisecond), took[len(took)-1].Round(time.Millisecond), waiters, perPod, late, oneByOne, atOnce),
			ReportEntryVisibilityAlways)
		// An offer whose attempt is not seen to end in time goes to the next pod as well, which a slow
		// machine makes happen, and which is counted. Waking all that wait would cost hundreds.
		Expect(perPod-late).To(BeNumerically("<=", 1.25), "attempts per bound pod, without those that came of late ones")
		w.expectNoBreach()
	})
})

// createMany makes pods that are named PREFIX-0 and so on.
func (s *site) createMany(ctx context.Context, count int, prefix string, options ...option) {
	GinkgoHelper()
	workqueue.ParallelizeUntil(ctx, 8, count, func(n int) {
		defer GinkgoRecover()
		s.createPod(ctx, prefix+"-"+strconv.Itoa(n), options...)
	})
}

// tried returns how many pods wait and have been told so.
func (s *site) tried(ctx context.Context) int {
	GinkgoHelper()
	list, err := client.CoreV1().Pods(s.namespace).List(ctx, metav1.ListOptions{FieldSelector: "spec.nodeName="})
	Expect(err).NotTo(HaveOccurred())
	tried := 0
	for i := range list.Items {
		if len(list.Items[i].Status.Conditions) > 0 {
			tried++
		}
	}
	return tried
}
