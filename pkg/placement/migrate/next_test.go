// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package migrate_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"berth.dev/berth/pkg/placement/migrate"
)

// nextTest is a workload that is to run in madrid, and what it needs next.
type nextTest struct {
	workload   migrate.Situation
	wantPolicy string
	wantStep   migrate.Step
}

func runNext(t *testing.T, tests map[string]nextTest) {
	t.Helper()
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			tc.workload.Target, tc.wantStep.Policy = "madrid", shares(tc.wantPolicy)
			if diff := cmp.Diff(tc.wantStep, migrate.Next(&tc.workload)); diff != "" {
				t.Errorf("step mismatch (-want +got):\n%s", diff)
			}
		})
	}
}

func TestNext(t *testing.T) {
	two, three, four, six := new(int64(2)), new(int64(3)), new(int64(4)), new(int64(6))
	runNext(t, map[string]nextTest{
		"it is new": {
			migrate.Situation{StartFirst: true, Manifest: two}, "madrid", migrate.Step{Replicas: 2},
		},
		"it is new and others scale it": {
			migrate.Situation{StartFirst: true, Live: three}, "madrid", migrate.Step{Replicas: 1},
		},
		"it runs in its cluster": {
			migrate.Situation{
				StartFirst: true, Manifest: two, Live: two, Policy: shares("madrid"), Pods: counted(bound("madrid", 0, 2, 2)),
			},
			"madrid", migrate.Step{Replicas: 2},
		},
		"somebody has scaled it by hand": {
			migrate.Situation{StartFirst: true, Manifest: two, Live: six, Policy: shares("madrid")},
			"madrid", migrate.Step{Replicas: 2, Scale: true},
		},
		"an autoscaler has scaled it": {
			migrate.Situation{StartFirst: true, Live: six, Policy: shares("madrid")}, "madrid", migrate.Step{Replicas: 6},
		},
		"its replicas cannot start first": {
			migrate.Situation{Manifest: two, Live: two, Policy: shares("berlin"), Pods: counted(bound("berlin", 0, 2, 2))},
			"madrid", migrate.Step{Replicas: 2},
		},
		"it has no pods yet where it was": {
			migrate.Situation{StartFirst: true, Manifest: two, Live: two, Policy: shares("berlin")},
			"madrid", migrate.Step{Replicas: 2, Held: true},
		},
		"it is to move": {
			migrate.Situation{
				StartFirst: true, Manifest: two, Live: two, Policy: shares("berlin"), Observed: true,
				Pods: counted(bound("berlin", 0, 2, 2)),
			},
			"madrid>=2 berlin", migrate.Step{Replicas: 2, Moving: true, Held: true},
		},
		"the policy is not known everywhere": {
			migrate.Situation{
				StartFirst: true, Manifest: two, Live: two, Policy: shares("madrid>=2 berlin"), Pods: counted(bound("berlin", 0, 2, 2)),
			},
			"madrid>=2 berlin", migrate.Step{Replicas: 2, Moving: true, Held: true},
		},
		"the policy is known everywhere": {
			migrate.Situation{
				StartFirst: true, Manifest: two, Live: two, Policy: shares("madrid>=2 berlin"), Observed: true,
				Pods: counted(bound("berlin", 2, 2, 2)),
			},
			"madrid>=2 berlin", migrate.Step{Replicas: 4, Scale: true, Moving: true, Held: true},
		},
		"the new replicas are not ready": {
			migrate.Situation{
				StartFirst: true, Manifest: two, Live: four, Policy: shares("madrid>=2 berlin"), Observed: true,
				Pods: counted(bound("madrid", 0, 2, 1), bound("berlin", 2, 2, 2)),
			},
			"madrid>=2 berlin", migrate.Step{Replicas: 4, Moving: true, Held: true},
		},
		"the old replicas would stay": {
			migrate.Situation{
				StartFirst: true, Manifest: two, Live: four, Policy: shares("madrid>=2 berlin"), Observed: true,
				Pods: counted(bound("madrid", 1, 2, 2), bound("berlin", 0, 1, 1), bound("berlin", 3, 1, 1)),
			},
			"madrid>=2 berlin", migrate.Step{Replicas: 4, Moving: true, Held: true},
		},
		"the user has decided which would stay": {
			migrate.Situation{
				StartFirst: true, Manifest: two, Live: four, Policy: shares("madrid>=2 berlin"), Observed: true,
				Pods: counted(own(bound("madrid", 2, 2, 2)), own(bound("berlin", 0, 2, 2))),
			},
			"madrid>=2 berlin", migrate.Step{Replicas: 2, Scale: true, Moving: true, Held: true},
		},
		"the user has decided for the old ones": {
			migrate.Situation{
				StartFirst: true, Manifest: two, Live: four, Policy: shares("madrid>=2 berlin"), Observed: true,
				Pods: counted(bound("madrid", 2, 2, 2), own(bound("berlin", 0, 2, 2))),
			},
			"madrid>=2 berlin", migrate.Step{Replicas: 2, Scale: true, Moving: true, Held: true},
		},
		"the new replicas are ready": {
			migrate.Situation{
				StartFirst: true, Manifest: two, Live: four, Policy: shares("madrid>=2 berlin"), Observed: true,
				Pods: counted(bound("madrid", 0, 2, 2), bound("berlin", 2, 2, 2)),
			},
			"madrid>=2 berlin", migrate.Step{Replicas: 2, Scale: true, Moving: true, Held: true},
		},
		"the old replicas are gone": {
			migrate.Situation{
				StartFirst: true, Manifest: two, Live: two, Policy: shares("madrid>=2 berlin"), Observed: true,
				Pods: counted(bound("madrid", 0, 2, 2)),
			},
			"madrid", migrate.Step{Replicas: 2},
		},
		"the old cluster is lost at once": {
			migrate.Situation{
				StartFirst: true, Manifest: two, Live: four, Policy: shares("madrid>=2 berlin"), Observed: true,
				Pods: counted(bound("madrid", 0, 1, 0)),
			},
			"madrid>=2 berlin", migrate.Step{Replicas: 2, Scale: true, Moving: true, Held: true},
		},
		"it is to go back": {
			migrate.Situation{
				StartFirst: true, Manifest: two, Live: four, Policy: shares("berlin>=2 madrid"), Observed: true,
				Pods: counted(bound("berlin", 0, 1, 0), bound("madrid", 2, 2, 2)),
			},
			"madrid>=2 berlin", migrate.Step{Replicas: 4, Moving: true, Held: true},
		},
		"it is to go on to a third cluster": {
			migrate.Situation{
				StartFirst: true, Manifest: two, Live: four, Policy: shares("rome>=2 berlin"), Observed: true,
				Pods: counted(bound("rome", 0, 1, 0), bound("berlin", 2, 2, 2)),
			},
			"madrid>=2 rome<=1 berlin<=2", migrate.Step{Replicas: 4, Moving: true, Held: true},
		},
		"the move remembers what the autoscaler wanted": {
			migrate.Situation{
				StartFirst: true, Live: three, Policy: shares("madrid>=3 berlin"), Observed: true,
				Pods: counted(bound("berlin", 3, 3, 3)),
			},
			"madrid>=3 berlin", migrate.Step{Replicas: 6, Scale: true, Moving: true, Held: true},
		},
		"it has moved, and the autoscaler has it again": {
			migrate.Situation{
				StartFirst: true, Live: three, Policy: shares("madrid>=3 berlin"), Observed: true,
				Pods: counted(bound("madrid", 0, 3, 3)),
			},
			"madrid", migrate.Step{Replicas: 3},
		},
		"none are wanted any more": {
			migrate.Situation{
				StartFirst: true, Manifest: new(int64(0)), Live: two, Policy: shares("madrid>=0 berlin"), Observed: true,
				Pods: counted(bound("berlin", 0, 2, 2)),
			},
			"madrid>=0 berlin", migrate.Step{Scale: true, Moving: true, Held: true},
		},
		"it is not read yet": {
			migrate.Situation{
				StartFirst: true, Manifest: two, Policy: shares("madrid>=2 berlin"), Observed: true,
				Pods: counted(bound("berlin", 2, 2, 2)),
			},
			"madrid>=2 berlin", migrate.Step{Replicas: 4, Moving: true, Held: true},
		},
	})
}

func TestNextAfterAnotherChoice(t *testing.T) {
	two := new(int64(2))
	runNext(t, map[string]nextTest{
		"a scheduler may not have heard yet where it is now": {
			migrate.Situation{
				StartFirst: true, Manifest: two, Live: two, Policy: shares("madrid"), Held: true, Observed: true,
				Pods: counted(bound("madrid", 1, 1, 1)),
			},
			"madrid", migrate.Step{Replicas: 2, Held: true},
		},
		"a scheduler had not heard yet where it is now": {
			migrate.Situation{
				StartFirst: true, Manifest: two, Live: two, Policy: shares("madrid"), Held: true, Observed: true,
				Pods: counted(bound("madrid", 1, 1, 1), bound("berlin", 0, 1, 1)),
			},
			"madrid>=2 berlin", migrate.Step{Replicas: 2, Moving: true, Held: true},
		},
		"all its pods are where it is now": {
			migrate.Situation{
				StartFirst: true, Manifest: two, Live: two, Policy: shares("madrid"), Held: true, Observed: true,
				Pods: counted(bound("madrid", 2, 2, 2)),
			},
			"madrid", migrate.Step{Replicas: 2},
		},
		"it lacks a pod where it has been for long": {
			migrate.Situation{
				StartFirst: true, Manifest: two, Live: two, Policy: shares("madrid"), Observed: true, Pods: counted(bound("madrid", 1, 1, 1)),
			},
			"madrid", migrate.Step{Replicas: 2},
		},
	})
}

func TestNextIfSomethingChangesMeanwhile(t *testing.T) {
	two := new(int64(2))
	runNext(t, map[string]nextTest{
		"pods were bound where it was to be before while its policy changed": {
			migrate.Situation{
				StartFirst: true, Manifest: two, Live: two, Policy: shares("madrid"), Observed: true,
				Pods: counted(bound("berlin", 0, 2, 2)),
			},
			"madrid>=2 berlin", migrate.Step{Replicas: 2, Moving: true, Held: true},
		},
		"fewer are wanted than have moved": {
			migrate.Situation{
				StartFirst: true, Manifest: two, Live: new(int64(10)), Policy: shares("madrid>=2 berlin"), Observed: true,
				Pods: counted(bound("madrid", 0, 2, 2), bound("berlin", 2, 3, 3), bound("madrid", 5, 3, 3), bound("berlin", 8, 2, 2)),
			},
			"madrid>=2 berlin", migrate.Step{Replicas: 2, Scale: true, Moving: true, Held: true},
		},
		"fewer are wanted than have moved, and the last of them are not ready": {
			migrate.Situation{
				StartFirst: true, Manifest: two, Live: new(int64(10)), Policy: shares("madrid>=2 berlin"), Observed: true,
				Pods: counted(bound("madrid", 0, 2, 1), bound("berlin", 2, 3, 3), bound("madrid", 5, 3, 3), bound("berlin", 8, 2, 2)),
			},
			"madrid>=2 berlin", migrate.Step{Replicas: 10, Moving: true, Held: true},
		},
	})
}

func TestProgress(t *testing.T) {
	two := new(int64(2))
	const notReady, migrating = "PodsNotReady", "Migrating"
	tests := map[string]struct {
		workload                migrate.Situation
		wantReason, wantMessage string
	}{
		"it has no policy": {
			migrate.Situation{Manifest: new(int64(0))}, notReady, ": 0 of 0 pods are available in cluster madrid",
		},
		"it has no policy, and runs elsewhere": {
			migrate.Situation{Manifest: two, Pods: counted(bound("berlin", 0, 2, 2))}, notReady, ": 0 of 2 pods are available in cluster madrid",
		},
		"too few are ready": {
			migrate.Situation{Manifest: two, Policy: shares("madrid"), Pods: counted(bound("madrid", 0, 2, 1))},
			notReady, ": 1 of 2 pods are available in cluster madrid",
		},
		"all are ready": {
			migrate.Situation{Manifest: two, Policy: shares("madrid"), Pods: counted(bound("madrid", 0, 2, 2))}, "", "",
		},
		"all that others want are ready": {
			migrate.Situation{Live: new(int64(5)), Policy: shares("madrid"), Pods: counted(bound("madrid", 0, 5, 5))}, "", "",
		},
		"one that others want is not ready": {
			migrate.Situation{Live: new(int64(5)), Policy: shares("madrid"), Pods: counted(bound("madrid", 0, 5, 4))},
			notReady, ": 4 of 5 pods are available in cluster madrid",
		},
		"the policy is that of a move": {
			migrate.Situation{Manifest: two, Policy: shares("madrid>=2 berlin"), Pods: counted(bound("madrid", 0, 2, 2))},
			migrating, " moves to cluster madrid: 2 of 2 pods are available there",
		},
		"a pod is elsewhere": {
			migrate.Situation{Manifest: two, Policy: shares("madrid"), Pods: counted(bound("madrid", 0, 2, 2), bound("rome", 2, 1, 1))},
			migrating, " moves to cluster madrid: 2 of 2 pods are available there",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			tc.workload.Target = "madrid"
			if reason, message := migrate.Progress(&tc.workload); reason != tc.wantReason || message != tc.wantMessage {
				t.Errorf("Progress() = %q, %q, want %q, %q", reason, message, tc.wantReason, tc.wantMessage)
			}
		})
	}
}

// checkStep fails if a step is none that may follow for the workload.
func checkStep(t *testing.T, target string, w *migrate.Situation, step migrate.Step) {
	t.Helper()
	switch names := step.Policy[0].ClusterNames; {
	case len(names) != 1 || names[0] != target:
		t.Errorf("the policy begins with %q, want the target alone", names)
	case len(step.Policy) > 1 != step.Moving:
		t.Errorf("the policy names other clusters: %t, and the workload moves: %t", len(step.Policy) > 1, step.Moving)
	case step.Replicas < 0 || w.Manifest != nil && step.Replicas < *w.Manifest:
		t.Errorf("%d replicas, fewer than the manifest gives", step.Replicas)
	case step.Scale && w.Manifest == nil && !step.Moving && !w.Moving():
		t.Errorf("%d replicas of a workload that others scale, and that does not move", step.Replicas)
	}
}

// FuzzNext feeds numbers and shares that no validation would let through.
func FuzzNext(f *testing.F) {
	f.Add("madrid", "madrid>=2 berlin", true, true, int64(2), int64(4), byte(3), uint8(2), uint8(2))
	f.Add("", ",,", false, true, int64(math.MaxInt32), int64(-1), byte(2), uint8(0), uint8(9))
	f.Add("a", "", true, false, int64(0), int64(0), byte(0), uint8(1), uint8(1))
	f.Fuzz(func(
		t *testing.T, target, policy string, observed, startFirst bool, manifest, live int64, known byte, here, elsewhere uint8,
	) {
		w := &migrate.Situation{
			Target: target, Policy: shares(policy), Observed: observed, StartFirst: startFirst,
			Pods: counted(bound(target, 0, int(here), int(here)/2), bound("elsewhere", int(here), int(elsewhere), int(elsewhere))),
		}
		if known&1 != 0 {
			w.Manifest = new(max(0, min(manifest, math.MaxInt32)))
		}
		if known&2 != 0 {
			w.Live = new(max(0, min(live, math.MaxInt32)))
		}
		checkStep(t, target, w, migrate.Next(w))
		migrate.Progress(w)
	})
}
