// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package processes

import (
	"slices"
	"testing"
)

func TestWorkloadsOfASize(t *testing.T) {
	for _, factor := range []float64{0.001, 0.02, 0.3, 1} {
		size := full.times(factor)
		workloads, total := workloadsOf(size), 0
		if len(workloads) != size.Policies {
			t.Errorf("factor %v: %d workloads, want one for each of %d policies", factor, len(workloads), size.Policies)
		}
		for i := range workloads {
			x := &workloads[i]
			total += x.replicas
			if unique := slices.Compact(slices.Clone(x.sites)); len(unique) != len(x.sites) || !slices.IsSorted(x.sites) {
				t.Errorf("factor %v: the sites of %s are %v, want them sorted and none twice", factor, x.name, x.sites)
			}
		}
		// Whole replicas for each workload leave some of the pods out.
		if total > max(size.Pods, 2*size.Policies) || total < size.Pods-2*size.Policies {
			t.Errorf("factor %v: %d replicas, want about %d", factor, total, size.Pods)
		}
	}
}

func TestPatchOf(t *testing.T) {
	const want = `{"metadata":{"labels":{"a/b":"1"}}}`
	if got := string(patchOf("metadata", "labels", "a/b", "1")); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
