// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package nodegrouppolicy_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/stamp"
	"berth.dev/berth/pkg/plugins/nodegrouppolicy"
	"berth.dev/berth/pkg/plugintest"
)

// There are so many nodes elsewhere that the scheduler does not look at all of them for a score.
func TestScheduleAnywayAmongManyNodes(t *testing.T) {
	tests := map[string]struct {
		cordoned []string
		want     map[string]int
	}{
		"the shares come first":                      {want: map[string]int{"beijing": 2, "hangzhou": 3}},
		"the other clusters of the policy come next": {cordoned: []string{"beijing"}, want: map[string]int{"hangzhou": 5}},
		"other nodes come last":                      {cordoned: []string{"beijing", "hangzhou"}, want: map[string]int{"elsewhere": 5}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			d, rs := deployment("nginx", 5)
			s := newTwoSites(t, append(plugintest.Sites(300, "elsewhere"), beijingHangzhou().Anyway().Obj(), d, rs)...)
			cordon(s, tc.cordoned...)
			if diff := cmp.Diff(tc.want, bySite(place(t, s, rs, 0, 5))); diff != "" {
				t.Errorf("replicas by site (-want +got):\n%s", diff)
			}
		})
	}
}

func TestScheduleAnywayGoesBeyondTheShares(t *testing.T) {
	tests := map[string]struct {
		replicas    int32
		before      func(s *plugintest.Scheduler)
		want        map[string]int
		wantCluster string // of the last pod
	}{
		"more pods than replicas go to the clusters of the policy first": {
			replicas: 1, want: map[string]int{"hangzhou": 1, "beijing": 1}, wantCluster: "beijing",
			before: func(s *plugintest.Scheduler) {
				// Beijing is the emptier one for the second pod. Of nodes with the same score the
				// scheduler takes any.
				for i := range 2 {
					s.Add(plugintest.MakePod(fmt.Sprint("large-", i)).Req(map[corev1.ResourceName]string{corev1.ResourceCPU: "16"}).
						Node(fmt.Sprint("hangzhou-", i)).Obj())
				}
			},
		},
		"the share of a cordoned cluster goes to the other one": {
			replicas: 5, want: map[string]int{"hangzhou": 6}, wantCluster: "hangzhou",
			before: func(s *plugintest.Scheduler) { cordon(s, "beijing") },
		},
		"with every cluster cordoned pods go to nodes in no cluster": {
			replicas: 1, want: map[string]int{"elsewhere": 2}, wantCluster: "",
			before: func(s *plugintest.Scheduler) { cordon(s, "beijing", "hangzhou") },
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			d, rs := deployment("nginx", tc.replicas)
			// The Cluster elsewhere is not created: its nodes lie in no cluster.
			objects := slices.Concat(plugintest.Sites(2, "elsewhere")[1:], []runtime.Object{beijingHangzhou().Anyway().Obj(), d, rs})
			s := newTwoSites(t, objects...)
			tc.before(s)
			pods := place(t, s, rs, 0, int(tc.replicas)+1)
			if diff := cmp.Diff(tc.want, bySite(pods)); diff != "" {
				t.Errorf("replicas by site (-want +got):\n%s", diff)
			}
			last := pods[len(pods)-1]
			given, _ := stamp.Of(last)
			want := stamp.Stamp{Policy: "web", Cluster: tc.wantCluster, Seat: stamp.NoSeat}
			if diff := cmp.Diff(want, given); diff != "" {
				t.Errorf("stamp of the pod beyond the shares (-want +got):\n%s", diff)
			}
			if _, set := last.Annotations[berthv1alpha1.SeatAnnotation]; set {
				t.Error("the pod beyond the shares carries a seat")
			}
			if got := last.Annotations[corev1.PodDeletionCost]; got != "-2147483648" {
				t.Errorf("deletion cost of the pod beyond the shares is %s, want the lowest there is", got)
			}
		})
	}
}

// occupyPort puts pods with host port 80 on the two nodes of sites. Host ports are not among what
// is looked at when it is decided whether a cluster can host a pod, so that the decision turns out
// to be wrong only later.
func occupyPort(s *plugintest.Scheduler, sites ...string) {
	for _, site := range sites {
		for i := range 2 {
			node := fmt.Sprintf("%s-%d", site, i)
			s.Add(plugintest.MakePod("web-" + node).HostPort(80).Node(node).Obj())
		}
	}
}

func TestScheduleAnywayTriesAgainWhereSharesAreOfNoUse(t *testing.T) {
	tests := map[string]struct {
		anyway         bool
		wantPostFilter string
		wantSite       string // of the second attempt
	}{
		"ScheduleAnyway": {anyway: true, wantPostFilter: "no cluster with a free place could take the pod, trying the others", wantSite: "beijing"},
		"DoNotSchedule":  {anyway: false, wantPostFilter: "", wantSite: ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			policy := beijingHangzhou()
			if tc.anyway {
				policy.Anyway()
			}
			d, rs := deployment("nginx", 1)
			s := newTwoSites(t, policy.Obj(), d, rs)
			occupyPort(s, "hangzhou")
			pod := plugintest.MakePodOf(rs, 0).HostPort(80).Obj()
			first := s.Try(pod)
			if first.Node != "" {
				t.Fatalf("the pod found %s at once", first.Node)
			}
			if got := ownMessage(first.PostFilter.Message()); got != tc.wantPostFilter {
				t.Errorf("PostFilter says %q, want %q", got, tc.wantPostFilter)
			}
			second := s.Try(pod)
			if got := plugintest.SiteOf(second.Node); got != tc.wantSite {
				t.Errorf("the second attempt leads to %q, want %q", got, tc.wantSite)
			}
			if tc.wantSite == "" {
				return
			}
			if got := seatOf(t, s.Bind(s.Assume(pod, second), second)); got != stamp.NoSeat {
				t.Errorf("the pod beyond the shares has seat %d", got)
			}
		})
	}
}

func TestAfterABindingThatFailedTheSharesComeFirstAgain(t *testing.T) {
	d, rs := deployment("nginx", 1)
	s := newTwoSites(t, beijingHangzhou().Anyway().Obj(), d, rs)
	occupyPort(s, "hangzhou")
	pod := plugintest.MakePodOf(rs, 0).HostPort(80).Obj()
	s.Try(pod)
	second := s.Try(pod)
	s.Forget(s.Assume(pod, second), second)
	if third := s.Try(pod); third.Node != "" || ownMessage(third.PostFilter.Message()) == "" {
		t.Errorf("the pod goes to %q at once", third.Node)
	}
}

// ownMessage drops what DefaultPreemption says.
func ownMessage(message string) string {
	if message == "no cluster with a free place could take the pod, trying the others" {
		return message
	}
	return ""
}

func TestScheduleAnywayGivesUpWhenNothingHelps(t *testing.T) {
	d, rs := deployment("nginx", 1)
	s := newTwoSites(t, beijingHangzhou().Anyway().Obj(), d, rs)
	occupyPort(s, "beijing", "hangzhou")
	pod := plugintest.MakePodOf(rs, 0).HostPort(80).Obj()
	for range 3 {
		if first := s.Try(pod); ownMessage(first.PostFilter.Message()) == "" {
			t.Error("the shares do not come first once something has changed")
		}
		attempt := s.Try(pod)
		if attempt.Node != "" {
			t.Fatalf("the pod found %s", attempt.Node)
		}
		if got := ownMessage(attempt.PostFilter.Message()); got != "" {
			t.Errorf("PostFilter sends the pod through yet another attempt: %q", got)
		}
		if attempt.Fit.Diagnosis.UnschedulablePlugins.Has(nodegrouppolicy.Name) {
			t.Error("the pod is said to be rejected by its policy, which admits every node")
		}
	}
}

func TestOrdinalsGoAnywayToo(t *testing.T) {
	set := plugintest.StatefulSet("db", 5)
	policy := plugintest.MakePolicy("web").Selects("apps/v1", "StatefulSet", "db").Weight(2, "beijing").Weight(3, "hangzhou")
	s := newTwoSites(t, policy.Anyway().Obj(), set)
	cordon(s, "beijing")
	pod := s.MustPlace(plugintest.MakePodOf(set, 1).Obj())
	given, _ := stamp.Of(pod)
	if diff := cmp.Diff(stamp.Stamp{Policy: "web", Cluster: "hangzhou", Seat: stamp.NoSeat}, given); diff != "" {
		t.Errorf("stamp of the pod outside its cluster (-want +got):\n%s", diff)
	}
}

// A pod that found no node anywhere goes where the policy wants it, once there is room there again:
// the many nodes elsewhere, which have room too by then, come last.
func TestAPodThatOnceFoundNothingIsNotAdmittedAnywhereEverAfter(t *testing.T) {
	d, rs := deployment("nginx", 5)
	const elsewhere = 300
	s := newTwoSites(t, append(plugintest.Sites(elsewhere, "elsewhere"), beijingHangzhou().Anyway().Obj(), d, rs)...)
	var blockers []runtime.Object
	for site, nodes := range map[string]int{"beijing": 2, "hangzhou": 2, "elsewhere": elsewhere} {
		for i := range nodes {
			node := fmt.Sprintf("%s-%d", site, i)
			blockers = append(blockers, plugintest.MakePod("web-"+node).HostPort(80).Node(node).Obj())
		}
	}
	s.Add(blockers...)
	pods := make([]*corev1.Pod, 4)
	for i := range pods {
		pods[i] = plugintest.MakePodOf(rs, i).HostPort(80).Obj()
		for range 2 {
			if attempt := s.Try(pods[i]); attempt.Node != "" {
				t.Fatalf("pod %s found %s", pods[i].Name, attempt.Node)
			}
		}
	}
	s.Remove(blockers...)
	for i := range pods {
		pods[i] = s.MustPlace(pods[i])
	}
	if diff := cmp.Diff(map[string]int{"beijing": 2, "hangzhou": 2}, bySite(pods)); diff != "" {
		t.Errorf("replicas by site (-want +got):\n%s", diff)
	}
}
