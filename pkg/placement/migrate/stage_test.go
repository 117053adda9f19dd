// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package migrate_test

import (
	"testing"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/placement/migrate"
)

func TestStage(t *testing.T) {
	two := new(int64(2))
	tests := map[string]struct {
		workload migrate.Situation
		want     berthv1alpha1.MoveStep
	}{
		"it has no policy": {migrate.Situation{Manifest: two}, "Prepare"},
		"it has no policy, and nobody knows how many are wanted": {migrate.Situation{Observed: true}, "Prepare"},
		"it has no policy, and pods": {
			migrate.Situation{Live: two, Pods: counted(bound("berlin", 0, 2, 2))}, "Prepare",
		},
		"its policy is that of before": {
			migrate.Situation{Manifest: two, Policy: shares("berlin"), Observed: true, Pods: counted(bound("berlin", 0, 2, 2))}, "Prepare",
		},
		"its policy is that of before, of clusters that it may have": {
			migrate.Situation{Manifest: two, Policy: shares("madrid,berlin"), Observed: true, Pods: counted(bound("madrid", 0, 2, 2))}, "Prepare",
		},
		"its policy is that of the way back": {
			migrate.Situation{
				Manifest: two, Policy: shares("berlin>=1 madrid"), Observed: true, Pods: counted(bound("madrid", 0, 1, 1), bound("berlin", 0, 1, 1)),
			},
			"Prepare",
		},
		"the policy is not known everywhere": {
			migrate.Situation{Manifest: two, Policy: shares("madrid>=2 berlin"), Pods: counted(bound("madrid", 0, 2, 2))}, "Prepare",
		},
		"a pod has no node": {
			migrate.Situation{Manifest: two, Policy: shares("madrid>=2 berlin"), Observed: true, Pods: counted(bound("madrid", 0, 1, 1))}, "Start",
		},
		"a pod is not ready": {
			migrate.Situation{Manifest: two, Policy: shares("madrid>=2 berlin"), Observed: true, Pods: counted(bound("madrid", 0, 2, 1))}, "Available",
		},
		"all are ready": {
			migrate.Situation{
				Manifest: two, Policy: shares("madrid>=2 berlin"), Observed: true, Pods: counted(bound("madrid", 0, 2, 2), bound("berlin", 2, 2, 2)),
			},
			"Shrink",
		},
		"all of a part are ready": {
			migrate.Situation{
				Manifest: two, Policy: shares("madrid=1 berlin"), Observed: true, Pods: counted(bound("madrid", 0, 1, 1), bound("berlin", 1, 2, 2)),
			},
			"Shrink",
		},
		"the policy of a move that names no number": {
			migrate.Situation{
				Manifest: two, Policy: shares("madrid berlin"), Observed: true, Pods: counted(bound("madrid", 0, 1, 1), bound("berlin", 1, 1, 1)),
			},
			"Start",
		},
		"it runs in its target alone": {
			migrate.Situation{Manifest: two, Policy: shares("madrid"), Observed: true, Pods: counted(bound("madrid", 0, 2, 2))}, "Done",
		},
		"it runs in its target alone, which others do not know yet": {
			migrate.Situation{Manifest: two, Policy: shares("madrid"), Pods: counted(bound("madrid", 0, 2, 2))}, "Done",
		},
		"a pod has been lost since": {
			migrate.Situation{Manifest: two, Policy: shares("madrid"), Observed: true, Pods: counted(bound("madrid", 0, 1, 1))}, "Start",
		},
		"a pod has got unready since": {
			migrate.Situation{Manifest: two, Policy: shares("madrid"), Observed: true, Pods: counted(bound("madrid", 0, 2, 1))}, "Available",
		},
		"a pod of somebody else's is elsewhere": {
			migrate.Situation{
				Manifest: two, Policy: shares("madrid"), Observed: true, Pods: counted(bound("madrid", 0, 2, 2), bound("berlin", 2, 1, 1)),
			},
			"Shrink",
		},
		"it stops first, and has not": {
			migrate.Situation{
				StopFirst: true, Manifest: two, Policy: shares("berlin"), Observed: true, Pods: counted(bound("berlin", 0, 2, 2)),
			},
			"Shrink",
		},
		"it stops first, and has": {
			migrate.Situation{StopFirst: true, Manifest: two, Policy: shares("madrid"), Observed: true}, "Start",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			tc.workload.Target = "madrid"
			if got := migrate.Stage(&tc.workload); got != tc.want {
				t.Errorf("Stage() = %q, want %q", got, tc.want)
			}
		})
	}
}
