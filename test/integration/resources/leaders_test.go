// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package resources_test

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"syscall"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coordination "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/utils/ptr"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/localplane"
	"berth.dev/berth/test/integration/internal/schedulerproc"
	"berth.dev/berth/test/integration/internal/testsize"
)

var _ = Describe("a new leader", Serial, func() {
	// early is how many pods the first leader binds before something happens to it.
	const early = 20

	var (
		units         = testsize.Of(400, 200)
		pods          = testsize.Of(700, 350)
		s             *site
		w             *witness
		first, second *schedulerproc.Scheduler
	)

	BeforeEach(func(ctx SpecContext) {
		s = newSite(ctx)
		s.createNode(ctx, "one", "", "4000")
		s.createResource(ctx, "licence", s.capacity("", strconv.Itoa(units)))
		w = s.watchFrom(ctx, "licence", map[string]int{"default": units})
		replaceMain()
		first = schedulerproc.Start(ctx, plane, schedulerproc.Options{Name: "first", Configuration: schedulerproc.SlowConfiguration(), Args: schedulerproc.QuickElection}).EndAfterwards()
		Eventually(leader).WithContext(ctx).WithTimeout(timeout).WithPolling(poll).ShouldNot(BeEmpty())
		second = schedulerproc.Start(ctx, plane, schedulerproc.Options{Name: "second", Args: schedulerproc.QuickElection}).EndAfterwards()
	})

	// begin creates pods, strikes the first leader while it binds them, and waits until the second
	// has bound what is left.
	begin := func(ctx context.Context, strike func()) {
		GinkgoHelper()
		done := make(chan struct{})
		go func() {
			defer GinkgoRecover()
			defer close(done)
			s.createMany(ctx, pods, "pod", asking("licence", "1"))
		}()
		Eventually(w.bound, timeout, poll/100).Should(BeNumerically(">=", early))
		strike()
		Expect(w.bound()).To(BeNumerically("<", units), "it came too late")
		Eventually(done).WithTimeout(timeout).Should(BeClosed())
		Eventually(w.bound, timeout, poll).Should(Equal(units))
		Consistently(w.bound, settle, poll).Should(Equal(units))
		w.expectNoBreach()
		Expect(second.Done()).NotTo(BeClosed())
	}

	It("counts what the old one gave out just before it died", func(ctx SpecContext) {
		begin(ctx, first.Crash)
	})

	It("is not overtaken by the old one, which only hung", func(ctx SpecContext) {
		begin(ctx, func() { Expect(first.Kill(syscall.SIGSTOP)).To(Succeed()) })
		first.ExpectEnd()
		Expect(first.Kill(syscall.SIGCONT)).To(Succeed())
		Eventually(first.Done()).WithTimeout(timeout).Should(BeClosed())
		Expect(w.bound()).To(Equal(units))
		w.expectNoBreach()
	})

	DescribeTable("waits for the old one, whose lease somebody has", func(ctx SpecContext, spoil func(SpecContext) error) {
		begin(ctx, func() {
			first.ExpectEnd()
			Eventually(spoil).WithContext(ctx).WithTimeout(timeout).WithPolling(poll / 100).Should(Succeed())
		})
		Eventually(leader).WithContext(ctx).WithTimeout(timeout).WithPolling(poll).ShouldNot(BeEmpty())
	},
		Entry("deleted", func(ctx SpecContext) error { return leases().Delete(ctx, schedulerproc.Name, metav1.DeleteOptions{}) }),
		Entry("emptied", func(ctx SpecContext) error {
			lease, err := leases().Get(ctx, schedulerproc.Name, metav1.GetOptions{})
			if err != nil {
				return err
			}
			lease.Spec.HolderIdentity = nil
			_, err = leases().Update(ctx, lease, metav1.UpdateOptions{})
			return err
		}),
	)

	It("begins when a stranger who took the lease has let it lapse, and the old one has ended", func(ctx SpecContext) {
		begin(ctx, func() {
			first.ExpectEnd()
			Eventually(func() error {
				lease, err := leases().Get(ctx, schedulerproc.Name, metav1.GetOptions{})
				if err != nil {
					return err
				}
				lease.Spec.HolderIdentity, lease.Spec.RenewTime = ptr.To("stranger"), ptr.To(metav1.NowMicro())
				_, err = leases().Update(ctx, lease, metav1.UpdateOptions{})
				return err
			}, timeout, poll/100).Should(Succeed())
		})
		Eventually(first.Done()).WithTimeout(timeout).Should(BeClosed())
		Eventually(leader).WithContext(ctx).WithTimeout(timeout).WithPolling(poll).ShouldNot(Or(BeEmpty(), Equal("stranger")))
	})
})

var _ = Describe("a process that begins to lead", Serial, func() {
	pods := testsize.Of(1000, 400)
	half := pods / 2
	for how, tc := range map[string]struct {
		end   func(*schedulerproc.Scheduler)
		units int
		// wantSettled is whether pods are changed, so that they can be bound by nobody else.
		wantSettled bool
	}{
		"has died":                    {(*schedulerproc.Scheduler).Crash, half, true},
		"has died, if few can get it": {(*schedulerproc.Scheduler).Crash, 40, true},
		"has ended in good order":     {(*schedulerproc.Scheduler).End, half, false},
	} {
		It("gives out in a moment what many pods wait for after the one before "+how, func(ctx SpecContext) {
			units := tc.units
			s := newSite(ctx)
			s.createNode(ctx, "one", "", "4000")
			s.createResource(ctx, "licence", s.capacity("", strconv.Itoa(units)))
			replaceMain()
			before := schedulerproc.Start(ctx, plane, schedulerproc.Options{Name: "before", Args: schedulerproc.QuickElection})
			Eventually(leader).WithContext(ctx).WithTimeout(timeout).WithPolling(poll).ShouldNot(BeEmpty())
			last := leader(ctx)
			if !tc.wantSettled {
				// A process that ends before it has settled what others left cannot say that nothing is late.
				Eventually(settledBy).WithContext(ctx).WithTimeout(timeout).WithPolling(poll).ShouldNot(BeEmpty())
			}
			tc.end(before)
			w := s.watchFrom(ctx, "licence", map[string]int{"default": units})
			s.createMany(ctx, pods, "pod", asking("licence", "1"))
			other := newSite(ctx)
			other.createNode(ctx, "two", "", "32")
			other.createResource(ctx, "plenty", other.capacity("", "1"))
			free := other.watchFrom(ctx, "plenty", map[string]int{"default": 1})
			other.createPod(ctx, "only", asking("plenty", "1"))

			schedulerproc.Start(ctx, plane, schedulerproc.Options{Name: "next", Args: schedulerproc.QuickElection}).EndAfterwards()
			Eventually(leader).WithContext(ctx).WithTimeout(timeout).WithPolling(poll / 20).ShouldNot(Or(BeEmpty(), Equal(last)))
			began := time.Now()
			Eventually(w.bound, timeout, poll).Should(Equal(units))
			Eventually(free.bound, timeout, poll).Should(Equal(1))
			AddReportEntry("take-over", fmt.Sprintf(
				"with %d pods that the process before may have bound, the first of %d is bound %v after the lease was taken; the only one of another pool %v after",
				pods, units, w.boundAt(0).Sub(began).Round(time.Millisecond), free.boundAt(0).Sub(began).Round(time.Millisecond)), ReportEntryVisibilityAlways)
			w.expectNoBreach()
			free.expectNoBreach()
			list, err := client.CoreV1().Pods(s.namespace).List(ctx, metav1.ListOptions{})
			Expect(err).NotTo(HaveOccurred())
			settled := slices.DeleteFunc(list.Items, func(p corev1.Pod) bool { return p.Annotations[berthv1alpha1.SettledAnnotation] == "" })
			if tc.wantSettled {
				Expect(len(settled)).To(BeNumerically(">", 1), "pods that were changed to be settled")
			} else {
				// One is written, since that shows how new the informer is.
				Expect(len(settled)).To(BeNumerically("<=", 1), "pods that were changed to be settled")
			}
		})
	}
})

func leases() coordination.LeaseInterface {
	return client.CoordinationV1().Leases(localplane.BerthNamespace)
}

// settledBy returns what the leader says in its lease once nothing of the leaders before is late.
func settledBy(ctx context.Context) string {
	lease, err := leases().Get(ctx, schedulerproc.Name, metav1.GetOptions{})
	if err != nil {
		return ""
	}
	return lease.Labels[berthv1alpha1.SettledByLabel]
}
