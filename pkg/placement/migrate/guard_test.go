// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package migrate_test

import (
	"testing"

	"pgregory.net/rapid"

	"berth.dev/berth/pkg/placement/migrate"
)

// TestNextWithMinReadySeconds moves replicas that have to be ready for some time until they serve.
func TestNextWithMinReadySeconds(t *testing.T) {
	two, three, four, five, six := new(int64(2)), new(int64(3)), new(int64(4)), new(int64(5)), new(int64(6))
	warming := []migrate.BoundPod{{Cluster: "madrid", Warming: true, DeletionCost: -2}, {Cluster: "madrid", Warming: true, DeletionCost: -3}}
	tests := map[string]nextTest{
		"old ones keep the low seats": {
			migrate.Situation{Manifest: two, Live: two, Policy: shares("berlin"), Observed: true, Pods: counted(bound("berlin", 0, 2, 2))},
			"madrid>=2 berlin:2", migrate.Step{Replicas: 2, Moving: true, Held: true},
		},
		"new ones start": {
			migrate.Situation{Manifest: two, Live: two, Policy: shares("madrid>=2 berlin:2"), Observed: true, Pods: counted(bound("berlin", 0, 2, 2))},
			"madrid>=2 berlin:2", migrate.Step{Replicas: 4, Scale: true, Moving: true, Held: true},
		},
		"new ones are ready for too short a time": {
			migrate.Situation{
				Manifest: two, Live: four, Policy: shares("madrid>=2 berlin:2"), Observed: true, Pods: counted(warming, bound("berlin", 0, 2, 2)),
			},
			"madrid>=2 berlin:2", migrate.Step{Replicas: 4, Moving: true, Held: true},
		},
		"an old one is lost, and comes back where it was": {
			migrate.Situation{
				Manifest: two, Live: four, Policy: shares("madrid>=2 berlin:2"), Observed: true, Pods: counted(warming, bound("berlin", 0, 1, 1)),
			},
			"madrid>=2 berlin:2", migrate.Step{Replicas: 4, Moving: true, Held: true},
		},
		"all old ones are lost": {
			migrate.Situation{Manifest: two, Live: four, Policy: shares("madrid>=2 berlin:2"), Observed: true, Pods: counted(warming)},
			"madrid>=2 berlin", migrate.Step{Replicas: 4, Moving: true, Held: true},
		},
		"new ones serve, and the order turns": {
			migrate.Situation{
				Manifest: two, Live: four, Policy: shares("madrid>=2 berlin:2"), Observed: true,
				Pods: counted(bound("madrid", 2, 2, 2), bound("berlin", 0, 2, 2)),
			},
			"madrid>=2 berlin", migrate.Step{Replicas: 4, Moving: true, Held: true},
		},
		"the order has not turned yet": {
			migrate.Situation{
				Manifest: two, Live: four, Policy: shares("madrid>=2 berlin"), Observed: true,
				Pods: counted(bound("madrid", 2, 2, 2), bound("berlin", 0, 2, 2)),
			},
			"madrid>=2 berlin", migrate.Step{Replicas: 4, Moving: true, Held: true},
		},
		"the order has turned": {
			migrate.Situation{
				Manifest: two, Live: four, Policy: shares("madrid>=2 berlin"), Observed: true,
				Pods: counted(bound("madrid", 0, 2, 2), bound("berlin", 2, 2, 2)),
			},
			"madrid>=2 berlin", migrate.Step{Replicas: 2, Scale: true, Moving: true, Held: true},
		},
		"a new one is not ready any more": {
			migrate.Situation{
				Manifest: two, Live: four, Policy: shares("madrid>=2 berlin"), Observed: true,
				Pods: counted(bound("madrid", 0, 2, 1), bound("berlin", 2, 2, 2)),
			},
			"madrid>=2 berlin:2", migrate.Step{Replicas: 4, Moving: true, Held: true},
		},
		"a part": {
			migrate.Situation{
				Manifest: four, Surge: 1, Live: four, Policy: shares("madrid=1 berlin"), Observed: true,
				Pods: counted(bound("madrid", 0, 1, 1), bound("berlin", 1, 3, 3)),
			},
			"madrid>=2 berlin:3", migrate.Step{Replicas: 4, Moving: true, Held: true},
		},
		"a part starts": {
			migrate.Situation{
				Manifest: four, Surge: 1, Live: four, Policy: shares("madrid>=2 berlin:3"), Observed: true,
				Pods: counted(bound("madrid", 3, 1, 1), bound("berlin", 0, 3, 3)),
			},
			"madrid>=2 berlin:3", migrate.Step{Replicas: 5, Scale: true, Moving: true, Held: true},
		},
		"a part serves": {
			migrate.Situation{
				Manifest: four, Surge: 1, Live: five, Policy: shares("madrid>=2 berlin:3"), Observed: true,
				Pods: counted(bound("madrid", 3, 2, 2), bound("berlin", 0, 3, 3)),
			},
			"madrid=2 berlin", migrate.Step{Replicas: 5, Moving: true, Held: true},
		},
		"the next best cluster": {
			migrate.Situation{
				Manifest: three, Live: six, Policy: shares("rome>=3 berlin:3"), Observed: true,
				Pods: counted(bound("rome", 3, 1, 1), bound("berlin", 0, 2, 2)),
			},
			"madrid>=3 rome:1 berlin:2", migrate.Step{Replicas: 6, Moving: true, Held: true},
		},
		"the way back": {
			migrate.Situation{
				Manifest: two, Live: four, Policy: shares("berlin>=2 madrid:2"), Observed: true,
				Pods: counted(bound("berlin", 2, 2, 0), bound("madrid", 0, 2, 2)),
			},
			"madrid>=2 berlin", migrate.Step{Replicas: 4, Moving: true, Held: true},
		},
		"what goes first is not kept": {
			migrate.Situation{
				Manifest: four, Surge: 1, Live: five, Policy: shares("rome=2 berlin"), Observed: true,
				Pods: counted(bound("rome", 0, 2, 2), bound("berlin", 2, 3, 3)),
			},
			"madrid=1 rome<=2 berlin<=3", migrate.Step{Replicas: 5, Moving: true, Held: true},
		},
	}
	for name, tc := range tests {
		tc.workload.StartFirst, tc.workload.Warms = true, true
		tests[name] = tc
	}
	runNext(t, tests)
}

// TestStageWhileTheOrderTurns expects nobody to give a move up whose new replicas serve.
func TestStageWhileTheOrderTurns(t *testing.T) {
	w := migrate.Situation{
		Target: "madrid", StartFirst: true, Warms: true, Manifest: new(int64(2)), Policy: shares("madrid>=2 berlin"),
		Pods: counted(bound("madrid", 2, 2, 2), bound("berlin", 0, 2, 2)),
	}
	if got := migrate.Stage(&w); got != "Shrink" {
		t.Errorf("%s, want Shrink", got)
	}
}

// TestNobodyElseTakesWhatServes lets an autoscaler lower the number of replicas at any time on the
// way, to as many as are wanted or more, while everybody else has done what is to be done.
func TestNobodyElseTakesWhatServes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		wanted := rapid.Int64Range(1, 5).Draw(t, "replicas")
		d := &deployment{replicas: wanted}
		d.StartFirst, d.Warms, d.Target, d.Policy, d.Observed = true, true, "berlin", shares("berlin"), true
		d.Surge, d.Remembered = rapid.Int64Range(0, 3).Draw(t, "surge"), new(wanted)
		d.grow()
		for i := range d.pods {
			d.pods[i].Ready = true
		}
		d.Target = "madrid"
		one := func(t *rapid.T) *migrate.BoundPod { return &d.pods[rapid.IntRange(0, len(d.pods)-1).Draw(t, "pod")] }
		t.Repeat(map[string]func(*rapid.T){
			"":        func(*rapid.T) {},
			"step":    func(t *rapid.T) { d.step(t) },
			"grow":    func(*rapid.T) { d.grow() },
			"observe": func(*rapid.T) { d.Observed = true; d.restamp() },
			"ready": func(t *rapid.T) {
				pod := one(t)
				serves := pod.Ready || pod.Warming || pod.Cluster == "berlin"
				pod.Ready, pod.Warming = serves, !serves
			},
			"unready": func(t *rapid.T) {
				// Where an old one fails, or one of an earlier step, the new ones go by their age.
				if pod := one(t); pod.Warming || d.Surge == 0 && pod.Cluster == "madrid" {
					pod.Ready, pod.Warming = false, false
				}
			},
			"lower": func(t *rapid.T) { d.lower(t, wanted) },
		})
		d.arrives(t)
	})
}

// lower is what an autoscaler does once everybody has seen how things are.
func (d *deployment) lower(t *rapid.T, wanted int64) {
	for range 2 { // The first step may turn the order of the seats.
		d.step(t)
		d.Observed = true
		d.restamp()
	}
	if d.replicas <= wanted {
		t.Skip("nothing is to be lowered")
	}
	before := *d
	d.replicas = rapid.Int64Range(wanted, d.replicas).Draw(t, "to")
	d.shrink()
	if got, least := ready(d.pods, ""), min(ready(before.pods, ""), wanted); got < least {
		t.Fatalf("from %d to %d replicas leaves %d that serve, want %d: %v, %v", before.replicas, d.replicas, got, least, before.pods, before.Policy)
	}
}
