// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package workload_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

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
