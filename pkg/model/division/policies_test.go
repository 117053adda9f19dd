// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package division_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/division"
	"berth.dev/berth/pkg/placement/bundle"
	"berth.dev/berth/pkg/placement/divide"
)

func asSet(pairs map[string]string) labels.Set { return pairs }

func feed(apiVersion, kind, name string) berthv1alpha1.Feed {
	return berthv1alpha1.Feed{APIVersion: apiVersion, Kind: kind, Name: name}
}

// weighed is an entry of a staticWeightList for one Cluster. A number below 0 stands for none.
func weighed(name string, weight int64, least, most int32) berthv1alpha1.StaticClusterWeight {
	w := berthv1alpha1.StaticClusterWeight{ClusterNames: []string{name}, Weight: weight}
	if least >= 0 {
		w.Min = &least
	}
	if most >= 0 {
		w.Max = &most
	}
	return w
}

// TestPolicyOfAFeed divides one feed over a, which is closed, b and c, which has no weight.
func TestPolicyOfAFeed(t *testing.T) {
	deployment, set := feed("apps/v1", "Deployment", "web"), feed("apps/v1", "StatefulSet", "db")
	type list = []berthv1alpha1.StaticClusterWeight
	tests := map[string]struct {
		feed     berthv1alpha1.Feed
		strategy divide.Strategy
		input    bundle.Feed
		result   bundle.Result
		division bundle.FeedDivision
		// want is the staticWeightList, nil for no policy that is to be written.
		want        list
		wantDivided string
		wantMode    berthv1alpha1.RebalanceMode
		wantKeep    bool
	}{
		"by weight": {
			feed: deployment, strategy: divide.Static, input: bundle.Feed{Wanted: new(int64(7))},
			want: list{weighed("a", 3, -1, -1), weighed("b", 1, -1, -1)}, wantDivided: "*", wantKeep: true,
		},
		"by weight, of a kind whose number nobody reads": {
			feed: feed("example.com/v1", "Ring", "r"), strategy: divide.Static,
			want: list{weighed("a", 3, -1, -1), weighed("b", 1, -1, -1)}, wantDivided: "*", wantKeep: true,
		},
		"by weight, a Pod": {
			feed: feed("v1", "Pod", "p"), strategy: divide.Static,
			want: list{weighed("a", 3, -1, -1), weighed("b", 1, -1, -1)}, wantDivided: "*", wantKeep: true,
		},
		"by weight, what makes no pods": {feed: feed("v1", "ConfigMap", "c"), strategy: divide.Static},
		"copied": {
			feed: deployment, strategy: divide.Replication, input: bundle.Feed{Wanted: new(int64(7))}, division: bundle.FeedDivision{Home: "b"},
			want: list{weighed("b", 1, -1, -1)}, wantDivided: "*", wantKeep: true,
		},
		"by room": {
			feed: deployment, strategy: divide.Spread, input: bundle.Feed{Wanted: new(int64(7))},
			division: bundle.FeedDivision{Shares: map[string]int64{"b": 4, "c": 3}},
			want:     list{weighed("b", 4, -1, 4), weighed("c", 3, -1, 3)}, wantDivided: "7", wantKeep: true,
		},
		"by room, with seats that are given up first": {
			feed: deployment, strategy: divide.Binpack, input: bundle.Feed{Wanted: new(int64(7))},
			division: bundle.FeedDivision{Shares: map[string]int64{"a": 4, "b": 3}},
			want:     list{weighed("a", 4, -1, 4), weighed("b", 3, 3, 3)}, wantDivided: "7", wantKeep: true,
		},
		"by room, the smallest seat that is kept": {
			feed: deployment, strategy: divide.Binpack, input: bundle.Feed{Wanted: new(int64(5))},
			division: bundle.FeedDivision{Shares: map[string]int64{"a": 4, "b": 1}},
			want:     list{weighed("a", 4, -1, 4), weighed("b", 1, 1, 1)}, wantDivided: "5", wantKeep: true,
		},
		"by room, and there is none": {
			feed: deployment, strategy: divide.Spread, input: bundle.Feed{Wanted: new(int64(7))}, division: bundle.FeedDivision{Shares: map[string]int64{}},
			want:        list{{ClusterNames: []string{"a", "b", "c"}, Weight: 1, Max: new(int32(0))}},
			wantDivided: "7", wantKeep: true,
		},
		"by room, with ordinals": {
			feed: set, strategy: divide.Spread, input: bundle.Feed{Wanted: new(int64(3))}, division: bundle.FeedDivision{Shares: map[string]int64{"b": 3}},
			want: list{weighed("b", 3, -1, 3)}, wantDivided: "3", wantMode: berthv1alpha1.RebalanceNever, wantKeep: true,
		},
		"by weight, with ordinals": {
			feed: set, strategy: divide.Static, input: bundle.Feed{Wanted: new(int64(3))},
			want: list{weighed("a", 3, -1, -1), weighed("b", 1, -1, -1)}, wantDivided: "*", wantKeep: true,
		},
		"by room, of a kind whose number nobody reads": {feed: feed("example.com/v1", "Ring", "r"), strategy: divide.Spread},
		"not known what it wants, divided before": {
			feed: deployment, strategy: divide.Spread, input: bundle.Feed{Obstacle: "not there"},
			division: bundle.FeedDivision{Shares: map[string]int64{}}, wantKeep: true,
		},
		"not known what it wants": {feed: deployment, strategy: divide.Spread, input: bundle.Feed{Obstacle: "not there"}},
		"of a bundle that waits": {
			feed: deployment, strategy: divide.Static, input: bundle.Feed{Wanted: new(int64(7))}, result: bundle.Result{Admission: bundle.Waits},
		},
		"of a bundle that waits again": {
			feed: deployment, strategy: divide.Static, input: bundle.Feed{Wanted: new(int64(7))}, result: bundle.Result{Admission: bundle.Waits},
			division: bundle.FeedDivision{Held: map[string]int64{"a": 1}}, wantKeep: true,
		},
		"where nothing can be divided": {
			feed: deployment, strategy: divide.Static, input: bundle.Feed{Wanted: new(int64(7))}, result: bundle.Result{Problem: &bundle.Problem{}}, wantKeep: true,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := &berthv1alpha1.Subscription{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "s", UID: "uid"}}
			s.Spec.Feeds = []berthv1alpha1.Feed{tc.feed}
			result := tc.result
			result.Clusters = []bundle.SelectedCluster{{Name: "a", Weight: 3}, {Name: "b", Weight: 1, Open: true}, {Name: "c", Open: true}}
			result.Feeds = []bundle.FeedDivision{tc.division}
			outcome := &division.Outcome{
				Object: s, Decision: &result, Input: &bundle.Subscription{Strategy: tc.strategy, Feeds: []bundle.Feed{tc.input}},
			}
			policy, keep := outcome.Policy(0)
			if keep != tc.wantKeep || (policy != nil) != (tc.want != nil) {
				t.Fatalf("policy %v, one that exists stays: %t, want %t", policy, keep, tc.wantKeep)
			}
			if policy == nil {
				return
			}
			if diff := cmp.Diff(tc.want, policy.Spec.Placement.StaticWeightList); diff != "" {
				t.Errorf("weights (-want +got):\n%s", diff)
			}
			if divided := policy.Annotations["berth.dev/divided"]; divided != tc.wantDivided || policy.Spec.Rebalance.Mode != tc.wantMode {
				t.Errorf("for %q replicas, want %q; mode %q, want %q", divided, tc.wantDivided, policy.Spec.Rebalance.Mode, tc.wantMode)
			}
			expectOf(t, s, &tc.feed, policy)
		})
	}
}

// expectOf checks that a policy belongs to its Subscription, and selects its feed and nothing else.
func expectOf(t *testing.T, s *berthv1alpha1.Subscription, ref *berthv1alpha1.Feed, policy *berthv1alpha1.PropagationPolicy) {
	t.Helper()
	selectors := []berthv1alpha1.ResourceSelector{{APIVersion: ref.APIVersion, Kind: ref.Kind, Name: ref.Name}}
	if diff := cmp.Diff(selectors, policy.Spec.ResourceSelectors); diff != "" {
		t.Errorf("selectors (-want +got):\n%s", diff)
	}
	owners := []metav1.OwnerReference{{
		APIVersion: "berth.dev/v1alpha1", Kind: "Subscription", Name: s.Name, UID: s.UID, Controller: new(true),
	}}
	if diff := cmp.Diff(owners, policy.OwnerReferences); diff != "" || policy.Namespace != s.Namespace {
		t.Errorf("in the namespace %s; owners (-want +got):\n%s", policy.Namespace, diff)
	}
}

// Berth sets the mode of a policy that it made for one StatefulSet, so it takes it back as well.
func TestSetsMode(t *testing.T) {
	set, web := berthv1alpha1.ResourceSelector{Kind: "StatefulSet"}, berthv1alpha1.ResourceSelector{Kind: "Deployment"}
	for name, tc := range map[string]struct {
		selectors []berthv1alpha1.ResourceSelector
		want      bool
	}{
		"none": {}, "a StatefulSet": {[]berthv1alpha1.ResourceSelector{set}, true}, "a Deployment": {[]berthv1alpha1.ResourceSelector{web}, false},
		"two of them": {[]berthv1alpha1.ResourceSelector{set, set}, false},
	} {
		policy := &berthv1alpha1.PropagationPolicy{}
		policy.Spec.ResourceSelectors = tc.selectors
		if got := division.SetsMode(policy); got != tc.want {
			t.Errorf("a policy that selects %s: %t, want %t", name, got, tc.want)
		}
	}
}

// What policies and the status say is read back as it was written.
func TestWhatPoliciesTell(t *testing.T) {
	policy := func(weights ...berthv1alpha1.StaticClusterWeight) *berthv1alpha1.PropagationPolicy {
		p := &berthv1alpha1.PropagationPolicy{}
		p.Spec.Placement.StaticWeightList = weights
		return p
	}
	both := weighed("a", 1, -1, 2)
	both.ClusterNames = []string{"a", "b"}
	tests := map[string]struct {
		policy     *berthv1alpha1.PropagationPolicy
		wantShares map[string]int64
		wantHome   string
	}{
		"no policy":                 {},
		"no weights":                {policy: policy(), wantShares: map[string]int64{}},
		"one cluster":               {policy: policy(weighed("b", 1, -1, -1)), wantShares: map[string]int64{}, wantHome: "b"},
		"one cluster with a share":  {policy: policy(weighed("b", 1, -1, 1)), wantShares: map[string]int64{"b": 1}, wantHome: "b"},
		"shares of several":         {policy: policy(weighed("a", 4, -1, 4), weighed("b", 3, 3, 3)), wantShares: map[string]int64{"a": 4, "b": 3}},
		"no share, and another one": {policy: policy(weighed("a", 1, -1, 0), weighed("b", 3, -1, 3)), wantShares: map[string]int64{"b": 3}},
		"weights and a share":       {policy: policy(weighed("a", 1, -1, -1), weighed("b", 3, -1, 3)), wantShares: map[string]int64{"b": 3}},
		"an entry for two clusters": {policy: policy(both), wantShares: map[string]int64{"a": 2, "b": 2}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.wantShares, division.PublishedShares(tc.policy)); diff != "" {
				t.Errorf("shares (-want +got):\n%s", diff)
			}
			if got := division.HomeOf(tc.policy); got != tc.wantHome {
				t.Errorf("home %q, want %q", got, tc.wantHome)
			}
		})
	}
	recorded := &berthv1alpha1.FeedPlacement{Clusters: []berthv1alpha1.FeedClusterReplicas{{Name: "a", Replicas: 1}, {Name: "b"}, {Name: "c", Replicas: -1}}}
	if diff := cmp.Diff(map[string]int64{"a": 1}, division.RecordedShares(recorded)); diff != "" {
		t.Errorf("recorded (-want +got):\n%s", diff)
	}
	if got := division.RecordedShares(nil); len(got) != 0 {
		t.Errorf("a status that tells nothing records %v", got)
	}
}
