// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package sharding_test

import (
	"context"
	"fmt"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/test/integration/internal/installation"
	"berth.dev/berth/test/integration/internal/schedulerproc"
)

// shortElection lets a scheduler count as dead soon. It has little to do in these specs.
var shortElection = []string{
	"--leader-elect-lease-duration=15s", "--leader-elect-renew-deadline=10s", "--leader-elect-retry-period=1s",
}

// What the time of a lease and five seconds, and ten seconds, come to on a busy machine: three
// times as long.
const (
	takenOver = 3 * (15 + 5) * time.Second
	told      = 3 * 10 * time.Second
)

var _ = Describe("the scheduler without a name", Ordered, func() {
	var ns string
	var unnamed *schedulerproc.Scheduler

	deployed := 0
	expectPlacedWithin := func(ctx context.Context, limit time.Duration) {
		GinkgoHelper()
		before := boundIn(ctx, ns)
		deploy(ctx, ns, fmt.Sprintf("wave%dx", deployed), 0, 1, 3)
		deployed++
		Eventually(func() int { return boundIn(ctx, ns) }, limit, poll).Should(Equal(before + 3))
	}
	expectPlaced := func(ctx context.Context) {
		GinkgoHelper()
		expectPlacedWithin(ctx, timeout)
	}

	BeforeAll(func(ctx SpecContext) {
		removeSchedulers(ctx)
		createClusters(ctx, 1000, 1003)
		ns = installation.CreateNamespace(ctx, client, "liveness-")
		unnamed = schedulerproc.Start(ctx, plane, schedulerproc.Options{Name: "berth-scheduler", Args: shortElection})
		DeferCleanup(func(ctx SpecContext) {
			unnamed.Crash()
			removeSchedulers(ctx)
			for i := range 3 {
				Expect(berth.BerthV1alpha1().Clusters().Delete(ctx, fmt.Sprint("c", 1000+i), metav1.DeleteOptions{})).To(Succeed())
			}
		})
	})

	It("goes on beside a Scheduler that is an object alone", func(ctx SpecContext) {
		object := &berthv1alpha1.Scheduler{ObjectMeta: metav1.ObjectMeta{Name: "slip"}, Spec: berthv1alpha1.SchedulerSpec{Weight: 1}}
		_, err := berth.BerthV1alpha1().Schedulers().Create(ctx, object, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		expectTold(ctx, "slip", berthv1alpha1.ReasonNoLease, told)
		expectPlaced(ctx)
	})

	It("goes on while a stranger holds the lease", func(ctx SpecContext) {
		_, err := client.CoordinationV1().Leases(berthv1alpha1.DefaultLeaseNamespace).Create(ctx, &coordinationv1.Lease{
			ObjectMeta: metav1.ObjectMeta{Name: berthv1alpha1.DefaultLeasePrefix + "slip"},
			Spec: coordinationv1.LeaseSpec{
				HolderIdentity: ptr.To("stranger"), LeaseDurationSeconds: ptr.To[int32](3600),
				RenewTime: ptr.To(metav1.NewMicroTime(time.Now())),
			},
		}, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		Eventually(func(g Gomega) {
			slip, err := berth.BerthV1alpha1().Schedulers().Get(ctx, "slip", metav1.GetOptions{})
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(apimeta.FindStatusCondition(slip.Status.Conditions, berthv1alpha1.SchedulerReady)).To(
				HaveField("Reason", berthv1alpha1.ReasonLeaseHeldByStranger))
		}, timeout, poll).Should(Succeed())
		expectPlaced(ctx)
	})

	It("leaves everything to three that run, beside the stranger", func(ctx SpecContext) {
		names := []string{"first", "second", "third"}
		for _, name := range names {
			instances.Start(ctx, plane, name, shortElection...)
		}
		Eventually(func() string { return keeperOfCommons(ctx) }, timeout, poll).Should(BeElementOf(names))
		for range 3 {
			expectPlaced(ctx)
		}
		Eventually(func(g Gomega) {
			list, err := berth.BerthV1alpha1().Clusters().List(ctx, metav1.ListOptions{})
			g.Expect(err).NotTo(HaveOccurred())
			for i := range list.Items {
				g.Expect(list.Items[i].Status.HomeScheduler).To(BeElementOf(names))
			}
		}, timeout, poll).Should(Succeed())

		By("leaving to the other two what the first one had when it died")
		died := time.Now()
		instances.Kill("first")
		expectPlacedWithin(ctx, takenOver)
		Eventually(func(g Gomega) {
			byHome, settled := homes(ctx)
			g.Expect(settled).To(BeTrue())
			g.Expect(byHome).NotTo(HaveKey("first"))
		}, time.Until(died.Add(takenOver)), poll).Should(Succeed())
		AddReportEntry("clusters and pods are with the others after", time.Since(died).Round(time.Second).String())
		expectTold(ctx, "first", berthv1alpha1.ReasonLeaseExpired, told)

		for _, name := range names[1:] {
			instances.Kill(name)
			Expect(berth.BerthV1alpha1().Schedulers().Delete(ctx, name, metav1.DeleteOptions{})).To(Succeed())
		}
		expectPlaced(ctx)
	})

	It("stands back for one that runs, and takes over when that dies", func(ctx SpecContext) {
		instances.Start(ctx, plane, "first", shortElection...)
		Eventually(func() string { return keeperOfCommons(ctx) }, timeout, poll).Should(Equal("first"))
		expectPlaced(ctx)
		instances.Kill("first")
		expectPlaced(ctx)
		Eventually(func(g Gomega) {
			list, err := berth.BerthV1alpha1().Clusters().List(ctx, metav1.ListOptions{})
			g.Expect(err).NotTo(HaveOccurred())
			for i := range list.Items {
				g.Expect(list.Items[i].Status.HomeScheduler).To(BeEmpty())
			}
		}, timeout, poll).Should(Succeed())
		instances.Start(ctx, plane, "first", shortElection...)
		Eventually(func() string { return keeperOfCommons(ctx) }, timeout, poll).Should(Equal("first"))
		expectPlaced(ctx)
		instances.Kill("first")
	})
})

// expectTold waits until a Scheduler has the condition, and one Warning, for the reason.
func expectTold(ctx context.Context, name, reason string, limit time.Duration) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		scheduler, err := berth.BerthV1alpha1().Schedulers().Get(ctx, name, metav1.GetOptions{})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(apimeta.FindStatusCondition(scheduler.Status.Conditions, berthv1alpha1.SchedulerReady)).To(HaveField("Reason", reason))
		events, err := client.CoreV1().Events("").List(ctx, metav1.ListOptions{
			FieldSelector: fmt.Sprintf("involvedObject.name=%s,type=Warning,reason=%s", name, reason),
		})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(events.Items).To(HaveLen(1))
	}, limit, poll).Should(Succeed())
}

// removeSchedulers ends all schedulers with a name, and waits until their Schedulers are gone.
func removeSchedulers(ctx context.Context) {
	GinkgoHelper()
	for name := range instances {
		instances.Kill(name)
	}
	Eventually(func(g Gomega) {
		schedulers := berth.BerthV1alpha1().Schedulers()
		g.Expect(schedulers.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{})).To(Succeed())
		list, err := schedulers.List(ctx, metav1.ListOptions{})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(list.Items).To(BeEmpty())
	}, timeout, poll).Should(Succeed())
}

// boundIn returns how many pods of a namespace have a node.
func boundIn(ctx context.Context, namespace string) int {
	GinkgoHelper()
	pods, err := client.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{})
	Expect(err).NotTo(HaveOccurred())
	n := 0
	for i := range pods.Items {
		if pods.Items[i].Spec.NodeName != "" && pods.Items[i].Status.Phase != corev1.PodFailed {
			n++
		}
	}
	return n
}
