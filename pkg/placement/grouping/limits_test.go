// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package grouping_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/placement/grouping"
)

func TestPatience(t *testing.T) {
	group := func(tier int32, seconds int) berthv1alpha1.ClusterGroup {
		g := berthv1alpha1.ClusterGroup{Tier: &tier}
		if seconds > 0 {
			g.GiveUpAfter = &metav1.Duration{Duration: time.Duration(seconds) * time.Second}
		}
		return g
	}
	tests := map[string]struct {
		groups []berthv1alpha1.ClusterGroup
		want   []time.Duration
	}{
		"none":                       {[]berthv1alpha1.ClusterGroup{group(0, 0), group(1, 0)}, []time.Duration{0, 0}},
		"of the later tier":          {[]berthv1alpha1.ClusterGroup{group(0, 0), group(1, 60)}, []time.Duration{time.Minute, time.Minute}},
		"of its own":                 {[]berthv1alpha1.ClusterGroup{group(0, 60), group(1, 0)}, []time.Duration{time.Minute, 0}},
		"not of another of the tier": {[]berthv1alpha1.ClusterGroup{group(0, 60), group(0, 0)}, []time.Duration{time.Minute, 0}},
		"the least":                  {[]berthv1alpha1.ClusterGroup{group(0, 60), group(2, 30), group(1, 90)}, []time.Duration{30 * time.Second, 30 * time.Second, 30 * time.Second}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, grouping.Patience(tc.groups)); diff != "" {
				t.Errorf("patience (-want +got):\n%s", diff)
			}
		})
	}
}

// TestLimits holds limits to what they promise, whatever groups there are: no cluster gets more
// than its limit, indexes stay, and nothing is unplaced that another cluster may have.
func TestLimits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		placement, limits, open := drawLimits(t)
		layout, err := grouping.NewLayout(placement, "key", nil)
		if err != nil {
			t.Fatal(err)
		}
		free, err := layout.Order()
		if err != nil {
			t.Fatal(err)
		}
		order, err := layout.Limited(limits)
		if err != nil {
			t.Fatal(err)
		}
		shares, unplaced := order.Shares(int64(rapid.IntRange(0, 40).Draw(t, "replicas")))
		if open && unplaced > 0 {
			t.Errorf("%d replicas are unplaced although a cluster has no limit", unplaced)
		}
		for i, share := range shares {
			if order.Name(i) != free.Name(i) {
				t.Errorf("cluster %d is %s, without limits %s", i, order.Name(i), free.Name(i))
			}
			if limit, limited := limits[order.Name(i)]; limited && share > limit {
				t.Errorf("%s gets %d, and its limit is %d", order.Name(i), share, limit)
			}
		}
	})
}

// drawLimits draws groups of one to three tiers and limits for some of their clusters, and reports
// whether there is one without.
func drawLimits(t *rapid.T) (placement *berthv1alpha1.Placement, limits map[string]int64, open bool) {
	placement, limits = &berthv1alpha1.Placement{}, map[string]int64{}
	names := 0
	for i, tier := range rapid.SliceOfN(rapid.Int32Range(0, 2), 1, 3).Draw(t, "tiers") {
		group := berthv1alpha1.ClusterGroup{Name: string(rune('p' + i)), Tier: new(tier)}
		for range rapid.IntRange(1, 4).Draw(t, "clusters") {
			name := string(rune('a' + names))
			names++
			group.ClusterNames = append(group.ClusterNames, name)
			if rapid.Bool().Draw(t, "limited") {
				limits[name] = int64(rapid.IntRange(0, 5).Draw(t, "limit"))
			} else {
				open = true
			}
		}
		placement.ClusterGroups = append(placement.ClusterGroups, group)
	}
	return placement, limits, open
}

func TestWants(t *testing.T) {
	clusters := []*berthv1alpha1.Cluster{
		{ObjectMeta: metav1.ObjectMeta{Name: "a"}}, {ObjectMeta: metav1.ObjectMeta{Name: "b"}, Spec: berthv1alpha1.ClusterSpec{Unschedulable: true}},
	}
	all := func(change func(*berthv1alpha1.ClusterGroup)) berthv1alpha1.ClusterGroup {
		g := berthv1alpha1.ClusterGroup{Name: "g", ClusterSelector: &metav1.LabelSelector{}}
		change(&g)
		return g
	}
	tests := map[string]struct {
		groups []berthv1alpha1.ClusterGroup
		want   grouping.Wants
	}{
		"each, be it cordoned": {
			[]berthv1alpha1.ClusterGroup{all(func(g *berthv1alpha1.ClusterGroup) { g.ReplicasPerCluster = new(int32(3)) })},
			grouping.Wants{Replicas: 6, PerCluster: true, Clusters: 2, Each: 3},
		},
		"at most one": {
			[]berthv1alpha1.ClusterGroup{all(func(g *berthv1alpha1.ClusterGroup) {
				g.ReplicasPerCluster, g.MaxClusters = new(int32(3)), new(int32(1))
			})},
			grouping.Wants{Replicas: 3, PerCluster: true, Clusters: 1, Each: 3},
		},
		"of those named that exist": {
			[]berthv1alpha1.ClusterGroup{{Name: "g", ClusterNames: []string{"a", "z"}, ReplicasPerCluster: new(int32(1))}},
			grouping.Wants{Replicas: 1, PerCluster: true, Clusters: 1, Each: 1},
		},
		"a number": {
			[]berthv1alpha1.ClusterGroup{all(func(g *berthv1alpha1.ClusterGroup) { g.Replicas = new(int32(3)) })},
			grouping.Wants{Replicas: 3},
		},
		"a weight": {
			[]berthv1alpha1.ClusterGroup{all(func(*berthv1alpha1.ClusterGroup) {})}, grouping.Wants{Shares: true},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			layout, err := grouping.NewLayout(&berthv1alpha1.Placement{ClusterGroups: tc.groups}, "key", grouping.NewSites(clusters, nil))
			if err != nil {
				t.Fatal(err)
			}
			if layout.Wants != tc.want {
				t.Errorf("wants %+v, want %+v", layout.Wants, tc.want)
			}
		})
	}
}
