// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"fmt"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/placement/rebalance"
)

// inBlocks are as many pods in each of two Clusters, whose weights are the same, but those of
// beijing all come before those of hangzhou.
func inBlocks(each int) []client.Object {
	objects := world(sites(), these(newDeployment(int32(2*each)), newReplicaSet("rs1", "1", int32(2*each)), newPolicy("p", reweighed(1, 1), never)))
	for i := range each {
		objects = append(objects, webPod(fmt.Sprintf("b-%03d", i), "beijing-0", int32(i)), webPod(fmt.Sprintf("h-%03d", i), "hangzhou-0", int32(each+i)))
	}
	return objects
}

// reordered returns how many pods are written to in one pass.
func (h *harness) reordered() (count int) {
	before := len(h.writes)
	h.sync()
	h.pass()
	for _, w := range h.writes[before:] {
		var verb, kind, name string
		if _, err := fmt.Sscan(w, &verb, &kind, &name); err == nil && kind == "*v1.Pod" {
			count++
		}
	}
	return count
}

func TestManyPodsInAnotherOrderAreWrittenToByAndBy(t *testing.T) {
	h := newHarness(t, inBlocks(130)...)
	const rest = 29
	if got := h.reordered(); got != rebalance.ReorderAtOnce {
		t.Fatalf("%d pods get another place at once, want %d", got, rebalance.ReorderAtOnce)
	}
	if got := h.reordered(); got != 0 || h.last.RequeueAfter <= 0 || h.last.RequeueAfter > rebalance.ReorderPause {
		t.Errorf("then %d do, and it is looked again after %v", got, h.last.RequeueAfter)
	}
	h.wait(rebalance.ReorderPause)
	if got := h.reordered(); got != rest {
		t.Errorf("after the pause %d do, want %d", got, rest)
	}
	if got := h.reordered(); got != 0 {
		t.Errorf("%d pods get another place although all are right", got)
	}
}

func TestAnOrderThatSomebodyAsksForComesAtOnce(t *testing.T) {
	h := newHarness(t, inBlocks(130)...)
	h.reordered()
	change(h, h.policy("p"), func(p *berthv1alpha1.PropagationPolicy) { p.Generation++ })
	if got := h.reordered(); got != 29 {
		t.Errorf("%d pods get another place once the policy has changed, want all that are left", got)
	}
}
