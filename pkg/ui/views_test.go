// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package ui_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

func TestSitesShowWhatIsWantedCurrentAndShort(t *testing.T) {
	w := newWorld(t)
	w.cluster("beijing", 2)
	w.cluster("hangzhou", 1).Status.Conditions = []metav1.Condition{{
		Type: berthv1alpha1.ClusterReady, LastTransitionTime: metav1.NewTime(time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)),
	}}
	pod := w.deployment("nginx", 5, map[string]int64{"beijing": 2, "hangzhou": 3})
	place(pod("a"), "beijing-0", "nginx", "beijing", 0)
	place(pod("b"), "beijing-1", "nginx", "beijing", 1)
	place(pod("c"), "hangzhou-0", "nginx", "hangzhou", 2)
	want := [][]string{
		{"beijing", "unknown", "", "2", "2", "2", "2", "0", "100%", "-"},
		{"hangzhou", "not ready:", "", "1", "1", "3", "1", "2", "33%", "2026-11-27 12:00:00"},
	}
	if diff := cmp.Diff(want, w.table("/ui/sites", "sites")); diff != "" {
		t.Errorf("sites (-want +got):\n%s", diff)
	}
	want = [][]string{{namespace, "deployment/nginx", "nginx", "3", "1", "2", "33%"}}
	if diff := cmp.Diff(want, w.table("/ui/clusters/hangzhou", "workloads")); diff != "" {
		t.Errorf("the page of a site (-want +got):\n%s", diff)
	}
	want = [][]string{{"beijing", "2", "2", "0", "100%"}, {"hangzhou", "3", "1", "2", "33%"}}
	if diff := cmp.Diff(want, w.table("/ui/namespaces/shop/workloads/deployment/nginx", "clusters")); diff != "" {
		t.Errorf("the page of a workload (-want +got):\n%s", diff)
	}
}

func TestAWorkloadShowsWhatItsPolicySays(t *testing.T) {
	w := newWorld(t)
	w.cluster("beijing", 2)
	pod := w.deployment("nginx", 1, map[string]int64{"hangzhou": 1})
	place(pod("a"), "beijing-0", "nginx", "beijing", 0)
	policy, _ := w.berth[len(w.berth)-1].(*berthv1alpha1.PropagationPolicy)
	policy.Status.Conditions = []metav1.Condition{{
		Type: berthv1alpha1.PolicyPlaced, Status: metav1.ConditionFalse, Reason: berthv1alpha1.ReasonMisplaced, Message: "mode is Never",
	}}
	want := [][]string{{"Placed", "False", "Misplaced", "mode is Never", "-"}}
	if diff := cmp.Diff(want, w.table("/ui/namespaces/shop/workloads/deployment/nginx", "conditions")); diff != "" {
		t.Errorf("the conditions (-want +got):\n%s", diff)
	}
}

func TestTablesSortAndFilter(t *testing.T) {
	w := newWorld(t)
	w.cluster("a", 2)
	w.cluster("b", 10)
	w.cluster("c", 9)
	names := func(query string) string {
		var found []string
		for _, row := range w.table("/ui/sites"+query, "sites") {
			found = append(found, row[0])
		}
		return strings.Join(found, "")
	}
	for query, want := range map[string]string{
		"": "abc", "?sort=sites.nodes": "acb", "?sort=-sites.nodes": "bca", "?q=B": "b", "?q=none-of-them": "", "?sort=nonsense": "abc",
	} {
		if got := names(query); got != want {
			t.Errorf("%q: %q, want %q", query, got, want)
		}
	}
	_, body := w.get("/ui/sites?sort=sites.nodes&q=a")
	sorted := 0
	for _, th := range findAll(findID(t, body, "sites"), "th") {
		if attribute(th, "aria-sort") == "ascending" {
			sorted++
		}
	}
	if sorted != 1 || !strings.Contains(body, "?q=a&amp;sort=-sites.nodes") || !strings.Contains(body, "2 filtered out") {
		t.Errorf("%d columns are said to be sorted, in %s", sorted, body)
	}
}

func TestPoolsShowTheirHolders(t *testing.T) {
	w := newWorld(t)
	w.cluster("beijing", 1)
	w.licences("matlab")
	asker := w.pod("asker")
	asker.Spec.Containers = []corev1.Container{{Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
		berthv1alpha1.ClusterResourceDomain + "/matlab": resource.MustParse("7"),
	}}}}
	want := [][]string{{"matlab", "floating", "unknown", "10", "4", "6", "40%", "1", "-", "0"}}
	if diff := cmp.Diff(want, w.table("/ui/pools", "pools")); diff != "" {
		t.Errorf("pools (-want +got):\n%s", diff)
	}
	want = [][]string{{namespace, "matlab-holder", "floating", "4", "beijing", "beijing-0"}}
	if diff := cmp.Diff(want, w.table("/ui/resources/matlab", "holders")); diff != "" {
		t.Errorf("holders (-want +got):\n%s", diff)
	}
}

func TestApplicationsShowRankingAndMoves(t *testing.T) {
	w := newWorld(t)
	w.cluster("beijing", 1).Labels = map[string]string{"tier": "gold"}
	w.cluster("hangzhou", 1)
	app := &berthv1alpha1.Application{ObjectMeta: w.meta("cart")}
	app.Spec.Constraints.ClusterLabels = []string{"tier is gold"}
	app.Status.ScheduledTo, app.Status.Score, app.Status.Ready = "beijing", new(1.5), "2/3"
	app.Status.Ranking = []berthv1alpha1.RankedPlace{{Name: "beijing", Eligible: true, Score: 1.5}, {Name: "hangzhou"}}
	app.Status.Move = &berthv1alpha1.ApplicationMoveStatus{
		From: "hangzhou", To: "beijing", Step: berthv1alpha1.MoveStart, StartTime: metav1.Unix(1, 0), Deadline: metav1.Unix(2, 0),
	}
	app.Status.KubeControllerTriggered = new(metav1.Unix(1, 0))
	app.Status.Decisions = []berthv1alpha1.ApplicationDecision{{
		Time: metav1.Unix(3, 0), From: "hangzhou", FromScore: new(0.5), To: "beijing", Score: new(1.5),
		Reason: berthv1alpha1.DecisionHigherScore, Message: "a reason",
	}}
	app.Spec.Failover = &berthv1alpha1.Failover{}
	app.Status.FailedOver = []berthv1alpha1.FailedOverCluster{{Cluster: "hangzhou", Time: metav1.Unix(4, 0)}}
	w.berth = append(w.berth, app)
	want := [][]string{{namespace, "cart", "beijing", "1.5", "2/3", "hangzhou to beijing, Start", "beijing 1.5", "-"}}
	if diff := cmp.Diff(want, w.table("/ui/applications", "applications")); diff != "" {
		t.Errorf("applications (-want +got):\n%s", diff)
	}
	const page = "/ui/namespaces/shop/applications/cart"
	want = [][]string{{"1970-01-01 00:00:03", "hangzhou", "0.5", "beijing", "1.5", "HigherScore", "a reason"}}
	if diff := cmp.Diff(want, w.table(page, "decisions")); diff != "" {
		t.Errorf("decisions (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([][]string{{
		"hangzhou", "1970-01-01 00:00:04", "-",
		"nobody has said yet whether it is online; it comes into question again once it has been online for 30m0s",
	}}, w.table(page, "failed-over")); diff != "" {
		t.Errorf("failed over (-want +got):\n%s", diff)
	}
	if _, body := w.get(page); !strings.Contains(body, "Next review") {
		t.Errorf("no next review in %s", body)
	}
	ranking := w.table(page, "ranking")
	if len(ranking) != 2 || ranking[0][0] != "beijing" || ranking[0][1] != "yes" || ranking[1][1] != "no" || ranking[1][4] == "" ||
		ranking[0][2] != "0.1" || ranking[0][3] != "stickiness=1*0.1" {
		t.Errorf("ranking %q", ranking)
	}
}

func TestSubscriptionsShowWhatTheyHaveLeft(t *testing.T) {
	w := newWorld(t)
	w.cluster("beijing", 1)
	w.cluster("hangzhou", 1).Status.Conditions = []metav1.Condition{
		{Type: berthv1alpha1.ClusterOnline, Status: metav1.ConditionTrue, LastTransitionTime: metav1.Unix(60, 0)},
	}
	s := &berthv1alpha1.Subscription{ObjectMeta: w.meta("shop")}
	s.Spec.Feeds = []berthv1alpha1.Feed{{APIVersion: "apps/v1", Kind: "Deployment", Name: "web"}}
	s.Spec.SchedulingStrategy = berthv1alpha1.DividingStrategy
	s.Spec.Failover = &berthv1alpha1.Failover{ReturnAfter: &metav1.Duration{Duration: time.Minute}}
	s.Status.Feeds = []berthv1alpha1.FeedPlacement{{
		Feed: s.Spec.Feeds[0], Replicas: new(int32(3)), Unplaced: 1, Message: "no room",
		Clusters: []berthv1alpha1.FeedClusterReplicas{{Name: "beijing", Replicas: 2}},
	}}
	s.Status.FailedOver = []berthv1alpha1.FailedOverCluster{{Cluster: "hangzhou", Time: metav1.Unix(4, 0)}}
	s.Status.Conditions = []metav1.Condition{{Type: berthv1alpha1.SubscriptionScheduled, Status: "False", Reason: "NoRoom", Message: "for one"}}
	w.berth = append(w.berth, s)
	want := [][]string{{namespace, "shop", "Static", "1", "hangzhou", "NoRoom: for one"}}
	if diff := cmp.Diff(want, w.table("/ui/subscriptions", "subscriptions")); diff != "" {
		t.Errorf("subscriptions (-want +got):\n%s", diff)
	}
	const page = "/ui/namespaces/shop/subscriptions/shop"
	if diff := cmp.Diff([][]string{{"deployment/web", "3", "beijing 2", "1", "no room"}}, w.table(page, "feeds")); diff != "" {
		t.Errorf("feeds (-want +got):\n%s", diff)
	}
	want = [][]string{{
		"hangzhou", "1970-01-01 00:00:04", "1970-01-01 00:02:00",
		"online since 1970-01-01T00:01:00Z, and comes into question again at 1970-01-01T00:02:00Z",
	}}
	if diff := cmp.Diff(want, w.table(page, "failed-over")); diff != "" {
		t.Errorf("failed over (-want +got):\n%s", diff)
	}
}

func TestWaitingPodsAreGroupedByReason(t *testing.T) {
	w := newWorld(t)
	says(w.pod("a"), "0/3 nodes are available: 1 Insufficient cpu, 2 node(s) in no cluster of the policy. no new claims to deallocate, "+
		"preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.")
	says(w.pod("b"), "0/9 nodes are available: 8 node(s) in no cluster of the policy, 1 Insufficient cpu.")
	says(w.pod("c"), "no Scheduler runs")
	w.pod("d")
	w.pod("e").Spec.SchedulerName = "default-scheduler"
	groups := w.table("/ui/waiting", "reasons")
	for i := range groups {
		groups[i] = groups[i][:2]
	}
	want := [][]string{
		{"Insufficient cpu, node(s) in no cluster of the policy", "2"},
		{"no Scheduler runs", "1"}, {"no scheduler has said anything about it yet", "1"},
	}
	if diff := cmp.Diff(want, groups); diff != "" {
		t.Errorf("reasons (-want +got):\n%s", diff)
	}
	if got := w.table("/ui/waiting?reason=no+Scheduler+runs", "pods"); len(got) != 1 || got[0][1] != "c" {
		t.Errorf("the pods of one reason: %q", got)
	}
}

func TestAPodHasItsExplanation(t *testing.T) {
	w := newWorld(t)
	w.cluster("beijing", 1)
	w.cluster("hangzhou", 1)
	pod := w.deployment("nginx", 1, map[string]int64{"beijing": 1})
	says(pod("a"), "0/2 nodes are available: 2 Insufficient cpu.")
	_, body := w.get("/ui/namespaces/shop/pods/a")
	for _, want := range []string{
		"the policy lets it into beijing, and nodes there look usable", "the scheduler says (Unschedulable): 0/2 nodes are available",
	} {
		if !strings.Contains(body, want) {
			t.Errorf("no %q in %s", want, body)
		}
	}
	for _, path := range []string{"/ui/namespaces/shop/pods/none", "/ui/clusters/none", "/ui/namespaces/shop/subscriptions/none", "/ui/nonsense", "/ui/namespaces/x/pods/a", "/elsewhere"} {
		if response, _ := w.get(path); response.StatusCode != http.StatusNotFound {
			t.Errorf("GET %s: status %d", path, response.StatusCode)
		}
	}
}
