// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package world

import (
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/stamp"
	"berth.dev/berth/test/internal/oracle"
	"berth.dev/berth/test/simulation/apiserver"
)

// leases is the resource of leases.
const leases = "leases"

// schedulerPrefix begins the names of the programs that are schedulers.
const schedulerPrefix = "scheduler-"

// sawOwn looks at changes of Berth's own kinds.
func (w *World) sawOwn(change *apiserver.Change) {
	switch change.Resource {
	case resources.Resource:
		found := &berthv1alpha1.ClusterResource{}
		if change.Decode(found) {
			w.sawResource(found)
		}
	case clusters.Resource:
		w.sawCluster(change)
	case schedulers:
		found := &berthv1alpha1.Scheduler{}
		if change.Decode(found) {
			w.handover.SawScheduler(found)
			w.noteGrants("Scheduler "+found.Name+" spends", found.Status.Spending)
		}
	case policies.Resource:
		found := &berthv1alpha1.PropagationPolicy{}
		if !change.Decode(found) {
			delete(w.policies, change.Name)
			w.edited[change.Name] = time.Now()
			return
		}
		w.sawPolicy(found)
	}
}

func (w *World) sawLease(change *apiserver.Change) {
	found := &coordinationv1.Lease{}
	if change.Decode(found) {
		w.handover.SawLease(found, time.Now())
	}
}

// sawCluster keeps a Cluster, and judges whether it may change hands.
func (w *World) sawCluster(change *apiserver.Change) {
	found := &berthv1alpha1.Cluster{}
	if !change.Decode(found) {
		delete(w.clusters, change.Name)
		return
	}
	if before := w.clusters[change.Name]; before != nil && !w.fuzzed {
		w.violates(w.handover.JudgeHome(before, found, time.Now()))
	}
	w.clusters[change.Name] = found
}

// judgeGrants judges the grants of a ClusterResource that was changed.
func (w *World) judgeGrants(before []berthv1alpha1.PoolGrant, after *berthv1alpha1.ClusterResource) {
	if w.fuzzed || !w.sharing {
		return
	}
	now, held := time.Now(), w.holdings()
	pools := &oracle.Pools{
		Resource: after.Name, Held: func(pool string) map[string]int64 { return held[pool] },
		Most: func(pool string) int64 { return w.pools[pool].Most(now) },
	}
	w.violates(w.handover.JudgeGrants(pools, before, after.Status.Grants, now))
}

// judgeCharges judges what a Scheduler has charged for a pod that was just bound.
func (w *World) judgeCharges(bound *corev1.Pod) {
	charges, _ := stamp.ChargesOf(bound)
	held := w.holdings()
	for _, charge := range charges {
		if charge.Grantee != "" {
			quantity := held[charge.Pool][charge.Grantee]
			w.violates(w.handover.JudgeCharge(charge.Pool, charge.Grantee, quantity, w.status.Grants, time.Now()))
		}
	}
}

// judgeHome judges where a Scheduler binds a pod.
func (w *World) judgeHome(bound *corev1.Pod) {
	if !w.sharing || w.acting == nil {
		return
	}
	if cluster := w.clusters[w.siteOf(bound.Spec.NodeName)]; cluster != nil {
		w.violates(w.handover.JudgeBinding(w.acting.process.program.scheduling(), cluster, time.Now()))
	}
}

// scheduling returns the name of the Scheduler that the program is.
func (p *program) scheduling() string { return strings.TrimPrefix(p.Name, schedulerPrefix) }

// judgeSending judges a Binding when it is sent: only who holds the lease may, and what gives
// something away has to name the version of the pod.
func (w *World) judgeSending(c *call) {
	binding := &corev1.Binding{}
	if w.fuzzed || c.request.Kind() != "create pods/binding" || !c.request.Decode(binding) {
		return
	}
	p := c.process
	if !w.handover.Holds(p.lease, p.identity(), time.Now()) {
		w.violatef("%s sends a Binding of pod %s without its lease", p.program.Name, binding.Name)
	}
	if binding.Annotations[berthv1alpha1.ChargedAnnotation] != "" && binding.ResourceVersion == "" {
		w.violatef("%s gives units to pod %s whatever becomes of that meanwhile", p.program.Name, binding.Name)
	}
}

func (w *World) violates(problem error) {
	if problem != nil {
		w.violatef("%v", problem)
	}
}
