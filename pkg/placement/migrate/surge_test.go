// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package migrate_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"berth.dev/berth/pkg/placement/migrate"
)

// TestNextInParts moves a workload of four replicas that may have fewer beyond those wanted.
func TestNextInParts(t *testing.T) {
	four, five, six := new(int64(4)), new(int64(5)), new(int64(6))
	tests := map[string]struct {
		surge      int64
		live       *int64
		policy     string
		unobserved bool
		pods       migrate.Pods
		wantPolicy string
		wantStep   migrate.Step
	}{
		"the first part": {
			surge: 1, live: four, policy: "berlin", pods: counted(bound("berlin", 0, 4, 4)),
			wantPolicy: "madrid=1 berlin", wantStep: migrate.Step{Replicas: 4, Moving: true, Held: true},
		},
		"the first part where some are already": {
			surge: 2, live: four, policy: "berlin", pods: counted(bound("madrid", 0, 1, 1), bound("berlin", 1, 3, 3)),
			wantPolicy: "madrid=3 berlin", wantStep: migrate.Step{Replicas: 4, Moving: true, Held: true},
		},
		"as many as are wanted at once": {
			surge: 9, live: four, policy: "berlin", pods: counted(bound("berlin", 0, 4, 4)),
			wantPolicy: "madrid>=4 berlin", wantStep: migrate.Step{Replicas: 4, Moving: true, Held: true},
		},
		"the last old one makes a part": {
			surge: 1, live: four, policy: "madrid=2 berlin", pods: counted(bound("madrid", 0, 2, 2), bound("berlin", 2, 1, 1)),
			wantPolicy: "madrid=3 berlin", wantStep: migrate.Step{Replicas: 4, Moving: true, Held: true},
		},
		"no old one is left": {
			surge: 1, live: five, policy: "madrid=1 berlin", pods: counted(bound("madrid", 0, 1, 0)),
			wantPolicy: "madrid>=4 berlin", wantStep: migrate.Step{Replicas: 5, Moving: true, Held: true},
		},
		"a part starts": {
			surge: 1, live: four, policy: "madrid=1 berlin", pods: counted(bound("berlin", 1, 4, 4)),
			wantPolicy: "madrid=1 berlin", wantStep: migrate.Step{Replicas: 5, Scale: true, Moving: true, Held: true},
		},
		"a part is not ready": {
			surge: 2, live: six, policy: "madrid=2 berlin", pods: counted(bound("madrid", 0, 2, 1), bound("berlin", 2, 4, 4)),
			wantPolicy: "madrid=2 berlin", wantStep: migrate.Step{Replicas: 6, Moving: true, Held: true},
		},
		"a part is ready": {
			surge: 2, live: six, policy: "madrid=2 berlin", pods: counted(bound("madrid", 0, 2, 2), bound("berlin", 2, 4, 4)),
			wantPolicy: "madrid=2 berlin", wantStep: migrate.Step{Replicas: 4, Scale: true, Moving: true, Held: true},
		},
		"the old ones of a part have not gone": {
			surge: 2, live: four, policy: "madrid=2 berlin", pods: counted(bound("madrid", 0, 2, 2), bound("berlin", 2, 3, 3)),
			wantPolicy: "madrid=2 berlin", wantStep: migrate.Step{Replicas: 4, Moving: true, Held: true},
		},
		"the next part": {
			surge: 1, live: four, policy: "madrid=1 berlin", pods: counted(bound("madrid", 0, 1, 1), bound("berlin", 1, 3, 3)),
			wantPolicy: "madrid=2 berlin", wantStep: migrate.Step{Replicas: 4, Moving: true, Held: true},
		},
		"the next part waits until the last one is known": {
			surge: 1, live: four, policy: "madrid=1 berlin", unobserved: true,
			pods:       counted(bound("madrid", 0, 1, 1), bound("berlin", 1, 3, 3)),
			wantPolicy: "madrid=1 berlin", wantStep: migrate.Step{Replicas: 4, Moving: true, Held: true},
		},
		"old ones that do not serve are not waited for": {
			surge: 1, live: five, policy: "madrid=1 berlin", pods: counted(bound("madrid", 0, 1, 0), bound("berlin", 1, 4, 0)),
			wantPolicy: "madrid=2 berlin", wantStep: migrate.Step{Replicas: 5, Moving: true, Held: true},
		},
		"old ones that do not serve make room for a part": {
			surge: 1, live: five, policy: "madrid=2 berlin", pods: counted(bound("madrid", 0, 1, 0), bound("berlin", 2, 4, 0)),
			wantPolicy: "madrid=2 berlin", wantStep: migrate.Step{Replicas: 4, Scale: true, Moving: true, Held: true},
		},
		"a part starts where old ones did not serve": {
			surge: 1, live: four, policy: "madrid=2 berlin", pods: counted(bound("madrid", 0, 1, 0), bound("berlin", 2, 3, 0)),
			wantPolicy: "madrid=2 berlin", wantStep: migrate.Step{Replicas: 5, Scale: true, Moving: true, Held: true},
		},
		"what somebody has taken away starts anew at once": {
			surge: 1, live: four, policy: "madrid=2 berlin", pods: counted(bound("madrid", 0, 2, 1), bound("berlin", 2, 1, 1)),
			wantPolicy: "madrid=3 berlin", wantStep: migrate.Step{Replicas: 4, Moving: true, Held: true},
		},
		"no more than did not serve is not waited for": {
			surge: 1, live: five, policy: "madrid=2 berlin", pods: counted(bound("madrid", 0, 2, 0), bound("berlin", 2, 3, 3)),
			wantPolicy: "madrid=2 berlin", wantStep: migrate.Step{Replicas: 5, Moving: true, Held: true},
		},
		"old ones that have just become ready are waited for": {
			surge: 1, live: five, policy: "madrid=1 berlin",
			pods:       counted(bound("madrid", 0, 1, 0), bound("berlin", 1, 3, 3), []migrate.BoundPod{{Cluster: "berlin", Warming: true}}),
			wantPolicy: "madrid=1 berlin", wantStep: migrate.Step{Replicas: 5, Moving: true, Held: true},
		},
		"the last part": {
			surge: 3, live: four, policy: "madrid=3 berlin", pods: counted(bound("madrid", 0, 3, 3), bound("berlin", 3, 1, 1)),
			wantPolicy: "madrid>=4 berlin", wantStep: migrate.Step{Replicas: 4, Moving: true, Held: true},
		},
		"a move to another cluster begins with a part of its own": {
			surge: 1, live: five, policy: "rome=2 berlin", pods: counted(bound("rome", 0, 2, 2), bound("berlin", 2, 3, 3)),
			wantPolicy: "madrid=1 rome<=2 berlin<=3", wantStep: migrate.Step{Replicas: 5, Moving: true, Held: true},
		},
		"surplus of a move that was given up goes first": {
			surge: 1, live: five, policy: "madrid=1 rome<=2 berlin<=3", pods: counted(bound("rome", 0, 2, 2), bound("berlin", 2, 3, 3)),
			wantPolicy: "madrid=1 rome<=2 berlin<=3", wantStep: migrate.Step{Replicas: 4, Scale: true, Moving: true, Held: true},
		},
		"such surplus stays as long as others would go": {
			surge: 1, live: six, policy: "madrid=2 rome<=2 berlin<=3",
			pods:       counted(bound("madrid", 5, 1, 1), bound("rome", 0, 2, 2), bound("berlin", 2, 3, 3)),
			wantPolicy: "madrid=2 rome<=2 berlin<=3", wantStep: migrate.Step{Replicas: 6, Moving: true, Held: true},
		},
		"such surplus stays while a pod that has just become ready would stay instead": {
			surge: 1, live: five, policy: "madrid=2 berlin",
			pods:       counted([]migrate.BoundPod{{Cluster: "madrid", Warming: true}}, bound("berlin", 1, 4, 4)),
			wantPolicy: "madrid=2 berlin", wantStep: migrate.Step{Replicas: 5, Moving: true, Held: true},
		},
		"a pod that finds no place in the target has none where others are few": {
			surge: 1, live: five, policy: "madrid=1 rome<=3 berlin<=1", pods: counted(bound("rome", 0, 3, 3), bound("berlin", 3, 1, 1)),
			wantPolicy: "madrid=1 rome<=3 berlin<=1", wantStep: migrate.Step{Replicas: 5, Moving: true, Held: true},
		},
		"what others have lost meanwhile they may have again": {
			surge: 1, live: five, policy: "madrid=1 rome<=3 berlin<=1", pods: counted(bound("rome", 0, 2, 2), bound("berlin", 3, 1, 1)),
			wantPolicy: "madrid=1 rome<=3 berlin<=1", wantStep: migrate.Step{Replicas: 4, Scale: true, Moving: true, Held: true},
		},
		"others that have too few for what is wanted have no bounds": {
			surge: 1, live: four, policy: "berlin", pods: counted(bound("rome", 0, 1, 1), bound("berlin", 1, 1, 1)),
			wantPolicy: "madrid=1 berlin,rome", wantStep: migrate.Step{Replicas: 4, Moving: true, Held: true},
		},
		"nothing runs in the cluster of a move that was given up": {
			surge: 2, live: six, policy: "rome=2 berlin", pods: counted(bound("berlin", 2, 4, 4)),
			wantPolicy: "madrid=2 berlin", wantStep: migrate.Step{Replicas: 6, Moving: true, Held: true},
		},
		"nothing runs any more in the cluster of a move that was given up": {
			surge: 2, live: four, policy: "madrid=2 rome,berlin", pods: counted(bound("berlin", 2, 4, 4)),
			wantPolicy: "madrid=2 berlin", wantStep: migrate.Step{Replicas: 4, Moving: true, Held: true},
		},
		"a part of which replicas were lost begins anew": {
			surge: 1, live: four, policy: "madrid=3 berlin", pods: counted(bound("madrid", 0, 1, 1), bound("berlin", 1, 3, 3)),
			wantPolicy: "madrid=2 berlin", wantStep: migrate.Step{Replicas: 4, Moving: true, Held: true},
		},
		"somebody has taken the bounds away": {
			surge: 1, live: four, policy: "madrid berlin", pods: counted(bound("madrid", 0, 1, 1), bound("berlin", 1, 3, 3)),
			wantPolicy: "madrid=2 berlin", wantStep: migrate.Step{Replicas: 4, Moving: true, Held: true},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			tc.wantStep.Policy = shares(tc.wantPolicy)
			step := migrate.Next(&migrate.Situation{
				Target: "madrid", StartFirst: true, Surge: tc.surge, Manifest: new(int64(4)), Live: tc.live,
				Policy: shares(tc.policy), Observed: !tc.unobserved, Pods: tc.pods,
			})
			if diff := cmp.Diff(tc.wantStep, step); diff != "" {
				t.Errorf("step mismatch (-want +got):\n%s", diff)
			}
		})
	}
}

// TestNextStopsFirst moves a workload of two replicas that must not run in two clusters at once.
func TestNextStopsFirst(t *testing.T) {
	none, one, two := new(int64(0)), new(int64(1)), new(int64(2))
	tests := map[string]struct {
		manifest   *int64
		live       *int64
		policy     string
		unobserved bool
		leaving    int64
		pods       migrate.Pods
		wantPolicy string
		wantStep   migrate.Step
	}{
		"it is new": {manifest: two, live: two, wantPolicy: "madrid", wantStep: migrate.Step{Replicas: 2}},
		"it is not read yet": {
			manifest: two, policy: "berlin", wantPolicy: "berlin", wantStep: migrate.Step{Moving: true, Held: true},
		},
		"it runs where it was": {
			manifest: two, live: two, policy: "berlin", pods: counted(bound("berlin", 0, 2, 2)),
			wantPolicy: "berlin", wantStep: migrate.Step{Scale: true, Moving: true, Held: true},
		},
		"one replica is left to it": {
			manifest: two, live: one, policy: "berlin", wantPolicy: "berlin", wantStep: migrate.Step{Scale: true, Moving: true, Held: true},
		},
		"its last pod is there": {
			manifest: two, live: none, policy: "berlin", pods: counted(bound("berlin", 0, 1, 1)),
			wantPolicy: "berlin", wantStep: migrate.Step{Moving: true, Held: true},
		},
		"its last pod has not ended": {
			manifest: two, live: none, policy: "berlin", leaving: 1, wantPolicy: "berlin", wantStep: migrate.Step{Moving: true, Held: true},
		},
		"its last pod has ended": {
			manifest: two, live: none, policy: "berlin", wantPolicy: "madrid", wantStep: migrate.Step{Moving: true, Held: true},
		},
		"the policy is not known everywhere": {
			manifest: two, live: none, policy: "madrid", unobserved: true, wantPolicy: "madrid", wantStep: migrate.Step{Moving: true, Held: true},
		},
		"the policy is known everywhere": {
			manifest: two, live: none, policy: "madrid", wantPolicy: "madrid", wantStep: migrate.Step{Replicas: 2, Scale: true},
		},
		"it has grown again": {
			manifest: two, live: two, policy: "madrid", wantPolicy: "madrid", wantStep: migrate.Step{Replicas: 2},
		},
		"it runs, and somebody has changed its policy": {
			manifest: two, live: two, policy: "madrid", unobserved: true, wantPolicy: "madrid", wantStep: migrate.Step{Replicas: 2},
		},
		"none are wanted": {manifest: none, live: none, policy: "madrid", unobserved: true, wantPolicy: "madrid"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			tc.wantStep.Policy = shares(tc.wantPolicy)
			step := migrate.Next(&migrate.Situation{
				Target: "madrid", StopFirst: true, Manifest: tc.manifest, Live: tc.live, Leaving: tc.leaving,
				Policy: shares(tc.policy), Observed: !tc.unobserved, Pods: tc.pods,
			})
			if diff := cmp.Diff(tc.wantStep, step); diff != "" {
				t.Errorf("step mismatch (-want +got):\n%s", diff)
			}
		})
	}
}
