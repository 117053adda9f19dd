// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package faults_test

import (
	"context"
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/localplane"
	"berth.dev/berth/test/integration/internal/installation"
	"berth.dev/berth/test/integration/internal/schedulerproc"
)

// A process has 64 Bindings under way at most. Here there are more units than that, and more pods
// than units.
const manyUnits, manyPods = 100, 160

var _ = Describe("a leader that ends with as many Bindings under way as it can have", func() {
	It("is followed by one that gives the rest out at once, and nothing twice", func(ctx SpecContext) {
		namespace := installation.CreateNamespace(ctx, client, "faults-")
		w := observe(ctx, namespace, manyUnits)
		(&round{units: manyUnits, namespace: namespace}).define(ctx)
		leads := start(ctx, "many")
		Eventually(leader).WithContext(ctx).WithTimeout(timeout).WithPolling(poll).ShouldNot(BeEmpty())
		leads.UntilKnows(ctx, berth)
		for n := range rounds() {
			r := newRound(n, namespace)
			r.units = manyUnits
			next := start(ctx, fmt.Sprint("many-", n))
			next.UntilKnows(ctx, berth)
			expectSettled(ctx)
			before := leads.proxy.Bindings()
			leads.proxy.Decide(r.fates())
			r.createUnits(ctx, manyPods)
			Eventually(leads.proxy.Bindings).WithTimeout(timeout).WithPolling(poll/10).Should(BeNumerically(">", before+r.IntN(manyUnits)), r.String())
			r.strike(ctx, leads, leader)
			Eventually(leads.Done()).WithTimeout(timeout).WithPolling(poll).Should(BeClosed(), r.String())
			Eventually(w.bound).WithArguments("units").WithTimeout(fits).WithPolling(poll).Should(Equal(manyUnits), r.String())
			leads.proxy.Drain()
			Expect(leads.proxy.Stop()).To(Succeed())
			r.removePods(ctx, w)
			Expect(w.found()).To(BeEmpty(), r.String())
			leads = next
		}
		AddReportEntry("rounds", fmt.Sprintf("%d rounds, %d revisions", rounds(), w.seen()), ReportEntryVisibilityAlways)
		leads.End()
		Expect(leads.proxy.Stop()).To(Succeed())
	})
})

// expectSettled waits until the leader has written into its lease that what came before it is
// settled.
func expectSettled(ctx context.Context) {
	GinkgoHelper()
	Eventually(func() (string, error) {
		lease, err := client.CoordinationV1().Leases(localplane.BerthNamespace).Get(ctx, schedulerproc.Name, metav1.GetOptions{})
		if err != nil {
			return "", err
		}
		return lease.Labels[berthv1alpha1.SettledByLabel], nil
	}).WithTimeout(timeout).WithPolling(poll).ShouldNot(BeEmpty())
}
