// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package preemption

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// answer is what came of a preemption, and who makes way, by name.
type answer struct {
	Node    string
	Outcome Outcome
	Victims []string
}

// preemptCase is a pod for which others may have to make way in a world.
type preemptCase struct {
	// asked is how many units it asks for.
	asked int64
	make  func(*world)
	want  answer
	// wantKept is for how long something is kept for the pod, 0 if nothing is.
	wantKept time.Duration
}

func runPreempt(t *testing.T, tests map[string]preemptCase) {
	t.Helper()
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(tc.asked)
			tc.make(w)
			w.build()
			pod := withPriority(named("high"), 5)
			w.preemptor.Earmarks.Nominate(pod, "an earlier one")
			w.preemptor.Earmarks.byPod[pod.UID].until = now.Add(time.Second)

			got := answer{}
			got.Node, got.Outcome = w.preempt(t.Context(), pod)
			got.Victims = w.victims
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("who makes way (-want +got):\n%s", diff)
			}
			kept := time.Duration(0)
			if mark := w.preemptor.Earmarks.byPod[pod.UID]; mark != nil {
				kept = mark.until.Sub(now)
			}
			if kept != tc.wantKept || w.preemptor.Earmarks.Evicting(pod.UID) {
				t.Errorf("kept for %v, want %v; evicting: %t", kept, tc.wantKept, w.preemptor.Earmarks.Evicting(pod.UID))
			}
		})
	}
}

func TestWhoMakesWay(t *testing.T) {
	runPreempt(t, map[string]preemptCase{
		"nobody holds anything": {
			asked: 1, make: func(w *world) { w.node("a", "1") }, want: answer{Outcome: NoVictims},
		},
		"a holder elsewhere": {
			asked:    1,
			make:     func(w *world) { w.node("a1", "1"); w.node("a2", "1"); w.pod("low", "a2", 1, "1") },
			want:     answer{"a1", Preempting, []string{"low"}},
			wantKept: time.Minute,
		},
		"the longest that a victim takes to end counts, and a minute": {
			asked: 2,
			make: func(w *world) {
				w.node("a1", "1")
				w.pod("slow", "a9", 1, "1").Spec.TerminationGracePeriodSeconds = ptr.To[int64](40)
				w.pod("quick", "a9", 1, "1").Spec.TerminationGracePeriodSeconds = ptr.To[int64](3)
			},
			want:     answer{"a1", Preempting, []string{"quick", "slow"}},
			wantKept: 100 * time.Second,
		},
		"of equal holders the one whose UID comes first": {
			asked: 1,
			make: func(w *world) {
				w.node("a1", "1")
				w.pod("two", "a9", 1, "1")
				w.pod("one", "a9", 1, "1")
			},
			want: answer{"a1", Preempting, []string{"one"}}, wantKept: time.Minute,
		},
		"of equal holders the one that started last": {
			asked: 1,
			make: func(w *world) {
				w.node("a1", "1")
				w.pod("one", "a9", 1, "1").Status.StartTime = &metav1.Time{Time: now.Add(-time.Hour)}
				w.pod("two", "a9", 1, "1").Status.StartTime = &metav1.Time{Time: now.Add(-time.Minute)}
			},
			want: answer{"a1", Preempting, []string{"two"}}, wantKept: time.Minute,
		},
		"one that has not started rather than one that has": {
			asked: 1,
			make: func(w *world) {
				w.node("a1", "1")
				w.pod("one", "a9", 1, "1").Status.StartTime = &metav1.Time{Time: now.Add(-time.Minute)}
				w.pod("two", "a9", 1, "1")
			},
			want: answer{"a1", Preempting, []string{"two"}}, wantKept: time.Minute,
		},
		"nobody whose units are another scheduler's": {
			asked: 1,
			make:  func(w *world) { w.node("a1", "1"); w.others[w.pod("theirs", "a9", 1, "1").UID] = true },
			want:  answer{Outcome: NoVictims},
		},
		"the cheaper one of two pools": {
			asked: 1,
			make: func(w *world) {
				w.node("a1", "1")
				w.node("b1", "1")
				w.pod("dear", "a9", 3, "1")
				w.pod("cheap", "b9", 1, "1")
			},
			want: answer{"b1", Preempting, []string{"cheap"}}, wantKept: time.Minute,
		},
		"the first one of two pools that are as dear": {
			asked: 1,
			make: func(w *world) {
				w.node("a1", "1")
				w.node("b1", "1")
				w.pod("one", "a9", 1, "1")
				w.pod("two", "b9", 1, "1")
			},
			want: answer{"a1", Preempting, []string{"one"}}, wantKept: time.Minute,
		},
	})
}

func TestWhoMakesWayOfThoseOnTheNode(t *testing.T) {
	runPreempt(t, map[string]preemptCase{
		"a node with room rather than one on which somebody is in the way": {
			asked: 1,
			make: func(w *world) {
				w.node("a1", "1")
				w.node("a2", "1")
				w.pod("busy", "a1", 1, "0")
				w.pod("low", "a9", 1, "1")
			},
			want: answer{"a2", Preempting, []string{"low"}}, wantKept: time.Minute,
		},
		"no more for room on the node than are needed beside a holder on it": {
			asked: 1,
			make: func(w *world) {
				w.node("b1", "2")
				w.pod("holder", "b1", 1, "1")
				w.pod("one", "b1", 1, "0")
				w.pod("two", "b1", 1, "0")
				w.pod("elsewhere", "b9", 2, "1")
			},
			want: answer{"b1", Preempting, []string{"holder", "two"}}, wantKept: time.Minute,
		},
		"whoever is in the way on the node besides": {
			asked:    1,
			make:     func(w *world) { w.node("a1", "1"); w.pod("busy", "a1", 1, "0"); w.pod("low", "a9", 1, "1") },
			want:     answer{"a1", Preempting, []string{"busy", "low"}},
			wantKept: time.Minute,
		},
		"the least important one on the node": {
			asked: 1,
			make: func(w *world) {
				w.node("a1", "2")
				w.pod("low", "a1", 1, "0")
				w.pod("mid", "a1", 2, "0")
				w.free["a"] = 1
			},
			want: answer{"a1", Preempting, []string{"low"}}, wantKept: time.Minute,
		},
		"one that is in the way and holds what is lacking stands for both": {
			asked:    1,
			make:     func(w *world) { w.node("a1", "1"); w.pod("both", "a1", 2, "1"); w.pod("low", "a9", 1, "1") },
			want:     answer{"a1", Preempting, []string{"both"}},
			wantKept: time.Minute,
		},
		"one for what it holds, and the least important one of the others": {
			asked: 1,
			make: func(w *world) {
				w.node("a1", "2")
				w.pod("low", "a1", 1, "0")
				w.pod("mid", "a1", 2, "0")
				w.pod("holder", "a1", 3, "1")
			},
			want: answer{"a1", Preempting, []string{"holder", "low"}}, wantKept: time.Minute,
		},
		"nobody if a pod of the same priority is in the way": {
			asked: 1,
			make:  func(w *world) { w.node("a1", "1"); w.pod("equal", "a1", 5, "0"); w.pod("low", "a9", 1, "1") },
			want:  answer{Outcome: NoVictims},
		},
		"nobody on a node whose pools are not known": {
			asked: 1,
			make:  func(w *world) { w.node("x1", "1"); w.pod("low", "x1", 1, "1") },
			want:  answer{Outcome: NoVictims},
		},
	})
}

func TestWhoMakesWayBesideThoseOnTheirWayOut(t *testing.T) {
	runPreempt(t, map[string]preemptCase{
		"those on their way out suffice": {
			asked: 1,
			make: func(w *world) {
				w.node("a1", "1")
				leaving(w.pod("leaving", "a9", 9, "1"), 30)
				w.pod("low", "a9", 1, "1")
			},
			want: answer{Outcome: ReleaseSuffices}, wantKept: 90 * time.Second,
		},
		"those on their way out suffice on the second node": {
			asked: 1,
			make: func(w *world) {
				w.node("a1", "1")
				w.node("b1", "1")
				leaving(w.pod("leaving", "b9", 9, "1"), 0)
				w.pod("low", "a9", 1, "1")
			},
			want: answer{Outcome: ReleaseSuffices}, wantKept: time.Minute,
		},
		"one on its way out is in the way on the node as well": {
			asked: 1,
			make: func(w *world) {
				w.node("a1", "1")
				leaving(w.pod("busy", "a1", 9, "0"), 0)
				leaving(w.pod("leaving", "a9", 9, "1"), 0)
			},
			want: answer{Outcome: ReleaseSuffices}, wantKept: time.Minute,
		},
		"those on their way out do not suffice": {
			asked: 2,
			make: func(w *world) {
				w.node("a1", "1")
				leaving(w.pod("leaving", "a9", 1, "1"), 30)
				w.pod("low", "a9", 1, "2")
			},
			want: answer{"a1", Preempting, []string{"low"}}, wantKept: 90 * time.Second,
		},
		"no more go than are needed beside those on their way out": {
			asked: 2,
			make: func(w *world) {
				w.node("a1", "1")
				leaving(w.pod("leaving", "a9", 1, "1"), 3)
				w.pod("one", "a9", 1, "1").Spec.TerminationGracePeriodSeconds = ptr.To[int64](30)
				w.pod("two", "a9", 1, "1")
			},
			want: answer{"a1", Preempting, []string{"one"}}, wantKept: 90 * time.Second,
		},
		"one beside those on their way out is enough": {
			asked: 2,
			make: func(w *world) {
				w.node("a1", "1")
				leaving(w.pod("leaving", "a9", 1, "1"), 0)
				w.pod("low", "a9", 1, "1")
			},
			want: answer{"a1", Preempting, []string{"low"}}, wantKept: time.Minute,
		},
		"one that holds what is lacking is on its way out": {
			asked: 1,
			make: func(w *world) {
				w.node("a1", "1")
				w.pod("busy", "a1", 1, "0")
				leaving(w.pod("leaving", "a1", 1, "1"), 30)
			},
			want: answer{"a1", Preempting, []string{"busy"}}, wantKept: 90 * time.Second,
		},
		"one on its way out on the node is none of those who make way": {
			asked: 1,
			make: func(w *world) {
				w.node("a1", "2")
				w.pod("busy", "a1", 1, "0")
				leaving(w.pod("leaving", "a1", 1, "0"), 0)
				w.pod("low", "a9", 1, "1")
			},
			want: answer{"a1", Preempting, []string{"low"}}, wantKept: time.Minute,
		},
		"the longest that one on its way out takes counts, if it is of use": {
			asked: 2,
			make: func(w *world) {
				w.node("a1", "1")
				leaving(w.pod("quick", "a9", 9, "1"), 3)
				leaving(w.pod("slow", "a9", 9, "1"), 30)
				theirs := w.pod("theirs", "a9", 9, "1")
				leaving(theirs, 300)
				w.others[theirs.UID] = true
			},
			want: answer{Outcome: ReleaseSuffices}, wantKept: 90 * time.Second,
		},
	})
}

func TestBudgetsAreKept(t *testing.T) {
	runPreempt(t, map[string]preemptCase{
		"not a pod on the node that a budget protects": {
			asked: 1,
			make: func(w *world) {
				w.node("a1", "3")
				w.budgets = []*policyv1.PodDisruptionBudget{budget("db", 0)}
				w.pod("db", "a1", 1, "1").Labels = map[string]string{"app": "db"}
				w.pod("mid", "a1", 4, "1")
			},
			want: answer{"a1", Preempting, []string{"mid"}}, wantKept: time.Minute,
		},
		"not a pod that a budget protects": {
			asked: 1,
			make: func(w *world) {
				w.node("a1", "1")
				w.budgets = []*policyv1.PodDisruptionBudget{budget("db", 0)}
				w.pod("db", "a9", 1, "1").Labels = map[string]string{"app": "db"}
				w.pod("mid", "a9", 4, "1")
			},
			want: answer{"a1", Preempting, []string{"mid"}}, wantKept: time.Minute,
		},
		"a pod whose budget allows it": {
			asked: 1,
			make: func(w *world) {
				w.node("a1", "1")
				w.budgets = []*policyv1.PodDisruptionBudget{budget("db", 1)}
				w.pod("db", "a9", 1, "1").Labels = map[string]string{"app": "db"}
				w.pod("mid", "a9", 4, "1")
			},
			want: answer{"a1", Preempting, []string{"db"}}, wantKept: time.Minute,
		},
	})
}

// So that a cycle ends, it is tried on so many nodes only whether pods of the node itself are in
// the way.
func TestOnlySoManyNodesAreTried(t *testing.T) {
	for _, full := range []int{maxTried - 1, maxTried} {
		w := newWorld(1)
		w.free["a"] = 1
		for i := range maxTried {
			w.node(fmt.Sprint("x", i), "1") // its pools are not known, so it is not tried
		}
		for i := range full {
			w.node(fmt.Sprint("a", i), "1")
			w.pod(fmt.Sprint("equal", i), fmt.Sprint("a", i), 5, "0")
		}
		w.node("a-last", "1")
		w.pod("low", "a-last", 1, "0")
		w.build()
		_, outcome := w.preempt(t.Context(), withPriority(named("high"), 5))
		if found := outcome == Preempting; found != (full < maxTried) {
			t.Errorf("after %d nodes: a victim is found: %t", full, found)
		}
	}
}

func TestWhomABudgetProtects(t *testing.T) {
	pod := named("pod")
	pod.Labels = map[string]string{"app": "db"}
	bare := named("bare")
	for name, tc := range map[string]struct {
		change func(*policyv1.PodDisruptionBudget)
		want   bool
	}{
		"its own":               {want: true},
		"nobody elsewhere":      {change: func(b *policyv1.PodDisruptionBudget) { b.Namespace = "elsewhere" }},
		"nobody of another app": {change: func(b *policyv1.PodDisruptionBudget) { b.Spec.Selector.MatchLabels["app"] = "web" }},
		"nobody who was counted": {change: func(b *policyv1.PodDisruptionBudget) {
			b.Status.DisruptedPods = map[string]metav1.Time{"pod": {}}
		}},
		"nobody if it selects all": {change: func(b *policyv1.PodDisruptionBudget) { b.Spec.Selector = &metav1.LabelSelector{} }},
		"nobody if it cannot be understood": {change: func(b *policyv1.PodDisruptionBudget) {
			b.Spec.Selector.MatchExpressions = []metav1.LabelSelectorRequirement{{Key: "app", Operator: "near"}}
		}},
		"no pod without labels": {change: func(b *policyv1.PodDisruptionBudget) {
			b.Spec.Selector = &metav1.LabelSelector{
				MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "app", Operator: metav1.LabelSelectorOpNotIn, Values: []string{"web"}}},
			}
		}, want: true},
	} {
		t.Run(name, func(t *testing.T) {
			b := budget("db", 0)
			if tc.change != nil {
				tc.change(b)
			}
			if got, gotBare := protects(b, pod), protects(b, bare); got != tc.want || gotBare {
				t.Errorf("protects it: %t, one without labels: %t; want %t and false", got, gotBare, tc.want)
			}
		})
	}
}
