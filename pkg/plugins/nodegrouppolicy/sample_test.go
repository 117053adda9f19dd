// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package nodegrouppolicy_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
	st "k8s.io/kubernetes/pkg/scheduler/testing"

	"berth.dev/berth/pkg/plugintest"
)

// newLargeSites returns a scheduler with the sites of beijingHangzhou, which have 150 nodes each,
// and a third one of three.
func newLargeSites(t *testing.T, objects []runtime.Object, options ...plugintest.Option) *plugintest.Scheduler {
	t.Helper()
	objects = append(objects, plugintest.Sites(150, "beijing", "hangzhou")...)
	return plugintest.New(t, append(objects, plugintest.Sites(3, "suzhou")...), options...)
}

// threeSites is a policy for the sites of newLargeSites.
func threeSites() *plugintest.PolicyWrapper {
	return beijingHangzhou().Weight(5, "suzhou")
}

func TestOfManyNodesASampleIsNamed(t *testing.T) {
	d, rs := deployment("nginx", 10)
	s := newLargeSites(t, []runtime.Object{threeSites().Obj(), d, rs})
	pod := plugintest.MakePodOf(rs, 0).Obj()
	seen := sets.New[string]()
	for range 4 {
		names := named(t, s, pod)
		sites := map[string]int{}
		for _, name := range names {
			sites[plugintest.SiteOf(name)]++
		}
		if len(names) < 100 || len(names) > 110 || sites["beijing"] < 40 || sites["hangzhou"] < 40 || sites["suzhou"] < 2 {
			t.Errorf("%d nodes are named, by site %v; want about a hundred, as many of each large site, and some of the small one",
				len(names), sites)
		}
		seen.Insert(names...)
	}
	if len(seen) != 303 {
		t.Errorf("%d nodes have been named in four samples, want all 303", len(seen))
	}
}

// A pod that waits is woken once when a node comes to its cluster, so the cycle that follows must
// not overlook the node.
func TestANodeWithNewLabelsIsFoundAtOnce(t *testing.T) {
	d, rs := deployment("nginx", 10)
	policy := plugintest.MakePolicy("web").Deployment("nginx").Weight(1, "suzhou")
	s := newTwoSites(t, plugintest.Site("suzhou"), policy.Obj(), d, rs)
	for i := range 2 {
		pod := plugintest.MakePodOf(rs, i).Obj()
		if attempt := s.Try(pod); attempt.Node != "" {
			t.Fatalf("the pod goes to %s, which is not in suzhou yet", attempt.Node)
		}
		node := plugintest.MakeNode("beijing", i).Obj()
		plugintest.Update(s, node, func(n *corev1.Node) { n.Labels[plugintest.SiteLabel] = "suzhou" })
		attempt := s.Try(pod)
		if attempt.Node != node.Name {
			t.Errorf("the pod goes to %q, want the node that has come to its cluster; %s", attempt.Node, attempt.Why())
		}
		plugintest.Update(s, node, func(n *corev1.Node) { n.Spec.Unschedulable = true })
	}
}

func TestNoSampleIsTaken(t *testing.T) {
	percentage := strings.Replace(plugintest.Configuration,
		"- schedulerName: berth-scheduler", "- schedulerName: berth-scheduler\n  percentageOfNodesToScore: 60", 1)
	if percentage == plugintest.Configuration {
		t.Fatal("the configuration is not what this test thinks")
	}
	tests := map[string]struct {
		pod           func(p *st.PodWrapper)
		configuration string
	}{
		"for a host port":        {pod: func(p *st.PodWrapper) { p.HostPort(80) }},
		"for a node selector":    {pod: func(p *st.PodWrapper) { p.NodeSelector(map[string]string{"site": "suzhou"}) }},
		"for a volume":           {pod: func(p *st.PodWrapper) { p.PVC("data") }},
		"where there is no room": {pod: func(p *st.PodWrapper) { p.Req(map[corev1.ResourceName]string{corev1.ResourceCPU: "33"}) }},
		"where the profile says": {pod: func(*st.PodWrapper) {}, configuration: percentage},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			d, rs := deployment("nginx", 10)
			var options []plugintest.Option
			if tc.configuration != "" {
				options = append(options, plugintest.WithConfiguration(tc.configuration))
			}
			s := newLargeSites(t, []runtime.Object{threeSites().Obj(), d, rs}, options...)
			pod := plugintest.MakePodOf(rs, 0)
			tc.pod(pod)
			if names := named(t, s, pod.Obj()); names != nil {
				t.Errorf("%d nodes are named", len(names))
			}
		})
	}
}

// keeper is a pod on a node that keeps pods with the label app away from it.
func keeper(node string) *corev1.Pod {
	return plugintest.MakePod("keeper-of-"+node).Node(node).
		PodAntiAffinityExists("app", corev1.LabelHostname, st.PodAntiAffinityWithRequiredReq).Obj()
}

func TestAPodThatNoNodeOfItsSampleCanTakeIsTriedOnAll(t *testing.T) {
	d, rs := deployment("nginx", 10)
	s := newLargeSites(t, []runtime.Object{threeSites().Obj(), d, rs})
	// Nothing but beijing-149 takes the pod, and no look at the room of the nodes tells that.
	const only = "beijing-149"
	for node := range s.Cache.Dump().Nodes {
		if node != only {
			s.Add(keeper(node))
		}
	}
	pod := plugintest.MakePodOf(rs, 0).Label("app", "").Obj()
	first := s.Try(pod)
	if first.Node != "" {
		t.Fatalf("the first sample had the node already: %s", first.Node)
	}
	if got := strings.Join(first.PostFilter.Reasons(), ", "); got != "no node of a first selection could take the pod, trying all nodes of its clusters" {
		t.Errorf("the user is told %q, want %q", got, "no node of a first selection could take the pod, trying all nodes of its clusters")
	}
	second := s.Try(pod)
	if second.Node != only {
		t.Fatalf("the second cycle chose %q, want %s: %s", second.Node, only, second.Why())
	}
	s.Bind(s.Assume(pod, second), second)
	if names := named(t, s, pod); names == nil {
		t.Error("a pod that has found its node is still remembered")
	}
}

func TestTheReasonsOfATryOnAllNodesAreComplete(t *testing.T) {
	d, rs := deployment("nginx", 10)
	s := newLargeSites(t, []runtime.Object{beijingHangzhou().Obj(), d, rs})
	for node := range s.Cache.Dump().Nodes {
		s.Add(keeper(node))
	}
	pod := plugintest.MakePodOf(rs, 0).Label("app", "").Obj()
	s.Try(pod)
	const want = "0/303 nodes are available: 3 node(s) in no cluster of the policy, " +
		"300 node(s) didn't satisfy existing pods anti-affinity rules."
	if got := s.Try(pod).Why(); got != want {
		t.Errorf("the user is told\n%s\nwant\n%s", got, want)
	}
}
