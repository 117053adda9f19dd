// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package preemption lets pods that hold units of ClusterResources, on whatever node, make way for
// a pod of higher priority. A dry run finds out whose deletion lets the pod run and costs least; an
// earmark keeps for the pod what they give back.
package preemption

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/utils/clock"

	"berth.dev/berth/pkg/placement/pool"
	"berth.dev/berth/pkg/plugins/internal/ledger"
)

// Claims are what a pod asks for of ClusterResources and what is left for it, in a scheduling cycle
// or in a trial of it.
type Claims interface {
	// Concerns reports whether charges are of a ClusterResource that the pod asks for.
	Concerns(charges []pool.Charge) bool
	// SiteKey returns the same for nodes that draw on the same pools for everything that the pod
	// asks for.
	SiteKey(node string) string
	// Lacks returns what the pools of a node lack for the pod; false if the node is not known.
	Lacks(node string) ([]pool.Lack, bool)
	// Frees returns what the release of charges would give back to the pools, by the index of the
	// lack that it lessens.
	Frees(charges []pool.Charge) []pool.Freed
	// Credit gives back what a pod holds, once.
	Credit(pod *corev1.Pod, charges []pool.Charge)
	// Choose returns what the pod is charged on a node; false if the pools have not enough left.
	Choose(node string) ([]pool.Charge, bool)
}

// Holders are the pods on nodes that hold something.
type Holders interface {
	// Holder returns what a pod holds, nil if nothing.
	Holder(pod types.UID) *ledger.Holder
	// Holders calls visit for each of them.
	Holders(visit func(*ledger.Holder))
}

// Preemptor finds and deletes the pods that make way. It is used inside scheduling cycles only.
type Preemptor struct {
	// Plugin is the name of the plugin, for those who are told why a pod goes.
	Plugin string
	// Handle is that of the plugin's profile.
	Handle fwk.Handle
	// Clock is the time that the Preemptor goes by.
	Clock clock.PassiveClock
	// Holders are those who may have to make way.
	Holders Holders
	// Mine reports whether what a charge gives back can be given out again by this process.
	Mine func(pool.Charge) bool
	// Earmarks keep what is given back.
	Earmarks *Earmarks
	// Claims returns those of the pod of a cycle, or of a clone of its state.
	Claims func(cycle fwk.CycleState) Claims
	// Report returns who is told of the victims instead of their being deleted, nil for nobody.
	Report func() func(victims []*corev1.Pod)
	// Removes is told of each victim before it is deleted, nil for nobody.
	Removes func(victim *corev1.Pod)
	// Removed is told of each victim that was deleted for the pod, nil for nobody.
	Removed func(pod, victim *corev1.Pod)
}

// Outcome is what came of a preemption.
type Outcome uint8

const (
	// NoVictims says that nobody of lower priority could help.
	NoVictims Outcome = iota
	// ReleaseSuffices says that the pod fits once those have gone that are on their way out
	// already.
	ReleaseSuffices
	// Preempting says that others are being deleted.
	Preempting
)

// Preempt chooses who makes way for a pod on one of the nodes, and returns that node. What they
// give back is kept for the pod, and they are deleted in the background; Earmarks.Evicting is true
// until that is done. Then the pod is tried again and waits like any other.
func (p *Preemptor) Preempt(
	ctx context.Context, cycle fwk.CycleState, pod *corev1.Pod, nodes []fwk.NodeInfo,
) (node string, outcome Outcome) {
	d := p.newDryRun(cycle, pod)
	if charges, suffices := d.releaseSuffices(ctx, nodes); suffices {
		p.Earmarks.await(pod, charges, graceOf(d.leavingPods)+earmarkTime)
		return "", ReleaseSuffices
	}
	best := d.best(ctx, nodes)
	if best == nil {
		p.Earmarks.Drop(pod.UID)
		return "", NoVictims
	}
	p.Earmarks.put(pod, best, graceOf(d.going(best))+earmarkTime)
	if report := p.Report(); report != nil {
		report(best.victims)
		p.Earmarks.evicted(pod.UID)
		return best.node, Preempting
	}
	preemptedPods.Add(float64(len(best.victims)))
	go p.evict(context.WithoutCancel(ctx), pod, best)
	return best.node, Preempting
}
