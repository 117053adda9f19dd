// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package nodegrouppolicy_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/plugintest"
)

// withCordoned returns a scheduler with the sites, of two nodes each, of which some are cordoned.
func withCordoned(t *testing.T, sites, cordoned []string, objects ...runtime.Object) *plugintest.Scheduler {
	t.Helper()
	all := plugintest.Sites(2, sites...)
	for _, object := range all {
		if c, ok := object.(*berthv1alpha1.Cluster); ok {
			c.Spec.Unschedulable = slices.Contains(cordoned, c.Name)
		}
	}
	return plugintest.New(t, append(all, objects...))
}

func TestSharesOfCordonedClustersGoToTheOthers(t *testing.T) {
	tests := map[string]struct {
		policy   *plugintest.PolicyWrapper
		cordoned []string
		want     map[string]int
		wantWhy  string
	}{
		"one of two": {policy: beijingHangzhou(), cordoned: []string{"beijing"}, want: map[string]int{"hangzhou": 5}},
		"all":        {policy: beijingHangzhou(), cordoned: []string{"beijing", "hangzhou"}, want: map[string]int{}, wantWhy: "4 node(s) in cordoned clusters"},
		"anyway, all of the policy and one more": {
			policy: beijingHangzhou().Anyway(), cordoned: []string{"beijing", "hangzhou", "shanghai"}, want: map[string]int{"wuhan": 5},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			d, rs := deployment("nginx", 5)
			s := withCordoned(t, []string{"beijing", "hangzhou", "shanghai", "wuhan"}, tc.cordoned, tc.policy.Obj(), d, rs)
			if diff := cmp.Diff(tc.want, bySite(place(t, s, rs, 0, 5))); diff != "" {
				t.Errorf("replicas by site (-want +got):\n%s", diff)
			}
			if tc.wantWhy == "" {
				return
			}
			if why := s.Try(plugintest.MakePodOf(rs, 9).Obj()).Why(); !strings.Contains(why, tc.wantWhy) {
				t.Errorf("the pod is told %q, want %q", why, tc.wantWhy)
			}
		})
	}
}

// What is closed is closed for as long as the cluster is cordoned.
func TestAClusterThatIsNotCordonedAnyLongerHasItsShareAgain(t *testing.T) {
	d, rs := deployment("nginx", 5)
	s := withCordoned(t, []string{"beijing", "hangzhou"}, []string{"beijing"}, beijingHangzhou().Obj(), d, rs)
	if diff := cmp.Diff(map[string]int{"hangzhou": 3}, bySite(place(t, s, rs, 0, 3))); diff != "" {
		t.Fatalf("replicas by site (-want +got):\n%s", diff)
	}
	clusters := s.Berth.BerthV1alpha1().Clusters()
	c, err := clusters.Get(t.Context(), "beijing", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	c.Spec.Unschedulable = false
	c.Generation++
	if _, err := clusters.Update(t.Context(), c, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	next := plugintest.MakePodOf(rs, 3).Obj()
	s.WaitFor("the share of beijing", func() bool { return plugintest.SiteOf(s.Try(next).Node) == "beijing" })
}

func TestAnOrdinalLeavesACordonedCluster(t *testing.T) {
	set := plugintest.StatefulSet("db", 5)
	policy := plugintest.MakePolicy("db").Selects("apps/v1", "StatefulSet", "db").Weight(2, "beijing").Weight(3, "hangzhou")
	s := withCordoned(t, []string{"beijing", "hangzhou"}, []string{"hangzhou"}, policy.Obj(), set)
	if diff := cmp.Diff(map[string]int{"beijing": 5}, bySite(place(t, s, set, 0, 5))); diff != "" {
		t.Errorf("replicas by site (-want +got):\n%s", diff)
	}
}

func TestPodsWithoutAPolicyKeepOffCordonedClusters(t *testing.T) {
	tolerates := func(pod *corev1.Pod) {
		pod.Spec.Tolerations = []corev1.Toleration{{Key: corev1.TaintNodeUnschedulable, Operator: corev1.TolerationOpExists}}
	}
	// Only beijing has the label that the pod asks for.
	inBeijing := func(pod *corev1.Pod) { pod.Spec.NodeSelector = map[string]string{plugintest.SiteLabel: "beijing"} }
	tests := map[string]struct {
		change   []func(*corev1.Pod)
		objects  []runtime.Object
		wantSite string
		wantWhy  string
	}{
		"any will do":            {wantSite: "hangzhou"},
		"no other will do":       {change: []func(*corev1.Pod){inBeijing}, wantWhy: "2 node(s) in cordoned clusters"},
		"a toleration":           {change: []func(*corev1.Pod){inBeijing, tolerates}, wantSite: "beijing"},
		"policies of other pods": {objects: []runtime.Object{beijingHangzhou().Obj()}, wantSite: "hangzhou"},
		"an owner that is not known": {
			change: []func(*corev1.Pod){func(pod *corev1.Pod) {
				_, rs := deployment("ghost", 1)
				pod.OwnerReferences = plugintest.MakePodOf(rs, 0).Obj().OwnerReferences
			}},
			wantSite: "hangzhou",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := withCordoned(t, []string{"beijing", "hangzhou"}, []string{"beijing"}, tc.objects...)
			pod := plugintest.MakePod("task").Obj()
			for _, change := range tc.change {
				change(pod)
			}
			attempt := s.Try(pod)
			if got := plugintest.SiteOf(attempt.Node); got != tc.wantSite || !strings.Contains(attempt.Why(), tc.wantWhy) {
				t.Errorf("the pod goes to %q and is told %q, want %q and %q", got, attempt.Why(), tc.wantSite, tc.wantWhy)
			}
		})
	}
}

// A pod of higher priority must not push another one out of a cluster that it cannot enter.
func TestNobodyIsPreemptedInACordonedCluster(t *testing.T) {
	s := withCordoned(t, []string{"beijing"}, []string{"beijing"})
	for _, name := range []string{"low-0", "low-1"} {
		s.Add(plugintest.MakePod(name).Req(map[corev1.ResourceName]string{corev1.ResourceCPU: "32"}).Node("beijing-" + name[4:]).Obj())
	}
	attempt := s.Try(plugintest.MakePod("high").Priority(100).Req(map[corev1.ResourceName]string{corev1.ResourceCPU: "1"}).Obj())
	if attempt.Node != "" || !strings.Contains(attempt.Why(), "2 node(s) in cordoned clusters") {
		t.Errorf("the pod goes to %q and is told %q", attempt.Node, attempt.Why())
	}
}
