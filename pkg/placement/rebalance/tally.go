// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package rebalance

import "berth.dev/berth/pkg/placement/apportion"

// Misplaced returns how many pods run outside their share: in no cluster of the policy, or above
// the share of their cluster. Where seats are fixed the share of a cluster is those seats it owns
// whose pods are there. It does not matter which of them its pods have: to exchange two pods would
// move both and leave the shares as they are.
func Misplaced(plan *apportion.Plan, clusters int, pods []Replica) int {
	return newTally(plan, clusters, pods).misplaced
}

// tally compares what the clusters hold with their shares.
type tally struct {
	// surplus is by how many pods a cluster exceeds its share, negative if it is short.
	surplus   []int
	misplaced int
}

func newTally(plan *apportion.Plan, clusters int, pods []Replica) *tally {
	t := &tally{surplus: make([]int, clusters)}
	for c := range clusters {
		t.surplus[c] = -plan.Share(c)
	}
	owned, fixed := make([]int, clusters), false
	for i := range pods {
		p := &pods[i]
		if p.Fixed {
			fixed = true
			owner, ok := plan.Owner(int64(p.Seat))
			if !ok {
				continue // The workload's controller will delete it.
			}
			owned[owner]++
		}
		if p.Cluster == Elsewhere {
			t.misplaced++
		} else {
			t.surplus[p.Cluster]++
		}
	}
	for c, n := range owned {
		if fixed {
			t.surplus[c] += plan.Share(c) - n
		}
	}
	for _, n := range t.surplus {
		t.misplaced += max(0, n)
	}
	return t
}

// misfit reports whether a pod with a fixed seat runs outside the cluster that owns the seat. A
// seat that nobody owns is beyond the replicas: the workload's controller will delete the pod.
func misfit(plan *apportion.Plan, p *Replica) bool {
	owner, ok := plan.Owner(int64(p.Seat))
	return ok && owner != p.Cluster
}
