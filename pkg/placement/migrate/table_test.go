// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package migrate_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/placement/migrate"
)

// machine is a workload of two replicas on its way from berlin to madrid, and its move.
type machine struct {
	migrate.Situation
	now, unschedulable time.Time
	move               *berthv1alpha1.ApplicationMoveStatus
}

var steps = []berthv1alpha1.MoveStep{"Prepare", "Start", "Available", "Shrink", "Done"}

// at returns the workload at a step of a way to move.
func at(way string, step int) *machine {
	start := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	m := &machine{now: start.Add(time.Minute), move: &berthv1alpha1.ApplicationMoveStatus{
		From: "berlin", To: "madrid", StartTime: metav1.NewTime(start), Deadline: metav1.NewTime(start.Add(10 * time.Minute)),
	}}
	two := int64(2)
	m.Target, m.StartFirst, m.Manifest, m.Observed = "madrid", way != "StopFirst", &two, step > 0
	m.StopFirst = !m.StartFirst
	switch way {
	case "in steps":
		m.Surge = 1
		m.Policy, m.Live, m.Pods = shares("madrid=1 berlin"), new([]int64{2, 3, 3, 3, 2}[step]), [](migrate.Pods){
			counted(bound("berlin", 0, 2, 2)), counted(bound("berlin", 1, 2, 2)), counted(bound("madrid", 0, 1, 0), bound("berlin", 1, 2, 2)),
			counted(bound("madrid", 0, 1, 1), bound("berlin", 1, 2, 2)), counted(bound("madrid", 0, 2, 2)),
		}[step]
	case "StopFirst":
		m.Policy, m.Live, m.Pods = shares("madrid"), new([]int64{0, 0, 2, 2, 2}[step]), [](migrate.Pods){
			nil, nil, counted(bound("madrid", 0, 2, 1)), counted(bound("berlin", 0, 2, 2)), counted(bound("madrid", 0, 2, 2)),
		}[step]
		if steps[step] == berthv1alpha1.MoveShrink {
			m.Policy = shares("berlin")
		}
	default:
		if way == "scaled by others" {
			m.Manifest, m.Remembered = nil, &two
		}
		m.Policy, m.Live, m.Pods = shares("madrid>=2 berlin"), new([]int64{2, 4, 4, 4, 2}[step]), [](migrate.Pods){
			counted(bound("berlin", 0, 2, 2)), counted(bound("madrid", 0, 1, 0), bound("berlin", 2, 2, 2)),
			counted(bound("madrid", 0, 2, 1), bound("berlin", 2, 2, 2)), counted(bound("madrid", 0, 2, 2), bound("berlin", 2, 2, 2)),
			counted(bound("madrid", 0, 2, 2)),
		}[step]
	}
	if steps[step] == berthv1alpha1.MoveDone {
		m.Policy = shares("madrid")
	}
	return m
}

// unready returns the pods with those of a cluster not ready.
func (m *machine) unready(cluster string) {
	pods := migrate.Pods{}
	for name, in := range m.Pods {
		n := int(in.Ready)
		if name == cluster {
			n = 0
		}
		first := map[bool]int{true: 0, false: 2}[name == "madrid"]
		for _, pod := range bound(name, first, int(in.Bound), n) {
			pods.Add(pod)
		}
	}
	m.Pods = pods
}

// gone takes the pods of a cluster away.
func (m *machine) gone(cluster string) { delete(m.Pods, cluster) }

// scaled lets others change the number of replicas.
func (m *machine) scaled(n int64) { m.Live = &n }

// wants lets the manifest ask for another number of replicas; where others decide nothing changes.
func (m *machine) wants(n int64) {
	if m.Manifest != nil {
		m.Manifest = &n
	}
}

// events are what may happen on the way.
var events = map[string]func(*machine){
	"nothing":               func(*machine) {},
	"scaled up by others":   func(m *machine) { m.scaled(7) },
	"scaled down":           func(m *machine) { m.scaled(1) },
	"more are wanted":       func(m *machine) { m.wants(3) },
	"fewer are wanted":      func(m *machine) { m.wants(1) },
	"a change of mind":      func(m *machine) { m.Target = "rome" },
	"the way back":          func(m *machine) { m.Target = "berlin" },
	"old pods unready":      func(m *machine) { m.unready("berlin") },
	"old pods gone":         func(m *machine) { m.gone("berlin") },
	"new pods unready":      func(m *machine) { m.unready("madrid") },
	"new pods gone":         func(m *machine) { m.gone("madrid") },
	"no node for 29 s":      func(m *machine) { m.unschedulable = m.now.Add(-29 * time.Second) },
	"no node for 30 s":      func(m *machine) { m.unschedulable = m.now.Add(-30 * time.Second) },
	"the deadline passes":   func(m *machine) { m.now = m.move.Deadline.Time },
	"the policy is edited":  func(m *machine) { m.Policy, m.Observed = shares("rome"), false },
	"the policy is deleted": func(m *machine) { m.Policy, m.Observed, m.Pods = nil, false, nil },
}

// answer returns what the machine does with the workload.
func (m *machine) answer() string {
	verdict := migrate.Review(m.move, &migrate.Facts{
		Now: m.now, Unschedulable: m.unschedulable, StopFirst: m.StopFirst, Stages: []berthv1alpha1.MoveStep{migrate.Stage(&m.Situation)},
	})
	step := migrate.Next(&m.Situation)
	var policy []string
	for _, s := range step.Policy {
		text := strings.Join(s.ClusterNames, ",")
		switch {
		case s.Max != nil && s.Min == nil:
			text += fmt.Sprintf("<=%d", *s.Max)
		case s.Max != nil:
			text += fmt.Sprintf("=%d", *s.Max)
		case s.Min != nil:
			text += fmt.Sprintf(">=%d", *s.Min)
		}
		policy = append(policy, text)
	}
	answer := fmt.Sprintf("%s, %s, %d", verdict.Step, strings.Join(policy, " "), step.Replicas)
	if verdict.GiveUp != "" {
		answer += ", " + verdict.GiveUp
	}
	return answer
}

// answers are what is wanted for each way to move, event and step: the step that the workload is at
// then, the shares and replicas that it is to have, and why the move is given up if it is.
var answers = map[string]map[string][5]string{
	"StartFirst": {
		"a change of mind": {
			"Prepare, rome>=2 berlin, 2", "Prepare, rome>=2 madrid<=1 berlin<=2, 4", "Prepare, rome>=2 madrid<=2 berlin<=2, 4",
			"Prepare, rome>=2 madrid<=2 berlin<=2, 4", "Prepare, rome>=2 madrid, 2",
		},
		"fewer are wanted": {
			"Prepare, madrid>=1 berlin, 2", "Start, madrid>=1 berlin, 4", "Available, madrid>=1 berlin, 4",
			"Shrink, madrid>=1 berlin, 4", "Done, madrid, 1",
		},
		"more are wanted": {
			"Prepare, madrid>=3 berlin, 3", "Start, madrid>=3 berlin, 4", "Available, madrid>=3 berlin, 4",
			"Shrink, madrid>=3 berlin, 4", "Start, madrid, 3",
		},
		"new pods gone": {
			"Prepare, madrid>=2 berlin, 2", "Start, madrid>=2 berlin, 4", "Start, madrid>=2 berlin, 4",
			"Start, madrid>=2 berlin, 4", "Start, madrid, 2",
		},
		"new pods unready": {
			"Prepare, madrid>=2 berlin, 2", "Start, madrid>=2 berlin, 4", "Available, madrid>=2 berlin, 4",
			"Available, madrid>=2 berlin, 4", "Available, madrid, 2",
		},
		"no node for 29 s": {
			"Prepare, madrid>=2 berlin, 2", "Start, madrid>=2 berlin, 4", "Available, madrid>=2 berlin, 4",
			"Shrink, madrid>=2 berlin, 2", "Done, madrid, 2",
		},
		"no node for 30 s": {
			"Prepare, madrid>=2 berlin, 2, Unschedulable", "Start, madrid>=2 berlin, 4, Unschedulable", "Available, madrid>=2 berlin, 4, Unschedulable",
			"Shrink, madrid>=2 berlin, 2", "Done, madrid, 2",
		},
		"nothing": {
			"Prepare, madrid>=2 berlin, 2", "Start, madrid>=2 berlin, 4", "Available, madrid>=2 berlin, 4",
			"Shrink, madrid>=2 berlin, 2", "Done, madrid, 2",
		},
		"old pods gone": {
			"Prepare, madrid, 2", "Start, madrid>=2 berlin, 2", "Available, madrid>=2 berlin, 2",
			"Shrink, madrid>=2 berlin, 2", "Done, madrid, 2",
		},
		"old pods unready": {
			"Prepare, madrid>=2 berlin, 2", "Start, madrid>=2 berlin, 4", "Available, madrid>=2 berlin, 4",
			"Shrink, madrid>=2 berlin, 2", "Done, madrid, 2",
		},
		"scaled down": {
			"Prepare, madrid>=2 berlin, 2", "Start, madrid>=2 berlin, 4", "Available, madrid>=2 berlin, 4",
			"Shrink, madrid>=2 berlin, 2", "Done, madrid, 2",
		},
		"scaled up by others": {
			"Prepare, madrid>=2 berlin, 7", "Start, madrid>=2 berlin, 4", "Available, madrid>=2 berlin, 4",
			"Shrink, madrid>=2 berlin, 2", "Done, madrid, 2",
		},
		"the deadline passes": {
			"Prepare, madrid>=2 berlin, 2, DeadlineExceeded", "Start, madrid>=2 berlin, 4, DeadlineExceeded", "Available, madrid>=2 berlin, 4, DeadlineExceeded",
			"Shrink, madrid>=2 berlin, 2", "Done, madrid, 2",
		},
		"the policy is deleted": {
			"Prepare, madrid, 2", "Prepare, madrid, 2", "Prepare, madrid, 2",
			"Prepare, madrid, 2", "Prepare, madrid, 2",
		},
		"the policy is edited": {
			"Prepare, madrid>=2 berlin, 2", "Prepare, madrid>=2 berlin, 4", "Prepare, madrid>=2 berlin, 4",
			"Prepare, madrid>=2 berlin, 4", "Prepare, madrid, 2",
		},
		"the way back": {
			"Prepare, berlin, 2", "Prepare, berlin>=2 madrid, 4", "Prepare, berlin>=2 madrid, 4",
			"Prepare, berlin>=2 madrid, 4", "Prepare, berlin>=2 madrid, 2",
		},
	},
	"in steps": {
		"a change of mind": {
			"Prepare, rome=1 berlin, 2", "Prepare, rome=1 berlin, 3", "Prepare, rome=1 madrid<=1 berlin<=2, 3",
			"Prepare, rome=1 madrid<=1 berlin<=2, 3", "Prepare, rome=1 madrid, 2",
		},
		"fewer are wanted": {
			"Prepare, madrid>=1 berlin, 2", "Start, madrid>=1 berlin, 3", "Available, madrid>=1 berlin, 3",
			"Shrink, madrid>=1 berlin, 3", "Done, madrid, 1",
		},
		"more are wanted": {
			"Prepare, madrid=1 berlin, 3", "Start, madrid=1 berlin, 3", "Available, madrid=2 berlin, 3",
			"Shrink, madrid=2 berlin, 3", "Start, madrid, 3",
		},
		"new pods gone": {
			"Prepare, madrid=1 berlin, 2", "Start, madrid=1 berlin, 3", "Start, madrid=1 berlin, 3",
			"Start, madrid=1 berlin, 3", "Start, madrid, 2",
		},
		"new pods unready": {
			"Prepare, madrid=1 berlin, 2", "Start, madrid=1 berlin, 3", "Available, madrid=1 berlin, 3",
			"Available, madrid=1 berlin, 3", "Available, madrid, 2",
		},
		"no node for 29 s": {
			"Prepare, madrid=1 berlin, 2", "Start, madrid=1 berlin, 3", "Available, madrid=1 berlin, 3",
			"Shrink, madrid=1 berlin, 2", "Done, madrid, 2",
		},
		"no node for 30 s": {
			"Prepare, madrid=1 berlin, 2, Unschedulable", "Start, madrid=1 berlin, 3, Unschedulable", "Available, madrid=1 berlin, 3, Unschedulable",
			"Shrink, madrid=1 berlin, 2", "Done, madrid, 2",
		},
		"nothing": {
			"Prepare, madrid=1 berlin, 2", "Start, madrid=1 berlin, 3", "Available, madrid=1 berlin, 3",
			"Shrink, madrid=1 berlin, 2", "Done, madrid, 2",
		},
		"old pods gone": {
			"Prepare, madrid, 2", "Start, madrid>=2 berlin, 3", "Available, madrid>=2 berlin, 3",
			"Shrink, madrid>=2 berlin, 3", "Done, madrid, 2",
		},
		"old pods unready": {
			"Prepare, madrid=1 berlin, 2", "Start, madrid=1 berlin, 3", "Available, madrid>=2 berlin, 3",
			"Shrink, madrid>=2 berlin, 3", "Done, madrid, 2",
		},
		"scaled down": {
			"Prepare, madrid=1 berlin, 2", "Start, madrid=1 berlin, 3", "Available, madrid=1 berlin, 3",
			"Shrink, madrid=1 berlin, 2", "Done, madrid, 2",
		},
		"scaled up by others": {
			"Prepare, madrid=1 berlin, 7", "Start, madrid=1 berlin, 3", "Available, madrid=1 berlin, 3",
			"Shrink, madrid=1 berlin, 2", "Done, madrid, 2",
		},
		"the deadline passes": {
			"Prepare, madrid=1 berlin, 2, DeadlineExceeded", "Start, madrid=1 berlin, 3, DeadlineExceeded", "Available, madrid=1 berlin, 3, DeadlineExceeded",
			"Shrink, madrid=1 berlin, 2", "Done, madrid, 2",
		},
		"the policy is deleted": {
			"Prepare, madrid, 2", "Prepare, madrid, 2", "Prepare, madrid, 2",
			"Prepare, madrid, 2", "Prepare, madrid, 2",
		},
		"the policy is edited": {
			"Prepare, madrid=1 berlin, 2", "Prepare, madrid=1 berlin, 3", "Prepare, madrid>=2 berlin, 3",
			"Prepare, madrid>=2 berlin, 3", "Prepare, madrid, 2",
		},
		"the way back": {
			"Prepare, berlin, 2", "Prepare, berlin>=2 madrid, 3", "Prepare, berlin>=2 madrid, 3",
			"Prepare, berlin>=2 madrid, 3", "Prepare, berlin=1 madrid, 2",
		},
	},
	"scaled by others": {
		"a change of mind": {
			"Prepare, rome>=2 berlin, 2", "Prepare, rome>=2 madrid<=1 berlin<=2, 4", "Prepare, rome>=2 madrid<=2 berlin<=2, 4",
			"Prepare, rome>=2 madrid<=2 berlin<=2, 4", "Prepare, rome>=2 madrid, 2",
		},
		"fewer are wanted": {
			"Prepare, madrid>=2 berlin, 2", "Start, madrid>=2 berlin, 4", "Available, madrid>=2 berlin, 4",
			"Shrink, madrid>=2 berlin, 2", "Done, madrid, 2",
		},
		"more are wanted": {
			"Prepare, madrid>=2 berlin, 2", "Start, madrid>=2 berlin, 4", "Available, madrid>=2 berlin, 4",
			"Shrink, madrid>=2 berlin, 2", "Done, madrid, 2",
		},
		"new pods gone": {
			"Prepare, madrid>=2 berlin, 2", "Start, madrid>=2 berlin, 4", "Start, madrid>=2 berlin, 4",
			"Start, madrid>=2 berlin, 4", "Start, madrid, 2",
		},
		"new pods unready": {
			"Prepare, madrid>=2 berlin, 2", "Start, madrid>=2 berlin, 4", "Available, madrid>=2 berlin, 4",
			"Available, madrid>=2 berlin, 4", "Available, madrid, 2",
		},
		"no node for 29 s": {
			"Prepare, madrid>=2 berlin, 2", "Start, madrid>=2 berlin, 4", "Available, madrid>=2 berlin, 4",
			"Shrink, madrid>=2 berlin, 2", "Done, madrid, 2",
		},
		"no node for 30 s": {
			"Prepare, madrid>=2 berlin, 2, Unschedulable", "Start, madrid>=2 berlin, 4, Unschedulable", "Available, madrid>=2 berlin, 4, Unschedulable",
			"Shrink, madrid>=2 berlin, 2", "Done, madrid, 2",
		},
		"nothing": {
			"Prepare, madrid>=2 berlin, 2", "Start, madrid>=2 berlin, 4", "Available, madrid>=2 berlin, 4",
			"Shrink, madrid>=2 berlin, 2", "Done, madrid, 2",
		},
		"old pods gone": {
			"Prepare, madrid, 2", "Start, madrid>=2 berlin, 2", "Available, madrid>=2 berlin, 2",
			"Shrink, madrid>=2 berlin, 2", "Done, madrid, 2",
		},
		"old pods unready": {
			"Prepare, madrid>=2 berlin, 2", "Start, madrid>=2 berlin, 4", "Available, madrid>=2 berlin, 4",
			"Shrink, madrid>=2 berlin, 2", "Done, madrid, 2",
		},
		"scaled down": {
			"Prepare, madrid>=2 berlin, 2", "Start, madrid>=2 berlin, 4", "Available, madrid>=2 berlin, 4",
			"Shrink, madrid>=2 berlin, 2", "Done, madrid, 2",
		},
		"scaled up by others": {
			"Prepare, madrid>=2 berlin, 7", "Start, madrid>=2 berlin, 4", "Available, madrid>=2 berlin, 4",
			"Shrink, madrid>=2 berlin, 2", "Done, madrid, 2",
		},
		"the deadline passes": {
			"Prepare, madrid>=2 berlin, 2, DeadlineExceeded", "Start, madrid>=2 berlin, 4, DeadlineExceeded", "Available, madrid>=2 berlin, 4, DeadlineExceeded",
			"Shrink, madrid>=2 berlin, 2", "Done, madrid, 2",
		},
		"the policy is deleted": {
			"Prepare, madrid, 2", "Prepare, madrid, 2", "Prepare, madrid, 2",
			"Prepare, madrid, 2", "Prepare, madrid, 2",
		},
		"the policy is edited": {
			"Prepare, madrid>=2 berlin, 2", "Prepare, madrid>=2 berlin, 4", "Prepare, madrid>=2 berlin, 4",
			"Prepare, madrid>=2 berlin, 4", "Prepare, madrid, 2",
		},
		"the way back": {
			"Prepare, berlin, 2", "Prepare, berlin>=2 madrid, 4", "Prepare, berlin>=2 madrid, 4",
			"Prepare, berlin>=2 madrid, 4", "Prepare, berlin>=2 madrid, 2",
		},
	},
	"StopFirst": {
		"a change of mind": {"Shrink, rome, 0", "Shrink, rome, 0", "Shrink, madrid, 0", "Shrink, berlin, 0", "Shrink, madrid, 0"},
		"fewer are wanted": {"Prepare, madrid, 0", "Start, madrid, 1", "Done, madrid, 1", "Shrink, berlin, 0", "Done, madrid, 1"},
		"more are wanted":  {"Prepare, madrid, 0", "Start, madrid, 3", "Start, madrid, 3", "Shrink, berlin, 0", "Start, madrid, 3"},
		"new pods gone":    {"Prepare, madrid, 0", "Start, madrid, 2", "Start, madrid, 2", "Shrink, berlin, 0", "Start, madrid, 2"},
		"new pods unready": {
			"Prepare, madrid, 0", "Start, madrid, 2", "Available, madrid, 2",
			"Shrink, berlin, 0", "Available, madrid, 2",
		},
		"no node for 29 s": {"Prepare, madrid, 0", "Start, madrid, 2", "Available, madrid, 2", "Shrink, berlin, 0", "Done, madrid, 2"},
		"no node for 30 s": {
			"Prepare, madrid, 0, Unschedulable", "Start, madrid, 2, Unschedulable", "Available, madrid, 2, Unschedulable",
			"Shrink, berlin, 0, Unschedulable", "Done, madrid, 2",
		},
		"nothing":             {"Prepare, madrid, 0", "Start, madrid, 2", "Available, madrid, 2", "Shrink, berlin, 0", "Done, madrid, 2"},
		"old pods gone":       {"Prepare, madrid, 0", "Start, madrid, 2", "Available, madrid, 2", "Shrink, berlin, 0", "Done, madrid, 2"},
		"old pods unready":    {"Prepare, madrid, 0", "Start, madrid, 2", "Available, madrid, 2", "Shrink, berlin, 0", "Done, madrid, 2"},
		"scaled down":         {"Prepare, madrid, 2", "Start, madrid, 2", "Available, madrid, 2", "Shrink, berlin, 0", "Done, madrid, 2"},
		"scaled up by others": {"Prepare, madrid, 2", "Start, madrid, 2", "Available, madrid, 2", "Shrink, berlin, 0", "Done, madrid, 2"},
		"the deadline passes": {
			"Prepare, madrid, 0, DeadlineExceeded", "Start, madrid, 2, DeadlineExceeded", "Available, madrid, 2, DeadlineExceeded",
			"Shrink, berlin, 0, DeadlineExceeded", "Done, madrid, 2",
		},
		"the policy is deleted": {
			"Shrink, madrid, 2", "Shrink, madrid, 2", "Shrink, madrid, 2",
			"Shrink, madrid, 2", "Shrink, madrid, 2",
		},
		"the policy is edited": {"Shrink, madrid, 0", "Shrink, madrid, 0", "Shrink, rome, 0", "Shrink, rome, 0", "Shrink, rome, 0"},
		"the way back":         {"Shrink, berlin, 0", "Shrink, berlin, 0", "Shrink, madrid, 0", "Done, berlin, 2", "Shrink, madrid, 0"},
	},
}

// TestEveryEventInEveryStep asks for the answer to each event in each step.
func TestEveryEventInEveryStep(t *testing.T) {
	for _, way := range []string{"StartFirst", "in steps", "scaled by others", "StopFirst"} {
		for event, happens := range events {
			for i, step := range steps {
				m := at(way, i)
				happens(m)
				if got, want := m.answer(), answers[way][event][i]; got != want {
					t.Errorf("%s, %s, %s: %q, want %q", way, step, event, got, want)
				}
			}
		}
	}
}
