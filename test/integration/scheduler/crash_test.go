// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package scheduler_test

import (
	"context"
	"slices"
	"syscall"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"berth.dev/berth/test/integration/internal/schedulerproc"
	"berth.dev/berth/test/integration/internal/testsize"
)

// startPair starts two schedulers, the first of which leads. They end with the spec, if not before.
func startPair(ctx context.Context) (first, second *schedulerproc.Scheduler) {
	GinkgoHelper()
	first = startSlow(ctx, "first")
	Eventually(leader).WithContext(ctx).WithTimeout(timeout).WithPolling(poll).ShouldNot(BeEmpty())
	return first, startSlow(ctx, "second")
}

// startSlow starts a scheduler that can be struck while it binds pods.
func startSlow(ctx context.Context, name string) *schedulerproc.Scheduler {
	GinkgoHelper()
	return schedulerproc.Start(ctx, plane, schedulerproc.Options{
		Name: name, Configuration: schedulerproc.SlowConfiguration(), Args: schedulerproc.QuickElection,
	}).EndAfterwards()
}

// uids returns the UIDs of all pods of the site, in order.
func (s *site) uids(ctx context.Context) []types.UID {
	GinkgoHelper()
	pods := s.pods(ctx, "")
	uids := make([]types.UID, 0, len(pods))
	for i := range pods {
		uids = append(uids, pods[i].UID)
	}
	slices.Sort(uids)
	return uids
}

// whenBound does something as soon as so many pods of the site are bound, and closes the channel
// afterwards.
func (s *site) whenBound(ctx context.Context, count int, do func()) <-chan struct{} {
	done := make(chan struct{})
	go func() {
		defer GinkgoRecover()
		defer close(done)
		bound := map[types.UID]bool{}
		for len(bound) < count && ctx.Err() == nil {
			// It begins with the pods that are bound already, so nothing is lost when the API
			// server drops a watch.
			watcher, err := client.CoreV1().Pods(s.namespace).Watch(ctx, metav1.ListOptions{FieldSelector: "spec.nodeName!="})
			Expect(err).NotTo(HaveOccurred())
			for event := range watcher.ResultChan() {
				if pod, ok := event.Object.(*corev1.Pod); ok {
					bound[pod.UID] = true
				}
				if len(bound) >= count {
					break
				}
			}
			watcher.Stop()
		}
		do()
	}()
	return done
}

var _ = Describe("in a burst", Serial, func() {
	all := testsize.Of(500, 300)

	var (
		s       *site
		b       *burst
		uids    []types.UID
		evicted float64
	)

	// begin creates the pods, and strikes when the first of them are bound by the first scheduler.
	begin := func(ctx context.Context, first *schedulerproc.Scheduler, strike func()) {
		GinkgoHelper()
		main = first // createPolicy waits until it knows the policy.
		evicted = evictions(ctx)
		s = newSiteWith(ctx, "beijing", "hangzhou")
		struck := s.whenBound(ctx, 50, strike)
		b = s.createBurst(ctx, "web", 5, all/5, twoToThree()...)
		Eventually(struck).WithTimeout(timeout).Should(BeClosed())
		Expect(s.bound(ctx)).To(BeNumerically("<", all), "it came too late")
		Eventually(s.uids).WithContext(ctx).WithTimeout(timeout).WithPolling(poll).Should(HaveLen(all))
		uids = s.uids(ctx)
	}
	// expectNothingLost checks that all pods are those of the beginning, each bound, and the shares
	// exact.
	expectNothingLost := func(ctx context.Context) {
		GinkgoHelper()
		b.expectExact(ctx)
		Expect(s.uids(ctx)).To(Equal(uids))
		Expect(evictions(ctx)).To(Equal(evicted))
	}

	It("a scheduler that is killed and started again goes on exactly", func(ctx SpecContext) {
		replaceMain()
		first := startSlow(ctx, "first")
		begin(ctx, first, first.Crash)
		startSlow(ctx, "second")
		expectNothingLost(ctx)
	})

	It("a standby takes over from a scheduler that is killed", func(ctx SpecContext) {
		replaceMain()
		first, second := startPair(ctx)
		begin(ctx, first, first.Crash)
		expectNothingLost(ctx)
		Expect(second.Done()).NotTo(BeClosed())
	})

	It("a standby takes over from a scheduler that hangs, which ends when it finds its lease gone", func(ctx SpecContext) {
		replaceMain()
		first, second := startPair(ctx)
		begin(ctx, first, func() { Expect(first.Kill(syscall.SIGSTOP)).To(Succeed()) })
		expectNothingLost(ctx)

		By("waking up the one that hung while there are new pods")
		b.replicas += 5
		for _, name := range b.names {
			s.scale(ctx, name, b.replicas)
		}
		first.ExpectEnd()
		Expect(first.Kill(syscall.SIGCONT)).To(Succeed())
		Eventually(first.Done()).WithTimeout(timeout).Should(BeClosed())
		b.expectExact(ctx)
		Expect(second.Done()).NotTo(BeClosed())
		Expect(evictions(ctx)).To(Equal(evicted))
	})
})
