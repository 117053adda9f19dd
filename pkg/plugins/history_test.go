// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package plugins_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/utils/clock"

	"berth.dev/berth/pkg/history"
	"berth.dev/berth/pkg/plugintest"
)

// remembered waits until a pod has so many entries, and returns them.
func remembered(tb testing.TB, ring *history.Ring, object history.Object, n int) []history.Entry {
	tb.Helper()
	var entries []history.Entry
	plugintest.WaitFor(tb, "what is remembered", func() bool {
		entries = ring.Find(object, func(history.Object) bool { return true }).Entries
		return len(entries) >= n
	})
	return entries
}

func about(pod *corev1.Pod) history.Object {
	return history.Object{Kind: "Pod", Namespace: pod.Namespace, Name: pod.Name}
}

func TestSchedulerRemembersWhatItDecides(t *testing.T) {
	d := plugintest.Deployment("nginx", 2)
	rs := plugintest.ReplicaSet(d, "v1")
	policy := plugintest.MakePolicy("web").Deployment("nginx").Weight(1, "beijing").Weight(1, "hangzhou")
	ring := history.New(history.DefaultLimits(), clock.RealClock{})
	s := plugintest.Run(t, append(plugintest.Sites(2, "beijing", "hangzhou"), policy.Obj(), d, rs), plugintest.Remembering(ring))
	pods := []*corev1.Pod{plugintest.MakePodOf(rs, 0).Obj(), plugintest.MakePodOf(rs, 1).Obj(), plugintest.MakePodOf(rs, 2).Obj()}
	for _, pod := range pods[:2] {
		s.Create(pod)
		s.ExpectBound(pod)
		e := remembered(t, ring, about(pod), 1)[0]
		if e.Decision != history.Placed || e.About.UID != pod.UID {
			t.Fatalf("remembered %+v of a pod that was placed", e)
		}
		if p := e.Place; p == nil || p.Policy != "web" || p.Seat == nil || p.Cluster != plugintest.SiteOf(p.Node) {
			t.Errorf("remembered the place %+v of a pod that was placed", p)
		}
	}
	s.Create(pods[2])
	checkUnschedulable(t, remembered(t, ring, about(pods[2]), 1)[0])
	deployment := history.Object{Group: "apps", Kind: "Deployment", Namespace: plugintest.Namespace, Name: "nginx"}
	if got := remembered(t, ring, deployment, 3); len(got) != 3 {
		t.Errorf("%d entries are of the Deployment, want one for each pod", len(got))
	}
}

// checkUnschedulable checks the entry of a pod that none of four nodes takes.
func checkUnschedulable(t *testing.T, e history.Entry) {
	t.Helper()
	if e.Decision != history.Unschedulable || !strings.HasPrefix(e.Message, "0/4 nodes are available: ") || e.Reasons == nil {
		t.Fatalf("remembered %+v of a pod that waits", e)
	}
	if total := nodesOf(e.Reasons); (total != 4) == (e.Reasons.Untried == "") {
		t.Errorf("reasons %+v are of %d nodes, want all 4 or what kept them from being tried", e.Reasons, total)
	}
}

// Attempts with one key are remembered as one, so what differs in the message differs in the key.
func TestKeysOfFailedAttempts(t *testing.T) {
	s := plugintest.New(t, plugintest.Sites(2, "beijing", "hangzhou"))
	cpu, share := fwk.NewStatus(fwk.Unschedulable, "Insufficient cpu"), fwk.NewStatus(fwk.Unschedulable, "node(s) had their share")
	both, absent := fwk.NewStatus(fwk.Unschedulable, "Insufficient cpu", "Insufficient memory"), fwk.NewStatus(fwk.UnschedulableAndUnresolvable, "node(s) in no cluster")
	failure := func(change func(*framework.FitError), statuses ...*fwk.Status) *fwk.Status {
		nodes := map[string]*fwk.Status{}
		for i, status := range statuses {
			nodes[fmt.Sprint("beijing-", i)] = status
		}
		fit := &framework.FitError{NumAllNodes: 4, Diagnosis: framework.Diagnosis{NodeToStatus: framework.NewNodeToStatus(nodes, absent)}}
		change(fit)
		return fwk.NewStatus(fwk.Unschedulable).WithError(fit)
	}
	asIs := func(*framework.FitError) {}
	first := failure(asIs, cpu, share, share)
	for name, test := range map[string]struct {
		other    *fwk.Status
		wantSame bool
	}{
		"the same":                       {failure(asIs, cpu, share, share), true},
		"other nodes with the reasons":   {failure(asIs, share, cpu, share), true},
		"other numbers":                  {failure(asIs, cpu, cpu, share), false},
		"two reasons of a node":          {failure(asIs, both, share, share), false},
		"fewer nodes were tried":         {failure(asIs, cpu, share), false},
		"more nodes":                     {failure(func(f *framework.FitError) { f.NumAllNodes++ }, cpu, share, share), false},
		"preemption says something":      {failure(func(f *framework.FitError) { f.Diagnosis.PostFilterMsg = "no victims" }, cpu, share, share), false},
		"rejected before nodes are seen": {failure(func(f *framework.FitError) { f.Diagnosis.PreFilterMsg = "no policy" }, cpu, share, share), false},
	} {
		t.Run(name, func(t *testing.T) {
			pod := plugintest.MakePod("a").Obj()
			before, _ := s.State.Failed(pod, first)
			now, _ := s.State.Failed(pod, test.other)
			if same := before().Key == now().Key; same != test.wantSame || same != (first.Message() == test.other.Message()) {
				t.Errorf("keys are the same: %t, want %t, of the messages %q and %q", same, test.wantSame, first.Message(), test.other.Message())
			}
		})
	}
}

// nodesOf returns of how many nodes reasons are told.
func nodesOf(reasons *history.Reasons) int {
	total := 0
	for _, c := range reasons.Clusters {
		for _, r := range c.Reasons {
			total += r.Nodes
		}
	}
	return total
}

func TestSchedulerRemembersErrors(t *testing.T) {
	ring := history.New(history.DefaultLimits(), clock.RealClock{})
	s := plugintest.Run(t, plugintest.Sites(1, "beijing"), plugintest.Remembering(ring))
	s.Obstacle.Breaks.Store(true)
	pod := plugintest.MakePod("front").Obj()
	s.Create(pod)
	if e := remembered(t, ring, about(pod), 1)[0]; e.Decision != history.Failed || !strings.Contains(e.Message, "broken") {
		t.Errorf("remembered %+v of an attempt that failed", e)
	}
}

func TestNothingIsRememberedUnlessAsked(t *testing.T) {
	s := plugintest.New(t, plugintest.Sites(1, "beijing"))
	pod := plugintest.MakePod("a").Obj()
	if n := testing.AllocsPerRun(100, func() { s.State.Bound(pod, "beijing-0", nil) }); n != 0 {
		t.Errorf("a scheduler that remembers nothing allocates %v times for it", n)
	}
}

// BenchmarkBound is what remembering adds to the decision on a pod, which takes a scheduling cycle
// and a binding.
func BenchmarkBound(b *testing.B) {
	ring := history.New(history.DefaultLimits(), clock.RealClock{})
	s := plugintest.New(b, plugintest.Sites(1, "beijing"), plugintest.Remembering(ring))
	pod := plugintest.MakePod("a").Obj()
	b.ReportAllocs()
	for b.Loop() {
		s.State.Bound(pod, "beijing-0", nil)
	}
}

// A victim of the stock preemption is told of as one of ClusterResource is, with who asked for it.
func TestSchedulerRemembersVictimsOfTheStockPreemption(t *testing.T) {
	ring := history.New(history.DefaultLimits(), clock.RealClock{})
	s := plugintest.Run(t, plugintest.Sites(1, "beijing"), plugintest.Remembering(ring))
	cpu := map[corev1.ResourceName]string{corev1.ResourceCPU: "20"}
	low := plugintest.MakePod("low").Req(cpu).Priority(1).Obj()
	s.Create(low)
	s.ExpectBound(low)
	high := plugintest.MakePod("high").Req(cpu).Priority(1000).Obj()
	s.Create(high)
	var last history.Entry
	plugintest.WaitFor(t, "the victim to be remembered", func() bool {
		for _, e := range ring.Find(about(low), func(history.Object) bool { return true }).Entries {
			last = e
		}
		return last.Decision == history.Preempted
	})
	if last.For == nil || last.For.UID != high.UID || !strings.Contains(last.Message, "higher priority") {
		t.Errorf("remembered %+v, want that it was for pod high", last)
	}
	if asked := remembered(t, ring, about(high), 1); !slices.ContainsFunc(asked, func(e history.Entry) bool { return e.About.UID == low.UID }) {
		t.Errorf("the history of the pod that asked is %+v, want its victim in it", asked)
	}
	s.ExpectBound(high)
	plugintest.WaitFor(t, "a nomination that is over to be forgotten", func() bool { return s.State.Nominations() == 0 })
}

// A victim is known to be deleted as soon as the scheduler has asked for that, before the attempt
// has ended that asked for it.
func TestAVictimIsTheOneOfTheAttemptThatGoesOn(t *testing.T) {
	ring := history.New(history.DefaultLimits(), clock.RealClock{})
	s := plugintest.New(t, plugintest.Sites(1, "beijing"), plugintest.Remembering(ring))
	cpu := map[corev1.ResourceName]string{corev1.ResourceCPU: "20"}
	low := plugintest.MakePod("low").Req(cpu).Priority(1).Node("beijing-0").Obj()
	if _, err := s.Kube.CoreV1().Pods(low.Namespace).Create(t.Context(), low, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	s.WaitFor("the victim to be known", func() bool { return s.Knows(low) })
	high := plugintest.MakePod("high").Req(cpu).Priority(1000).Obj()
	if attempt := s.Try(high); attempt.Nominated == "" {
		t.Fatalf("no pod makes way: %v", attempt.PostFilter)
	}
	var last history.Entry
	plugintest.WaitFor(t, "the victim to be remembered", func() bool {
		for _, e := range ring.Find(about(low), func(history.Object) bool { return true }).Entries {
			last = e
		}
		return last.Decision == history.Preempted
	})
	if last.For == nil || last.For.UID != high.UID {
		t.Errorf("remembered %+v, want that it was for pod high", last)
	}
}
