// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package workload_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth.dev/berth/pkg/model/workload"
)

func TestPods(t *testing.T) {
	type verdicts struct{ finished, lives, pending, ready, unschedulable bool }
	with := func(kind corev1.PodConditionType, status corev1.ConditionStatus, reason string) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			p.Status.Conditions = []corev1.PodCondition{
				{Type: corev1.PodInitialized, Status: corev1.ConditionTrue}, {Type: kind, Status: status, Reason: reason},
			}
		}
	}
	tests := map[string]struct {
		changes []func(*corev1.Pod)
		want    verdicts
	}{
		"bound":                     {want: verdicts{lives: true}},
		"not bound":                 {[]func(*corev1.Pod){pending}, verdicts{lives: true, pending: true}},
		"not bound, terminating":    {[]func(*corev1.Pod){pending, terminating}, verdicts{}},
		"not bound, failed":         {[]func(*corev1.Pod){pending, phase(corev1.PodFailed)}, verdicts{finished: true}},
		"of an unknown phase":       {[]func(*corev1.Pod){phase(corev1.PodUnknown)}, verdicts{lives: true}},
		"succeeded":                 {[]func(*corev1.Pod){phase(corev1.PodSucceeded)}, verdicts{finished: true}},
		"terminating":               {[]func(*corev1.Pod){terminating}, verdicts{}},
		"ready":                     {[]func(*corev1.Pod){with(corev1.PodReady, corev1.ConditionTrue, "")}, verdicts{lives: true, ready: true}},
		"not ready":                 {[]func(*corev1.Pod){with(corev1.PodReady, corev1.ConditionFalse, "")}, verdicts{lives: true}},
		"tried in vain":             {[]func(*corev1.Pod){pending, with(corev1.PodScheduled, corev1.ConditionFalse, corev1.PodReasonUnschedulable)}, verdicts{lives: true, pending: true, unschedulable: true}},
		"gated":                     {[]func(*corev1.Pod){pending, with(corev1.PodScheduled, corev1.ConditionFalse, corev1.PodReasonSchedulingGated)}, verdicts{lives: true, pending: true}},
		"scheduled after a refusal": {[]func(*corev1.Pod){with(corev1.PodScheduled, corev1.ConditionTrue, corev1.PodReasonUnschedulable)}, verdicts{lives: true}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			p := pod("p", nil, tc.changes...)
			got := verdicts{
				workload.Finished(&p), workload.Lives(&p), workload.Pending(&p), workload.Ready(&p), workload.Unschedulable(&p),
			}
			if got != tc.want {
				t.Errorf("got %+v, want %+v", got, tc.want)
			}
		})
	}
}

func TestWhyPending(t *testing.T) {
	waits := func(message string, changes ...func(*corev1.Pod)) *corev1.Pod {
		p := pod("p", nil, append([]func(*corev1.Pod){pending, func(p *corev1.Pod) {
			p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Message: message}}
		}}, changes...)...)
		return &p
	}
	untried := pod("p", nil, pending)
	tests := map[string]struct {
		pods []*corev1.Pod
		want string
	}{
		"none":                          {nil, ""},
		"not tried yet":                 {[]*corev1.Pod{&untried}, ""},
		"one":                           {[]*corev1.Pod{waits("b"), &untried}, "b"},
		"the most common":               {[]*corev1.Pod{waits("a"), waits("b"), waits("b")}, "b"},
		"of equals the first in order":  {[]*corev1.Pod{waits("b"), waits("a")}, "a"},
		"one that is being deleted":     {[]*corev1.Pod{waits("a", terminating)}, ""},
		"one that has got a node since": {[]*corev1.Pod{waits("a", func(p *corev1.Pod) { p.Spec.NodeName = "n" })}, ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := workload.WhyPending(tc.pods); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func TestMaker(t *testing.T) {
	owned, bare := pod("a", ownedBy("apps/v1", "ReplicaSet", "rs")), pod("b", nil)
	if got := workload.Maker(&owned); got != "rs" {
		t.Errorf("the maker of an owned pod is %s", got)
	}
	if got := workload.Maker(&bare); got != "b" {
		t.Errorf("the maker of a bare pod is %s", got)
	}
}

// Since tells by the conditions of a pod since when it is ready, tried in vain, and without a node.
func TestSince(t *testing.T) {
	changed := time.Date(2026, 1, 1, 0, 0, 30, 0, time.UTC)
	born := time.Date(2026, 1, 1, 0, 0, 10, 0, time.UTC)
	with := func(kind corev1.PodConditionType, status corev1.ConditionStatus, reason string, at time.Time) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{
				Type: kind, Status: status, Reason: reason, LastTransitionTime: metav1.NewTime(at),
			})
		}
	}
	refused := with(corev1.PodScheduled, corev1.ConditionFalse, corev1.PodReasonUnschedulable, changed)
	tests := map[string]struct {
		changes                                      []func(*corev1.Pod)
		wantReady, wantUnschedulable, wantUnplacedAt time.Time
	}{
		"not tried yet":         {changes: []func(*corev1.Pod){pending}},
		"tried in vain":         {changes: []func(*corev1.Pod){pending, refused}, wantUnschedulable: changed, wantUnplacedAt: changed},
		"bound since":           {changes: []func(*corev1.Pod){refused}},
		"deleted since":         {changes: []func(*corev1.Pod){pending, refused, terminating}},
		"gated, without a time": {changes: []func(*corev1.Pod){pending, with(corev1.PodScheduled, corev1.ConditionFalse, corev1.PodReasonSchedulingGated, time.Time{})}, wantUnplacedAt: born},
		"said to be scheduled":  {changes: []func(*corev1.Pod){pending, with(corev1.PodScheduled, corev1.ConditionTrue, "", changed)}},
		"ready":                 {changes: []func(*corev1.Pod){with(corev1.PodReady, corev1.ConditionTrue, "", changed)}, wantReady: changed},
		"not ready":             {changes: []func(*corev1.Pod){with(corev1.PodReady, corev1.ConditionFalse, "", changed)}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			p := pod("p", nil, append([]func(*corev1.Pod){bornAt(10)}, tc.changes...)...)
			since, ready := workload.ReadySince(&p)
			if !since.Equal(tc.wantReady) || ready != !tc.wantReady.IsZero() {
				t.Errorf("ready %t since %v, want %v", ready, since, tc.wantReady)
			}
			if got := workload.UnschedulableSince(&p); !got.Equal(tc.wantUnschedulable) {
				t.Errorf("tried in vain since %v, want %v", got, tc.wantUnschedulable)
			}
			if got := workload.UnplacedSince(&p); !got.Equal(tc.wantUnplacedAt) {
				t.Errorf("without a node since %v, want %v", got, tc.wantUnplacedAt)
			}
			bound, other := pod("bound", nil), pod("other", nil, pending, refused)
			var want []*corev1.Pod
			var wantSince []time.Time
			if !tc.wantUnschedulable.IsZero() {
				want, wantSince = []*corev1.Pod{&p}, []time.Time{tc.wantUnschedulable}
			}
			waiting, waits := workload.WaitInVain([]*corev1.Pod{&bound, &p, &other})
			if diff := cmp.Diff(append(want, &other), waiting); diff != "" {
				t.Errorf("pods that wait in vain (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(append(wantSince, changed), waits); diff != "" {
				t.Errorf("since when (-want +got):\n%s", diff)
			}
		})
	}
}

// A pod of a DaemonSet asks for one node by its name; what asks for more or by other means may run
// on several.
func TestNodeOf(t *testing.T) {
	field := func(key string, operator corev1.NodeSelectorOperator, values ...string) corev1.NodeSelectorRequirement {
		return corev1.NodeSelectorRequirement{Key: key, Operator: operator, Values: values}
	}
	term := func(fields ...corev1.NodeSelectorRequirement) corev1.NodeSelectorTerm {
		return corev1.NodeSelectorTerm{MatchFields: fields}
	}
	named := field("metadata.name", corev1.NodeSelectorOpIn, "n1")
	terms := func(terms ...corev1.NodeSelectorTerm) *corev1.Affinity {
		return &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: terms},
		}}
	}
	tests := map[string]struct {
		affinity *corev1.Affinity
		want     string
	}{
		"nothing":                 {},
		"nothing of nodes":        {affinity: &corev1.Affinity{}},
		"nothing required":        {affinity: &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{}}},
		"no term":                 {affinity: terms()},
		"a term without fields":   {affinity: terms(term())},
		"one node":                {affinity: terms(term(named)), want: "n1"},
		"one of two terms":        {affinity: terms(term(named), term(named))},
		"two fields":              {affinity: terms(term(named, named))},
		"another field":           {affinity: terms(term(field("metadata.uid", corev1.NodeSelectorOpIn, "n1")))},
		"any but one":             {affinity: terms(term(field("metadata.name", corev1.NodeSelectorOpNotIn, "n1")))},
		"two nodes":               {affinity: terms(term(field("metadata.name", corev1.NodeSelectorOpIn, "n1", "n2")))},
		"a name that is not told": {affinity: terms(term(field("metadata.name", corev1.NodeSelectorOpIn)))},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			p := pod("p", nil, func(p *corev1.Pod) { p.Spec.Affinity = tc.affinity })
			if got := workload.NodeOf(&p); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}
