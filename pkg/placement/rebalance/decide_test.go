// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package rebalance_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"berth.dev/berth/pkg/placement/apportion"
	"berth.dev/berth/pkg/placement/rebalance"
)

// willing is a round of five replicas with weights 4 and 1 in which no guard holds anything back:
// beijing should have four pods and hangzhou one.
func willing(t *testing.T, pods []rebalance.Replica) *rebalance.Round {
	t.Helper()
	return &rebalance.Round{
		Plan: order(t, 4, 1).Plan(5),
		Clusters: []rebalance.Vacancy{
			beijing: {Ready: true, Room: 10}, hangzhou: {Ready: true, Room: 10},
		},
		Pods: pods, RolloutFinished: true, MaxUnavailable: 5, MinPodAge: time.Second, Cooldown: time.Second,
		SinceRound: time.Minute,
	}
}

// decideCase is a row of the tables of TestDecide….
type decideCase struct {
	pods   []rebalance.Replica
	change func(*rebalance.Round)
	// wantVictims are the names of the victims, in order.
	wantVictims []string
	wantHeld    rebalance.Reason
	wantRetry   time.Duration
}

func runDecide(t *testing.T, tests map[string]decideCase) {
	t.Helper()
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			round := willing(t, tc.pods)
			if tc.change != nil {
				tc.change(round)
			}
			got := rebalance.Decide(round)
			var victims []string
			for _, victim := range got.Victims {
				victims = append(victims, tc.pods[victim.Pod].Name)
				if victim.To != beijing {
					t.Errorf("%s goes to cluster %d, want beijing", tc.pods[victim.Pod].Name, victim.To)
				}
			}
			if diff := cmp.Diff(tc.wantVictims, victims); diff != "" {
				t.Errorf("victims mismatch (-want +got):\n%s", diff)
			}
			if got.Held != tc.wantHeld {
				t.Errorf("held = %q, want %q", got.Held, tc.wantHeld)
			}
			if got.RetryAfter != tc.wantRetry {
				t.Errorf("retry after %v, want %v", got.RetryAfter, tc.wantRetry)
			}
		})
	}
}

// threeInHangzhou are two pods too many in hangzhou.
func threeInHangzhou() []rebalance.Replica { return all(in(beijing, 2), in(hangzhou, 3)) }

// A group may select clusters that do not exist yet.
func TestPodsStayWhereNoClusterIsWanted(t *testing.T) {
	none, err := apportion.NewGroupedOrder([]apportion.Group{{As: apportion.Cluster{Name: "stores", Weight: 1}}})
	if err != nil {
		t.Fatal(err)
	}
	runDecide(t, map[string]decideCase{
		"pods of a Deployment": {
			pods:     in(rebalance.Elsewhere, 2),
			change:   func(r *rebalance.Round) { r.Plan, r.Clusters = none.Plan(2), nil },
			wantHeld: rebalance.NoRoom,
		},
		"pods of a StatefulSet": {
			pods:   all(in(rebalance.Elsewhere, 1, ordinal(0), fits), in(rebalance.Elsewhere, 1, ordinal(1), fits)),
			change: func(r *rebalance.Round) { r.Plan, r.Clusters = none.Plan(2), nil },
		},
	})
}

// The order in which pods go.
func TestDecideOrder(t *testing.T) {
	runDecide(t, map[string]decideCase{
		"nothing is misplaced": {
			pods: all(in(beijing, 4), in(hangzhou, 1)),
		},
		"the youngest of the surplus go": {
			pods:        threeInHangzhou(),
			wantVictims: []string{"1-2", "1-1"},
		},
		"pods that are not ready go first, although they are old": {
			pods:        all(in(beijing, 2), in(hangzhou, 1, notReady, named("broken")), in(hangzhou, 2)),
			wantVictims: []string{"broken", "1-1"},
		},
		"the lowest deletion cost goes first, although it is old": {
			pods:        all(in(beijing, 2), in(hangzhou, 1, cost(-9), named("cheap")), in(hangzhou, 2)),
			wantVictims: []string{"cheap", "1-1"},
		},
		"pods in no cluster of the policy go": {
			pods:        all(in(beijing, 3), in(hangzhou, 1), in(rebalance.Elsewhere, 1)),
			wantVictims: []string{"-1-0"},
		},
		"an old pod goes in the place of a younger one that must stay": {
			pods:        all(in(beijing, 3), in(hangzhou, 1, age(time.Hour), named("old")), in(hangzhou, 1, age(time.Second))),
			change:      func(r *rebalance.Round) { r.MinPodAge = 30 * time.Second },
			wantVictims: []string{"old"},
		},
		"those that have moved of late go last, although they are young": {
			pods:        all(in(beijing, 2), in(hangzhou, 1, age(100*time.Hour), named("old")), in(hangzhou, 2, age(time.Minute))),
			change:      func(r *rebalance.Round) { r.Fresh = 30 * time.Minute },
			wantVictims: []string{"old", "1-0"},
		},
		"those that have moved of late stay": {
			pods:        all(in(beijing, 1), in(hangzhou, 1, age(100*time.Hour), named("old")), in(hangzhou, 3, age(20*time.Minute))),
			change:      func(r *rebalance.Round) { r.Fresh, r.FreshStay = 30*time.Minute, true },
			wantVictims: []string{"old"}, wantHeld: rebalance.PodsMoved, wantRetry: 10 * time.Minute,
		},
		"those that have moved of late stay until nobody has moved of late": {
			pods: all(in(beijing, 1), in(hangzhou, 4, age(20*time.Minute))),
			change: func(r *rebalance.Round) {
				r.Fresh, r.FreshStay, r.SettledIn = 30*time.Minute, true, 4*time.Minute
			},
			wantHeld: rebalance.PodsMoved, wantRetry: 4 * time.Minute,
		},
		"those that have moved of late leave where they are not wanted": {
			pods: all(in(hangzhou, 3, age(time.Minute), unwanted), in(rebalance.Elsewhere, 1, age(time.Minute), unwanted),
				in(rebalance.Elsewhere, 1, age(time.Minute), named("not chosen any more"))),
			change:      func(r *rebalance.Round) { r.Fresh, r.FreshStay = 30*time.Minute, true },
			wantVictims: []string{"-1-0", "1-0", "1-1"}, wantHeld: rebalance.PodsMoved, wantRetry: 29 * time.Minute,
		},
		"pods of others stay, and one of ours goes instead": {
			pods:        all(in(beijing, 3), in(hangzhou, 1, keep(rebalance.NotOurs), age(time.Minute)), in(hangzhou, 1, named("ours"))),
			wantVictims: []string{"ours"},
		},
	})
}

// What holds all pods of a workload back.
func TestDecideGuards(t *testing.T) {
	runDecide(t, map[string]decideCase{
		"rebalancing is off": {
			pods:     threeInHangzhou(),
			change:   func(r *rebalance.Round) { r.Never = rebalance.Forbidden },
			wantHeld: rebalance.Forbidden,
		},
		"pods of a Job": {
			pods:     threeInHangzhou(),
			change:   func(r *rebalance.Round) { r.Never = rebalance.JobPods },
			wantHeld: rebalance.JobPods,
		},
		"half of the clusters are not ready": {
			pods:        threeInHangzhou(),
			change:      func(r *rebalance.Round) { r.Clusters[hangzhou].Ready = false },
			wantVictims: []string{"1-2", "1-1"},
		},
		"more than half of the clusters are not ready": {
			pods: threeInHangzhou(),
			change: func(r *rebalance.Round) {
				r.Clusters[hangzhou].Ready, r.Clusters[beijing].Ready = false, false
			},
			wantHeld: rebalance.ClustersNotReady,
		},
		"a rollout is under way": {
			pods:     threeInHangzhou(),
			change:   func(r *rebalance.Round) { r.RolloutFinished = false },
			wantHeld: rebalance.RolloutUnderWay,
		},
		"a pod is pending": {
			pods:     threeInHangzhou(),
			change:   func(r *rebalance.Round) { r.Pending = 1 },
			wantHeld: rebalance.PodsPending,
		},
		"a pod is pending that is not stuck yet": {
			pods:      all(in(beijing, 1), in(hangzhou, 3)),
			change:    func(r *rebalance.Round) { r.Pending, r.StuckIn = 1, 7*time.Second },
			wantHeld:  rebalance.PodsPending,
			wantRetry: 7 * time.Second,
		},
		"a pod is stuck, and another one is pending": {
			pods:     all(in(hangzhou, 3)),
			change:   func(r *rebalance.Round) { r.Pending, r.Stuck = 2, 1 },
			wantHeld: rebalance.PodsPending,
		},
		"a pod is stuck, and another one has not been made yet": {
			pods:     all(in(hangzhou, 3)),
			change:   func(r *rebalance.Round) { r.Pending, r.Stuck = 1, 1 },
			wantHeld: rebalance.ReplicasMissing,
		},
		"a pod is stuck": {
			pods:        all(in(beijing, 1), in(hangzhou, 3)),
			change:      func(r *rebalance.Round) { r.Pending, r.Stuck = 1, 1 },
			wantVictims: []string{"1-2", "1-1"},
		},
		"a replica has not been made yet": {
			pods:     all(in(beijing, 1), in(hangzhou, 3)),
			wantHeld: rebalance.ReplicasMissing,
		},
		"the workload is about to shrink": {
			pods:     all(in(beijing, 3), in(hangzhou, 3)),
			wantHeld: rebalance.ReplicasTooMany,
		},
		"the last round was a moment ago": {
			pods:      threeInHangzhou(),
			change:    func(r *rebalance.Round) { r.Cooldown, r.SinceRound = time.Minute, 20*time.Second },
			wantHeld:  rebalance.Cooldown,
			wantRetry: 40 * time.Second,
		},
		"the last round is exactly the cool-down ago": {
			pods:        threeInHangzhou(),
			change:      func(r *rebalance.Round) { r.Cooldown, r.SinceRound = time.Minute, time.Minute },
			wantVictims: []string{"1-2", "1-1"},
		},
	})
}

// What holds single pods back.
func TestDecideLimits(t *testing.T) {
	runDecide(t, map[string]decideCase{
		"no more are missing than allowed": {
			pods:        threeInHangzhou(),
			change:      func(r *rebalance.Round) { r.MaxUnavailable = 1 },
			wantVictims: []string{"1-2"},
			wantHeld:    rebalance.MaxUnavailable,
		},
		"what is missing already counts": {
			pods:     all(in(beijing, 2, notReady), in(hangzhou, 3)),
			change:   func(r *rebalance.Round) { r.MaxUnavailable = 2 },
			wantHeld: rebalance.MaxUnavailable,
		},
		"one goes although a pod is stuck and no more may be missing": {
			pods:        all(in(hangzhou, 4)),
			change:      func(r *rebalance.Round) { r.Pending, r.Stuck, r.MaxUnavailable = 1, 1, 1 },
			wantVictims: []string{"1-3"},
			wantHeld:    rebalance.MaxUnavailable,
		},
		"nobody goes if one is stuck and another is missing, and no more may be": {
			pods:     all(in(beijing, 1, notReady), in(hangzhou, 3)),
			change:   func(r *rebalance.Round) { r.Pending, r.Stuck, r.MaxUnavailable = 1, 1, 1 },
			wantHeld: rebalance.MaxUnavailable,
		},
		"those who are stuck count, if more may be missing": {
			pods:        all(in(hangzhou, 4)),
			change:      func(r *rebalance.Round) { r.Pending, r.Stuck, r.MaxUnavailable = 1, 1, 2 },
			wantVictims: []string{"1-3"},
			wantHeld:    rebalance.MaxUnavailable,
		},
		"a misplaced pod that is not ready goes although nothing more may be missing": {
			pods:        all(in(beijing, 2), in(hangzhou, 2), in(hangzhou, 1, notReady, named("broken"))),
			change:      func(r *rebalance.Round) { r.MaxUnavailable = 1 },
			wantVictims: []string{"broken"},
			wantHeld:    rebalance.MaxUnavailable,
		},
		"no round takes more pods that are not ready than may be missing": {
			pods:        all(in(beijing, 2), in(hangzhou, 3, notReady)),
			change:      func(r *rebalance.Round) { r.MaxUnavailable = 1 },
			wantVictims: []string{"1-2"},
			wantHeld:    rebalance.MaxUnavailable,
		},
		"the receiving cluster is full": {
			pods:     threeInHangzhou(),
			change:   func(r *rebalance.Round) { r.Clusters[beijing].Room = 0 },
			wantHeld: rebalance.NoRoom,
		},
		"the receiving cluster has room for one": {
			pods:        threeInHangzhou(),
			change:      func(r *rebalance.Round) { r.Clusters[beijing].Room = 1 },
			wantVictims: []string{"1-2"},
			wantHeld:    rebalance.NoRoom,
		},
		"the receiving cluster is not ready": {
			pods:     threeInHangzhou(),
			change:   func(r *rebalance.Round) { r.Clusters[beijing].Ready = false },
			wantHeld: rebalance.NoRoom,
		},
		"pods that are exactly old enough go": {
			pods:        all(in(beijing, 3), in(hangzhou, 2, age(30*time.Second))),
			change:      func(r *rebalance.Round) { r.MinPodAge = 30 * time.Second },
			wantVictims: []string{"1-0"},
		},
		"young pods stay until they are old enough": {
			pods:      all(in(beijing, 2), in(hangzhou, 3, age(10*time.Second))),
			change:    func(r *rebalance.Round) { r.MinPodAge = 30 * time.Second },
			wantHeld:  rebalance.PodsTooYoung,
			wantRetry: 20 * time.Second,
		},
		"all pods are of others": {
			pods:     all(in(beijing, 2), in(hangzhou, 3, keep(rebalance.NotOurs))),
			wantHeld: rebalance.PodsNotOurs,
		},
		"pods that another policy placed stay until they carry the name of this one": {
			pods:     all(in(beijing, 2), in(hangzhou, 3, keep(rebalance.TakenOver))),
			wantHeld: rebalance.PodsTakenOver,
		},
		"protected pods stay": {
			pods:     all(in(beijing, 2), in(hangzhou, 3, keep(rebalance.Protected))),
			wantHeld: rebalance.PodsProtected,
		},
		"pods on dead nodes stay": {
			pods:     all(in(beijing, 2), in(hangzhou, 3, keep(rebalance.Unreachable))),
			wantHeld: rebalance.PodsUnreachable,
		},
		"pods that a budget refused stay for a while": {
			pods:     all(in(beijing, 2), in(hangzhou, 3, keep(rebalance.Refused))),
			wantHeld: rebalance.PodsRefused,
		},
		"nobody goes for a pod that may go at any time": {
			pods:     all(in(beijing, 3), in(hangzhou, 1), in(hangzhou, 1, asked, keep(rebalance.Failing))),
			wantHeld: rebalance.EvictionsFail,
		},
		"such a pod is one of those that go": {
			pods:        all(in(beijing, 2), in(hangzhou, 2), in(hangzhou, 1, asked, keep(rebalance.Failing))),
			wantVictims: []string{"1-1"},
			wantHeld:    rebalance.EvictionsFail,
		},
		"it goes before others": {
			pods:        all(in(beijing, 3), in(hangzhou, 1, cost(-1000)), in(hangzhou, 1, asked, named("asked"))),
			wantVictims: []string{"asked"},
		},
		"pods whose evictions failed stay for a while, which is told rather than the budget of others": {
			pods:     all(in(beijing, 2), in(hangzhou, 2, keep(rebalance.Refused)), in(hangzhou, 1, keep(rebalance.Failing))),
			wantHeld: rebalance.EvictionsFail,
		},
	})
}

func TestReasonsHaveTexts(t *testing.T) {
	reasons := []rebalance.Reason{
		rebalance.Forbidden, rebalance.JobPods, rebalance.UnknownWorkload, rebalance.ClustersNotReady,
		rebalance.RolloutUnderWay, rebalance.PodsPending, rebalance.ReplicasMissing, rebalance.ReplicasTooMany,
		rebalance.Cooldown, rebalance.Unconfirmed, rebalance.MaxUnavailable, rebalance.NoRoom, rebalance.PodsTooYoung,
		rebalance.PodsUnreachable, rebalance.PodsProtected, rebalance.PodsNotOurs, rebalance.PodsRefused, rebalance.PodsTakenOver,
		rebalance.EvictionsFail, rebalance.Undivided,
	}
	texts := map[string]rebalance.Reason{}
	for _, reason := range reasons {
		text := reason.String()
		if text == "" {
			t.Errorf("%s has no text", reason)
		}
		if other, twice := texts[text]; twice {
			t.Errorf("%q and %q have the same text", reason, other)
		}
		texts[text] = reason
	}
}
