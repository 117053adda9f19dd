// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package chronicle_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/cache/informertest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/controllers/chronicle"
	"berth.dev/berth/pkg/controllers/internal/schemetest"
	"berth.dev/berth/pkg/history"
)

// remembered returns what is remembered of an object after an update, as "DECISION message (for
// X)".
func remembered(t *testing.T, kind string, before, after client.Object) (told []string, entries []history.Entry) {
	t.Helper()
	scheme := schemetest.New()
	synctest.Test(t, func(t *testing.T) {
		informers := &informertest.FakeInformers{Scheme: scheme}
		// The fake is not safe for concurrent use, so the informers are there before they are asked for.
		for gvk := range scheme.AllKnownTypes() {
			if gvk.Group == berthv1alpha1.SchemeGroupVersion.Group && gvk.Version == berthv1alpha1.SchemeGroupVersion.Version {
				_, _ = informers.GetInformerForKind(t.Context(), gvk)
			}
		}
		ring := history.New(history.DefaultLimits(), clocktesting.NewFakePassiveClock(time.Now()))
		past := history.NewBackground(ring)
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { past.Run(ctx) })
		running.Go(func() {
			there := func(context.Context, string) bool { return true }
			if err := chronicle.Follow(ctx, informers, past, there); err != nil {
				t.Error(err)
			}
		})
		synctest.Wait()
		informer, err := informers.FakeInformerFor(t.Context(), after)
		if err != nil {
			t.Fatal(err)
		}
		informer.Update(before, after)
		synctest.Wait()
		about := history.Object{Group: "berth.dev", Kind: kind, Namespace: after.GetNamespace(), Name: after.GetName()}
		entries = ring.Find(about, func(history.Object) bool { return true }).Entries
		cancel()
		running.Wait()
	})
	for _, e := range entries {
		text := fmt.Sprintf("%s %s", e.Decision, e.Message)
		if e.For != nil {
			text += " for " + e.For.Kind + " " + e.For.Name
		}
		told = append(told, text)
	}
	return told, entries
}

func condition(kind string, status metav1.ConditionStatus, reason, message string) []metav1.Condition {
	return []metav1.Condition{{Type: kind, Status: status, Reason: reason, Message: message}}
}

func cluster(change func(*berthv1alpha1.ClusterStatus)) *berthv1alpha1.Cluster {
	c := &berthv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "beijing", UID: "1"}}
	change(&c.Status)
	return c
}

func TestConditionsAndHomes(t *testing.T) {
	ready := func(s *berthv1alpha1.ClusterStatus) {
		s.Conditions = condition("Ready", metav1.ConditionTrue, "NodesReady", "3 of 3")
	}
	for name, test := range map[string]struct {
		before, after func(*berthv1alpha1.ClusterStatus)
		want          []string
	}{
		"a new condition": {func(*berthv1alpha1.ClusterStatus) {}, ready, []string{"NodesReady Ready is True: 3 of 3"}},
		"another message": {
			ready, func(s *berthv1alpha1.ClusterStatus) {
				s.Conditions = condition("Ready", metav1.ConditionTrue, "NodesReady", "2 of 2")
			}, nil,
		},
		"another status": {
			ready, func(s *berthv1alpha1.ClusterStatus) {
				s.Conditions = condition("Ready", metav1.ConditionFalse, "NoNodes", "")
			},
			[]string{"NoNodes Ready is False"},
		},
		"another home": {
			func(s *berthv1alpha1.ClusterStatus) { s.HomeScheduler = "a" }, func(s *berthv1alpha1.ClusterStatus) { s.HomeScheduler = "b" },
			[]string{"HomeChanged from a to b"},
		},
		"no home any more": {
			func(s *berthv1alpha1.ClusterStatus) { s.HomeScheduler = "a" }, func(*berthv1alpha1.ClusterStatus) {},
			[]string{"HomeChanged from a to nobody"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, _ := remembered(t, "Cluster", cluster(test.before), cluster(test.after))
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("remembered (-want +got):\n%s", diff)
			}
		})
	}
}

func application(decisions ...berthv1alpha1.ApplicationDecision) *berthv1alpha1.Application {
	a := &berthv1alpha1.Application{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "1"}}
	a.Status.Decisions = decisions
	a.Status.Ranking = []berthv1alpha1.RankedPlace{
		{Name: "b", Eligible: true, Score: 3.5, Parts: []berthv1alpha1.ScorePart{{Name: "load", Value: 0.7, Weight: 5}}},
		{Name: "c", Reasons: []string{"location is not DE"}},
	}
	return a
}

// A move is remembered with the scores of both clusters, and with what every cluster said.
func TestMovesWithTheirFigures(t *testing.T) {
	high, low := 3.5, 2.1
	first := berthv1alpha1.ApplicationDecision{To: "a", Reason: berthv1alpha1.DecisionFirstChoice, Score: &low}
	moved := berthv1alpha1.ApplicationDecision{
		Time: metav1.NewTime(time.Unix(60, 0)), From: "a", To: "b", Reason: berthv1alpha1.DecisionHigherScore, Score: &high, FromScore: &low,
	}
	got, entries := remembered(t, "Application", application(first), application(moved, first))
	if diff := cmp.Diff([]string{"HigherScore cluster b with score 3.50 instead of a with score 2.10"}, got); diff != "" {
		t.Fatalf("remembered (-want +got):\n%s", diff)
	}
	want := &history.Reasons{Clusters: []history.ClusterReasons{
		{Cluster: "b", Reasons: []history.Reason{{Text: "score 3.50 = load 0.70 * 5.00"}}},
		{Cluster: "c", Reasons: []history.Reason{{Text: "location is not DE"}}},
	}}
	if diff := cmp.Diff(want, entries[0].Reasons); diff != "" {
		t.Errorf("what clusters said (-want +got):\n%s", diff)
	}
	if got, _ := remembered(t, "Application", application(moved, first), application(moved, first)); len(got) > 0 {
		t.Errorf("remembered %v of a choice that stands", got)
	}
}

func policy(change func(*berthv1alpha1.PropagationPolicyStatus)) *berthv1alpha1.PropagationPolicy {
	yes := true
	p := &berthv1alpha1.PropagationPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "p", UID: "1", OwnerReferences: []metav1.OwnerReference{
		{APIVersion: "berth.dev/v1alpha1", Kind: "Application", Name: "web", UID: "2", Controller: &yes},
	}}}
	p.Spec.Failover = &berthv1alpha1.Failover{}
	change(&p.Status)
	return p
}

func TestSharesAndLimits(t *testing.T) {
	ref := berthv1alpha1.WorkloadReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "nginx"}
	shares := func(beijing, hangzhou int32) func(*berthv1alpha1.PropagationPolicyStatus) {
		return func(s *berthv1alpha1.PropagationPolicyStatus) {
			s.Workloads = []berthv1alpha1.WorkloadPlacement{{Ref: ref, Clusters: []berthv1alpha1.ClusterPlacement{
				{Name: "hangzhou", Desired: hangzhou, Current: beijing}, {Name: "beijing", Desired: beijing},
			}}}
		}
	}
	limited := func(s *berthv1alpha1.PropagationPolicyStatus) {
		s.Limited = []berthv1alpha1.LimitedWorkload{{Ref: ref, LimitedBy: "0/3 nodes", Clusters: []berthv1alpha1.LimitedCluster{{Name: "beijing", Replicas: 1}}}}
	}
	none := func(*berthv1alpha1.PropagationPolicyStatus) {}
	for name, test := range map[string]struct {
		before, after func(*berthv1alpha1.PropagationPolicyStatus)
		want          []string
	}{
		"first shares":   {none, shares(2, 3), []string{"SharesChanged Deployment nginx: beijing 2, hangzhou 3 for Application web"}},
		"other shares":   {shares(2, 3), shares(4, 6), []string{"SharesChanged Deployment nginx: beijing 4, hangzhou 6 for Application web"}},
		"the same again": {shares(2, 3), shares(2, 3), nil},
		"a limit": {none, limited, []string{
			"LimitsChanged Deployment nginx: beijing at most 1, because the scheduler says: 0/3 nodes for Application web",
		}},
		"no limit any more": {limited, none, []string{"LimitsChanged Deployment nginx: no cluster is limited any more for Application web"}},
		"a cluster that is left": {none, func(s *berthv1alpha1.PropagationPolicyStatus) {
			s.FailedOver = []berthv1alpha1.FailedOverCluster{{Cluster: "beijing"}}
		}, []string{"FailedOver left because they are offline, until they have been online for 30m0s: beijing for Application web"}},
	} {
		t.Run(name, func(t *testing.T) {
			got, entries := remembered(t, "PropagationPolicy", policy(test.before), policy(test.after))
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("remembered (-want +got):\n%s", diff)
			}
			for _, e := range entries {
				if e.Decision != history.FailedOver && (e.Workload == nil || e.Workload.Group != "apps" || e.Workload.Name != "nginx") {
					t.Errorf("is remembered of %+v, want the Deployment", e.Workload)
				}
			}
		})
	}
}

func licences(capacity, free string, holders int32, grants ...berthv1alpha1.PoolGrant) *berthv1alpha1.ClusterResource {
	r := &berthv1alpha1.ClusterResource{ObjectMeta: metav1.ObjectMeta{Name: "licences", UID: "1"}}
	r.Status.Capacity = []berthv1alpha1.ClusterResourceQuantity{{Name: "all", Quantity: resource.MustParse(capacity)}}
	r.Status.Allocated = []berthv1alpha1.PoolAllocation{
		{Name: "all", Quantity: resource.MustParse("50"), Free: resource.MustParse(free), Holders: holders},
	}
	r.Status.Grants = grants
	return r
}

func TestPools(t *testing.T) {
	grant := berthv1alpha1.PoolGrant{Scheduler: "s1", Pool: "all", Quantity: resource.MustParse("20")}
	for name, test := range map[string]struct {
		before, after *berthv1alpha1.ClusterResource
		want          []string
	}{
		"used up":       {licences("50", "3", 40), licences("50", "0", 43), []string{"UsedUp pool all: 43 pods hold all 50"}},
		"still used up": {licences("50", "0", 43), licences("50", "0", 44), nil},
		"free again":    {licences("50", "0", 43), licences("50", "2", 41), []string{"Free pool all: 2"}},
		"parts free":    {licences("50", "0", 43), licences("50", "2500m", 41), []string{"Free pool all: 2.5"}},
		"larger":        {licences("50", "3", 40), licences("60", "13", 40), []string{"CapacityChanged all 60"}},
		"granted":       {licences("50", "3", 40), licences("50", "3", 40, grant), []string{"GrantsChanged s1 of all: 20"}},
		"to one again":  {licences("50", "3", 40, grant), licences("50", "3", 40), []string{"GrantsChanged one scheduler may give out everything"}},
	} {
		t.Run(name, func(t *testing.T) {
			if got, _ := remembered(t, "ClusterResource", test.before, test.after); strings.Join(got, "|") != strings.Join(test.want, "|") {
				t.Errorf("remembered %q, want %q", got, test.want)
			}
		})
	}
}

func TestClustersThatASubscriptionHasLeft(t *testing.T) {
	left := func(clusters ...string) *berthv1alpha1.Subscription {
		s := &berthv1alpha1.Subscription{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "1"}}
		s.Spec.Failover = &berthv1alpha1.Failover{ReturnAfter: &metav1.Duration{Duration: time.Hour}}
		for _, name := range clusters {
			s.Status.FailedOver = append(s.Status.FailedOver, berthv1alpha1.FailedOverCluster{Cluster: name})
		}
		return s
	}
	for name, test := range map[string]struct {
		before, after *berthv1alpha1.Subscription
		want          []string
	}{
		"one": {
			left(), left("beijing"), []string{"FailedOver left because they are offline, until they have been online for 1h0m0s: beijing"},
		},
		"the same again":   {left("beijing"), left("beijing"), nil},
		"another in place": {left("a", "b"), left("a", "c"), []string{"FailedOver left because they are offline, until they have been online for 1h0m0s: a, c"}},
		"none any more":    {left("beijing"), left(), []string{"FailedOver no cluster is left any more"}},
	} {
		t.Run(name, func(t *testing.T) {
			got, _ := remembered(t, "Subscription", test.before, test.after)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("remembered (-want +got):\n%s", diff)
			}
		})
	}
}
