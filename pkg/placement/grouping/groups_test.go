// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package grouping_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/placement/grouping"
)

type group = berthv1alpha1.ClusterGroup

// site returns a Cluster that has been looked at, with labels, which are given as pairs.
func site(name string, pairs ...string) *berthv1alpha1.Cluster {
	c := &berthv1alpha1.Cluster{}
	c.Name, c.Labels, c.Status.ObservedGeneration = name, map[string]string{}, 1
	for i := 0; i < len(pairs); i += 2 {
		c.Labels[pairs[i]] = pairs[i+1]
	}
	return c
}

// unseen makes of a Cluster one that nobody has looked at yet.
func unseen(c *berthv1alpha1.Cluster) *berthv1alpha1.Cluster {
	c.Status = berthv1alpha1.ClusterStatus{}
	return c
}

func cordoned(c *berthv1alpha1.Cluster) *berthv1alpha1.Cluster {
	c.Spec.Unschedulable = true
	return c
}

func leaving(c *berthv1alpha1.Cluster) *berthv1alpha1.Cluster {
	c.DeletionTimestamp = &metav1.Time{Time: time.Unix(0, 0)}
	return c
}

func in(country string, c *berthv1alpha1.Cluster) *berthv1alpha1.Cluster {
	c.Spec.GeoLocation = &berthv1alpha1.GeoLocation{Country: country}
	return c
}

func selecting(pairs ...string) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: site("", pairs...).Labels}
}

func layoutOf(groups []group, sites ...*berthv1alpha1.Cluster) (*grouping.Layout, error) {
	return grouping.NewLayout(&berthv1alpha1.Placement{ClusterGroups: groups}, "shop/web", grouping.NewSites(sites, nil))
}

func sharesOf(t *testing.T, l *grouping.Layout, n int64) map[string]int64 {
	t.Helper()
	order, err := l.Order()
	if err != nil {
		t.Fatal(err)
	}
	shares, _ := order.Shares(n)
	byName := map[string]int64{}
	for i, n := range shares {
		byName[order.Name(i)] = n
	}
	return byName
}

func TestGroups(t *testing.T) {
	stores := group{Name: "stores", ClusterSelector: selecting("tier", "store"), ReplicasPerCluster: new(int32(1))}
	regions := group{Name: "regions", ClusterSelector: selecting("tier", "region"), Weight: new(int64(3))}
	cloud := group{Name: "cloud", ClusterNames: []string{"cloud-a"}}
	s1, s2, r1, r2 := site("s1", "tier", "store"), site("s2", "tier", "store"), site("r1", "tier", "region"), site("r2", "tier", "region")
	tests := map[string]struct {
		groups       []group
		sites        []*berthv1alpha1.Cluster
		replicas     int64
		want         map[string]int64
		wantEmpty    []string
		wantOverlaps []grouping.Overlap
	}{
		"by labels and names": {
			groups: []group{stores, regions, cloud}, sites: []*berthv1alpha1.Cluster{s1, s2, r1, r2, site("z")},
			replicas: 10, want: map[string]int64{"s1": 1, "s2": 1, "r1": 3, "r2": 3, "cloud-a": 2},
		},
		"a number for the group as a whole": {
			groups: []group{{Name: "regions", ClusterSelector: selecting("tier", "region"), Replicas: new(int32(4))}, cloud},
			sites:  []*berthv1alpha1.Cluster{r1, r2}, replicas: 5, want: map[string]int64{"r1": 2, "r2": 2, "cloud-a": 1},
		},
		"by a field of the Cluster": {
			groups: []group{{Name: "us", ClusterSelector: selecting("geoLocation.country", "US")}},
			sites:  []*berthv1alpha1.Cluster{in("US", site("a")), in("DE", site("b"))}, replicas: 2, want: map[string]int64{"a": 2},
		},
		"all of them": {
			groups: []group{{Name: "all", ClusterSelector: &metav1.LabelSelector{}}},
			sites:  []*berthv1alpha1.Cluster{site("a"), site("b")}, replicas: 2, want: map[string]int64{"a": 1, "b": 1},
		},
		"what is not there yet": {
			groups: []group{stores, regions}, sites: []*berthv1alpha1.Cluster{r1},
			replicas: 2, want: map[string]int64{"r1": 2}, wantEmpty: []string{"stores"},
		},
		"one that goes": {
			groups: []group{stores}, sites: []*berthv1alpha1.Cluster{s1, leaving(site("s2", "tier", "store"))},
			replicas: 2, want: map[string]int64{"s1": 1},
		},
		"one that is cordoned": {
			groups:   []group{stores, regions},
			sites:    []*berthv1alpha1.Cluster{cordoned(site("s1", "tier", "store")), s2, r1, cordoned(site("r2", "tier", "region"))},
			replicas: 4, want: map[string]int64{"s1": 0, "s2": 1, "r1": 3, "r2": 0},
		},
		"in two groups": {
			groups: []group{stores, {Name: "all", ClusterSelector: &metav1.LabelSelector{}}},
			sites:  []*berthv1alpha1.Cluster{s1, r1}, replicas: 4, want: map[string]int64{"s1": 1, "r1": 3},
			wantOverlaps: []grouping.Overlap{{Cluster: "s1", First: "stores", Second: "all"}},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			l, err := layoutOf(tc.groups, tc.sites...)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, sharesOf(t, l, tc.replicas)); diff != "" {
				t.Errorf("shares (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.wantEmpty, l.Empty); diff != "" {
				t.Errorf("empty groups (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.wantOverlaps, l.Overlaps); diff != "" {
				t.Errorf("overlaps (-want +got):\n%s", diff)
			}
		})
	}
}

func TestGroupsAreRefused(t *testing.T) {
	all := &metav1.LabelSelector{}
	tests := map[string]struct {
		group   group
		wantErr string
	}{
		"neither names nor a selector": {group{Name: "a"}, "clusterGroups[1]: give exactly one of clusterSelector and clusterNames"},
		"both":                         {group{Name: "a", ClusterSelector: all, ClusterNames: []string{"x"}}, "exactly one of"},
		"a number and a weight": {
			group{Name: "a", ClusterSelector: all, Weight: new(int64(1)), Replicas: new(int32(1))}, "at most one of weight, replicas",
		},
		"a selector that cannot be understood": {
			group{Name: "a", ClusterSelector: &metav1.LabelSelector{
				MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "tier", Operator: "Like"}},
			}}, "clusterGroups[1].clusterSelector: the selector cannot be understood",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := layoutOf([]group{{Name: "first", ClusterNames: []string{"f"}}, tc.group})
			if err == nil || !strings.Contains(err.Error(), tc.wantErr) {
				t.Errorf("err = %v, want one with %q", err, tc.wantErr)
			}
		})
	}
	many := make([]*berthv1alpha1.Cluster, 10_001)
	for i := range many {
		many[i] = site(fmt.Sprintf("site-%d", i))
	}
	if _, err := layoutOf([]group{{Name: "all", ClusterSelector: all}}, many...); err == nil {
		t.Error("more clusters are taken than can be served")
	}
	if _, err := layoutOf([]group{{Name: "all", ClusterSelector: all}}, many[1:]...); err != nil {
		t.Errorf("as many clusters as can be served are refused: %v", err)
	}
}

// With too few replicas for all of them it is not the first of the alphabet that get one: another
// policy serves other sites.
func TestWhoComesFirstDiffersFromPolicyToPolicy(t *testing.T) {
	var sites []*berthv1alpha1.Cluster
	for i := range 100 {
		sites = append(sites, site(fmt.Sprintf("site-%02d", i)))
	}
	for name, limited := range map[string]group{
		"one replica in each": {ReplicasPerCluster: new(int32(1))},
		"ten are chosen":      {MaxClusters: new(int32(10))},
	} {
		limited.Name, limited.ClusterSelector = "all", &metav1.LabelSelector{}
		placement := &berthv1alpha1.Placement{ClusterGroups: []group{limited}}
		served := map[string]bool{}
		for _, key := range []string{"shop/web", "shop/db", "bank/web"} {
			l, err := grouping.NewLayout(placement, key, grouping.NewSites(sites, nil))
			if err != nil {
				t.Fatal(err)
			}
			for name, n := range sharesOf(t, l, 10) {
				if n > 0 {
					served[name] = true
				}
			}
		}
		if len(served) < 20 {
			t.Errorf("%s: three policies with 10 replicas each serve %d sites", name, len(served))
		}
	}
}
