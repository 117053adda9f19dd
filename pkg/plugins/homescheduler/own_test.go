// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package homescheduler_test

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/utils/clock"

	"berth.dev/berth/pkg/plugins/homescheduler"
	"berth.dev/berth/pkg/plugintest"
)

// A scheduler may have a single node, or none.
func TestASchedulerWithFewNodes(t *testing.T) {
	tests := map[string]struct {
		nodes    []runtime.Object
		wantNode string
		wantWhy  string
	}{
		"one": {nodes: []runtime.Object{plugintest.MakeNode("mine", 0).Obj(), plugintest.MakeNode("other", 0).Obj()}, wantNode: "mine-0"},
		"none": {
			nodes:   []runtime.Object{plugintest.MakeNode("other", 0).Obj()},
			wantWhy: "no cluster with nodes is bound to the scheduler of the pod yet",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := plugintest.New(t, append(world()[:4], tc.nodes...), plugintest.Named("a"))
			p := pod(0, "a")
			s.WaitFor("the clusters to be taken up", func() bool { s.Try(p); return podLists(s) > 0 })
			if tc.wantNode != "" {
				s.WaitFor("the node", func() bool { return s.Try(p).Node == tc.wantNode })
				return
			}
			if attempt := s.Try(p); attempt.Node != "" || !strings.Contains(attempt.Why(), tc.wantWhy) {
				t.Errorf("the pod goes to %q, told %q", attempt.Node, attempt.Why())
			}
		})
	}
}

// Other plugins look into the own clusters only.
func TestOwnClusters(t *testing.T) {
	s := plugintest.New(t, world(), plugintest.Named("a"))
	p := pod(0, "a")
	s.WaitFor("a node", func() bool { return s.Try(p).Node != "" })
	own, shared := homescheduler.OwnClusters(s.Try(p).State)
	if mine := slices.Index(own, true); !shared || mine < 0 || slices.Contains(own[mine+1:], true) {
		t.Errorf("own clusters %v, kept to them: %t; want one, true", own, shared)
	}
	if own, shared := homescheduler.OwnClusters(framework.NewCycleState()); shared || own != nil {
		t.Errorf("own clusters %v, kept to them: %t, though nothing was found out", own, shared)
	}
}

// A process that has no name gives up nothing to others while it runs.
func TestWhoBindsUnderTheLease(t *testing.T) {
	var none *homescheduler.Shared
	tests := map[string]struct {
		shared *homescheduler.Shared
		want   bool
	}{
		"no plugin": {none, false}, "without a name": {homescheduler.NewShared("", clock.RealClock{}), false},
		"a Scheduler": {homescheduler.NewShared("a", clock.RealClock{}), true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := tc.shared.Fenced(); got != tc.want {
				t.Errorf("Fenced() = %t, want %t", got, tc.want)
			}
		})
	}
}
