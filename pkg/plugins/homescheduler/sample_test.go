// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package homescheduler_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/plugintest"
)

const license corev1.ResourceName = "example.com/license"

// many returns scheduler a of two, whose cluster has 2,000 nodes of 4,000. The last of them has a
// license.
func many(t *testing.T) *plugintest.Scheduler {
	t.Helper()
	s := plugintest.New(t, world(), plugintest.Named("a"))
	logger := klog.FromContext(s.Context())
	for n := range 4000 {
		node := plugintest.MakeNode([]string{"mine", "other"}[n%2], n+2).Obj()
		if n == 3998 {
			node.Status.Allocatable[license] = resource.MustParse("1")
		}
		s.Cache.AddNode(logger, node)
	}
	s.WaitFor("a node", func() bool { return s.Try(pod(0, "a")).Node != "" })
	return s
}

// named returns the nodes that are named for a pod.
func named(t *testing.T, s *plugintest.Scheduler, p *corev1.Pod) sets.Set[string] {
	t.Helper()
	infos, err := s.Framework.SnapshotSharedLister().NodeInfos().List()
	if err != nil {
		t.Fatal(err)
	}
	result, status := pluginOf(t, s).PreFilter(s.Context(), framework.NewCycleState(), p, infos)
	if !status.IsSuccess() {
		t.Fatal(status)
	}
	for name := range result.NodeNames {
		if plugintest.SiteOf(name) != "mine" {
			t.Errorf("node %s is named, which other schedulers look after", name)
		}
	}
	return result.NodeNames
}

func TestAPodThatNoOtherPluginConcernsIsTriedOnSomeNodes(t *testing.T) {
	s := many(t)
	first, second := named(t, s, pod(1, "a")), named(t, s, pod(2, "a"))
	// A tenth of 2,002 nodes.
	if len(first) != 200 || len(second) != 200 || len(first.Intersection(second)) > 0 {
		t.Errorf("%d and %d nodes are named, %d of them both times, want others of 200 each", len(first), len(second), len(first.Intersection(second)))
	}
	for name, change := range map[string]func(*corev1.Pod){
		"one that asks for particular nodes": func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{"a": "b"} },
		"one that asks for the best cluster": func(p *corev1.Pod) {
			p.Annotations = map[string]string{berthv1alpha1.ClusterRankingAnnotation: "-load"}
		},
		"one that asks for a policy": func(p *corev1.Pod) { p.Annotations = map[string]string{berthv1alpha1.PolicyAnnotation: "p"} },
		"one that asks for a ClusterResource": func(p *corev1.Pod) {
			p.Annotations = map[string]string{berthv1alpha1.ClusterResourceAnnotationPrefix + "license": "1"}
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := pod(3, "a")
			change(p)
			if all := named(t, s, p); len(all) != 2002 {
				t.Errorf("%d nodes are named, want all 2002", len(all))
			}
		})
	}
}

func TestAPodThatNoNodeOfASampleTakesIsTriedOnAll(t *testing.T) {
	s := many(t)
	p := pod(1, "a")
	p.Spec.Containers = []corev1.Container{{Resources: corev1.ResourceRequirements{
		Requests: corev1.ResourceList{license: resource.MustParse("1")}, Limits: corev1.ResourceList{license: resource.MustParse("1")},
	}}}
	first := s.Try(p)
	const want = "no node of a first selection could take the pod, trying all nodes of its scheduler"
	if got := strings.Join(first.PostFilter.Reasons(), ", "); first.Node != "" || first.PostFilter.Code() != fwk.UnschedulableAndUnresolvable || got != want {
		t.Fatalf("node %q, %v, want none and %q", first.Node, first.PostFilter, want)
	}
	if second := s.Try(p); second.Node != "mine-4000" {
		t.Errorf("on the second try it goes to %q, want the node that has a license", second.Node)
	}
	s.MustPlace(p)
	if again := named(t, s, p); len(again) == 2002 {
		t.Error("it is remembered that the pod is to be tried on all nodes after it was placed")
	}
}
