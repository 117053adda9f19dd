// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package faults_test

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// fleetNames are the Schedulers that share the clusters, and what there is by grants.
var fleetNames = []string{"a", "b", "c"}

// fleet are the processes that lead for them, by name.
type fleet map[string]*replica

// startNamed starts a process of a Scheduler. The process is called after what it is for as well.
func startNamed(ctx context.Context, name, purpose string) *replica {
	GinkgoHelper()
	return start(ctx, name+"-"+purpose, "--scheduler-name="+name)
}

// leaseTaker is who takes the lease of a Scheduler that has died.
const leaseTaker = "berth-controller-manager"

// holderOf returns who has the lease of a Scheduler, empty if nobody does.
func holderOf(name string) func(context.Context) string {
	return func(ctx context.Context) string {
		leases := client.CoordinationV1().Leases(berthv1alpha1.DefaultLeaseNamespace)
		lease, err := leases.Get(ctx, berthv1alpha1.DefaultLeasePrefix+name, metav1.GetOptions{})
		if err != nil {
			return ""
		}
		return ptr.Deref(lease.Spec.HolderIdentity, "")
	}
}

// untilShared waits until each Scheduler has clusters, and none is on its way.
func (fleet) untilShared(ctx context.Context) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		list, err := berth.BerthV1alpha1().Clusters().List(ctx, metav1.ListOptions{})
		g.Expect(err).NotTo(HaveOccurred())
		homes := map[string]bool{}
		for i := range list.Items {
			g.Expect(list.Items[i].Status.HomeTransfer).To(BeNil(), list.Items[i].Name)
			homes[list.Items[i].Status.HomeScheduler] = true
		}
		for _, name := range fleetNames {
			g.Expect(homes).To(HaveKey(name))
		}
		g.Expect(homes).To(HaveLen(len(fleetNames)))
	}).WithTimeout(timeout).WithPolling(poll).Should(Succeed())
}

// bindings returns how many Bindings all have sent.
func (f fleet) bindings() (n int) {
	for _, scheduler := range f {
		n += scheduler.proxy.Bindings()
	}
	return n
}

// play lets the Bindings of all go astray, and one of the schedulers end. In every other round a
// process of the same name waits for its lease; otherwise what it had goes to the others, until
// such a process is started.
func (f fleet) play(ctx context.Context, r *round, w *witness) {
	GinkgoHelper()
	name := fleetNames[r.IntN(len(fleetNames))]
	victim := f[name]
	var heir *replica
	if r.IntN(2) == 0 {
		heir = startNamed(ctx, name, r.name)
		heir.UntilKnows(ctx, berth)
	}
	for _, scheduler := range f {
		scheduler.proxy.Decide(r.fates())
	}
	before := f.bindings()
	r.create(ctx)
	Eventually(f.bindings).WithTimeout(timeout).WithPolling(poll/10).Should(BeNumerically(">", before+r.IntN(r.units+1)), r.String())
	former := holderOf(name)(ctx)
	r.strike(ctx, victim, holderOf(name))
	Eventually(victim.Done()).WithTimeout(timeout).WithPolling(poll).Should(BeClosed(), r.String())
	if heir == nil {
		heir = startNamed(ctx, name, r.name)
	}
	for _, scheduler := range f {
		scheduler.proxy.Decide(nil) // what is on its way arrives late all the same
	}
	r.expectAllGiven(w)
	for _, scheduler := range f {
		scheduler.proxy.Drain()
	}
	Expect(victim.proxy.Stop()).To(Succeed())
	f[name] = heir
	Eventually(holderOf(name)).WithContext(ctx).WithTimeout(timeout).WithPolling(poll).
		ShouldNot(Or(BeEmpty(), Equal(former), Equal(leaseTaker)), r.String())
	f.untilShared(ctx)
}
