// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package clusterresource_test

import (
	"testing"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/plugintest"
)

// Two pods that each claim almost as many units as an int64 can hold must not leave a pool with
// something free: one runs without Berth having bound it, the other has been nominated.
func TestHugeClaimsLeaveNothingFree(t *testing.T) {
	runs := onNode(asking("runs", "disk", "9E"), "a1")
	nominated := withPriority(asking("nominated", "disk", "9E"), 10)
	nominated.Status.NominatedNodeName = "a2"
	s := plugintest.New(t, append(racks(), pools("disk", berthv1alpha1.AnyOf, "a", "10"), runs, nominated))
	s.Release()
	if bound, _ := s.Place(onRack(asking("next", "disk", "1"), "a")); bound != nil {
		t.Errorf("a pod was bound to %s although the pool is used up", bound.Spec.NodeName)
	}
}
