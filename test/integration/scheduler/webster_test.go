// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package scheduler_test

// webster shares n replicas out the slow way: each goes to the cluster with the greatest weight /
// (2 x replicas + 1), the one with fewer replicas or the smaller name among equals. Clusters
// without any are left out.
func webster(n int, weights ...weight) map[string]int {
	shares := map[string]int{}
	for range n {
		best := weights[0]
		for _, w := range weights[1:] {
			if before(w, best, shares) {
				best = w
			}
		}
		shares[best.cluster]++
	}
	return shares
}

func before(a, b weight, shares map[string]int) bool {
	heldByA, heldByB := shares[a.cluster], shares[b.cluster]
	left, right := a.weight*int64(2*heldByB+1), b.weight*int64(2*heldByA+1)
	switch {
	case left != right:
		return left > right
	case heldByA != heldByB:
		return heldByA < heldByB
	default:
		return a.cluster < b.cluster
	}
}
