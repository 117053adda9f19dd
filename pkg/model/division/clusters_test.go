// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package division_test

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/division"
	"berth.dev/berth/pkg/model/topology"
	"berth.dev/berth/pkg/placement/bundle"
)

// cluster is a Cluster of a tier with one node, which is ready.
func cluster(name, tier string, changes ...func(*berthv1alpha1.Cluster)) berthv1alpha1.Cluster {
	c := berthv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"tier": tier}}}
	c.Spec.Nodes = []string{name}
	for _, change := range changes {
		change(&c)
	}
	return c
}

// places are the Clusters with their nodes.
func places(clusters ...berthv1alpha1.Cluster) *topology.Snapshot {
	nodes := make([]corev1.Node, len(clusters))
	for i := range clusters {
		nodes[i].Name = clusters[i].Name
		nodes[i].Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
	}
	return topology.New(clusters, nodes)
}

// inTier selects the Clusters of a tier, all if that is empty.
func inTier(tier string, weight int32) berthv1alpha1.Subscriber {
	s := berthv1alpha1.Subscriber{Weight: weight}
	if tier != "" {
		s.ClusterAffinity.MatchLabels = map[string]string{"tier": tier}
	}
	return s
}

// preferring are terms by which Clusters of the tiers are preferred, the first one most.
func preferring(tiers ...string) *berthv1alpha1.DividingScheduling {
	dynamic := &berthv1alpha1.DynamicDividing{}
	for i, tier := range tiers {
		dynamic.PreferredClusters = append(dynamic.PreferredClusters, corev1.PreferredSchedulingTerm{
			Weight: int32(10 - i), Preference: corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{
				{Key: "tier", Operator: corev1.NodeSelectorOpIn, Values: []string{tier}},
			}},
		})
	}
	return &berthv1alpha1.DividingScheduling{DynamicDividing: dynamic}
}

func TestSelect(t *testing.T) {
	deleted := func(c *berthv1alpha1.Cluster) { c.DeletionTimestamp = new(metav1.Now()) }
	drained := func(c *berthv1alpha1.Cluster) { c.Spec.Drain = true }
	cordoned := func(c *berthv1alpha1.Cluster) { c.Spec.Unschedulable = true }
	world := places(cluster("a", "store"), cluster("b", "cloud"), cluster("c", "store", cordoned), cluster("d", "store", drained), cluster("e", "store", deleted))
	tests := map[string]struct {
		spec       berthv1alpha1.SubscriptionSpec
		want       []bundle.SelectedCluster
		wantGroups []int
		wantErr    string
	}{
		"no subscribers": {},
		"all that are to stay": {
			spec: berthv1alpha1.SubscriptionSpec{Subscribers: []berthv1alpha1.Subscriber{inTier("", 2)}},
			want: []bundle.SelectedCluster{{Name: "a", Weight: 2, Open: true}, {Name: "b", Weight: 2, Open: true}, {Name: "c", Weight: 2, Cordoned: true}},
		},
		"those of a tier, and weights add up": {
			spec: berthv1alpha1.SubscriptionSpec{Subscribers: []berthv1alpha1.Subscriber{inTier("store", 2), inTier("store", 3)}},
			want: []bundle.SelectedCluster{{Name: "a", Weight: 5, Open: true}, {Name: "c", Weight: 5, Cordoned: true}},
		},
		"preferred ones": {
			spec: berthv1alpha1.SubscriptionSpec{Subscribers: []berthv1alpha1.Subscriber{inTier("", 0)}, DividingScheduling: preferring("cloud", "store")},
			want: []bundle.SelectedCluster{{Name: "a", Preference: 9, Open: true}, {Name: "b", Preference: 10, Open: true}, {Name: "c", Preference: 9, Cordoned: true}},
		},
		"by subgroups, of which one takes all": {
			spec: berthv1alpha1.SubscriptionSpec{SchedulingBySubGroup: new(true), Subscribers: []berthv1alpha1.Subscriber{
				{ClusterAffinity: inTier("store", 0).ClusterAffinity, SubGroupStrategy: &berthv1alpha1.SubGroupStrategy{MinClusters: 2}}, inTier("cloud", 0),
			}},
			want:       []bundle.SelectedCluster{{Name: "a", Open: true}, {Name: "b", Open: true}, {Name: "c", Cordoned: true}},
			wantGroups: []int{2, 0},
		},
		"a strategy of subgroups that is not asked for": {
			spec: berthv1alpha1.SubscriptionSpec{SchedulingBySubGroup: new(false), Subscribers: []berthv1alpha1.Subscriber{
				{ClusterAffinity: inTier("cloud", 0).ClusterAffinity, SubGroupStrategy: &berthv1alpha1.SubGroupStrategy{MinClusters: 2}},
			}},
			want: []bundle.SelectedCluster{{Name: "b", Open: true}},
		},
		"a selector that cannot be understood": {
			spec: berthv1alpha1.SubscriptionSpec{Subscribers: []berthv1alpha1.Subscriber{inTier("", 1), {ClusterAffinity: metav1.LabelSelector{
				MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "tier", Operator: "Near"}},
			}}}},
			wantErr: "spec.subscribers[1].clusterAffinity",
		},
		"a preference that cannot be understood": {
			spec:    berthv1alpha1.SubscriptionSpec{Subscribers: []berthv1alpha1.Subscriber{inTier("", 1)}, DividingScheduling: preferring("not a value")},
			wantErr: "spec.dividingScheduling.dynamicDividing.preferredClusters",
		},
		"more weight than counts": {
			spec: berthv1alpha1.SubscriptionSpec{Subscribers: []berthv1alpha1.Subscriber{inTier("", -1)}}, wantErr: "weight",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, groups, err := division.Select(&tc.spec, world)
			if (err != nil) != (tc.wantErr != "") || err != nil && !strings.Contains(err.Error(), tc.wantErr) {
				t.Fatalf("error %v, want one about %q", err, tc.wantErr)
			}
			slices.SortFunc(got, func(a, b bundle.SelectedCluster) int { return cmp.Compare(a.Name, b.Name) })
			for i := range got {
				if tier := got[i].Labels["tier"]; tier != map[string]string{"a": "store", "b": "cloud", "c": "store"}[got[i].Name] {
					t.Errorf("subgroups select %s by the tier %q", got[i].Name, tier)
				}
				got[i].Labels = nil
			}
			if diff := gocmp.Diff(tc.want, got); diff != "" {
				t.Errorf("clusters (-want +got):\n%s", diff)
			}
			var counts []int
			for i, group := range groups {
				counts = append(counts, group.Clusters)
				if want := tc.spec.Subscribers[i].ClusterAffinity.MatchLabels; !group.Selector.Matches(asSet(want)) {
					t.Errorf("group %d selects %s, want %v", i, group.Selector, want)
				}
			}
			if diff := gocmp.Diff(tc.wantGroups, counts); diff != "" {
				t.Errorf("clusters that the groups take (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDynamicOf(t *testing.T) {
	asked := preferring("store")
	for name, tc := range map[string]struct {
		spec berthv1alpha1.SubscriptionSpec
		want berthv1alpha1.DynamicDividing
	}{
		"nothing":                   {},
		"nothing of free capacity":  {spec: berthv1alpha1.SubscriptionSpec{DividingScheduling: &berthv1alpha1.DividingScheduling{}}},
		"how free capacity is used": {berthv1alpha1.SubscriptionSpec{DividingScheduling: asked}, *asked.DynamicDividing},
	} {
		if diff := gocmp.Diff(tc.want, division.DynamicOf(&tc.spec)); diff != "" {
			t.Errorf("of a spec that says %s (-want +got):\n%s", name, diff)
		}
	}
}

func TestCopies(t *testing.T) {
	for name, tc := range map[string]struct {
		feed berthv1alpha1.Feed
		want bool
	}{
		"a Deployment":                    {berthv1alpha1.Feed{APIVersion: "apps/v1", Kind: "Deployment"}, true},
		"a StatefulSet":                   {berthv1alpha1.Feed{APIVersion: "apps/v1", Kind: "StatefulSet"}, true},
		"a ReplicaSet":                    {berthv1alpha1.Feed{APIVersion: "apps/v1", Kind: "ReplicaSet"}, false},
		"a Job":                           {berthv1alpha1.Feed{APIVersion: "batch/v1", Kind: "Job"}, false},
		"a ConfigMap":                     {berthv1alpha1.Feed{APIVersion: "v1", Kind: "ConfigMap"}, false},
		"a StatefulSet of another group":  {berthv1alpha1.Feed{APIVersion: "apps.kruise.io/v1beta1", Kind: "StatefulSet"}, false},
		"a Deployment of another version": {berthv1alpha1.Feed{APIVersion: "apps/v1beta1", Kind: "Deployment"}, true},
	} {
		if got := division.Copyable(&tc.feed); got != tc.want {
			t.Errorf("%s can be copied: %t, want %t", name, got, tc.want)
		}
	}
	web := berthv1alpha1.Feed{APIVersion: "apps/v1", Kind: "Deployment", Name: "web"}
	want := web
	want.Name = "web-beijing"
	if got := division.CopyOf(&web, "beijing"); got != want {
		t.Errorf("the copy is %+v, want %+v", got, want)
	}
}

// A name that is too long is shortened to the same one each time, and two are told apart.
func TestCopiesHaveNamesThatPodsCanExtend(t *testing.T) {
	web := berthv1alpha1.Feed{Name: strings.Repeat("w", 199) + ".x"}
	a, again, b := division.CopyOf(&web, "beijing").Name, division.CopyOf(&web, "beijing").Name, division.CopyOf(&web, "hangzhou").Name
	if a != again || a == b || len(a) > 253-len("-0123456789-01234") || strings.Contains(a, ".-") {
		t.Errorf("names %q, %q and %q", a, again, b)
	}
}
