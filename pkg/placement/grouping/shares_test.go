// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package grouping_test

import (
	"fmt"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/placement/grouping"
)

// TestSharesOfGroupsFollowTheDocumentation compares each seat of random policies over random sites
// with what the oracle gives away.
func TestSharesOfGroupsFollowTheDocumentation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sites, shut, left := drawSites(t)
		groups := drawGroups(t, sites)
		key := rapid.SampledFrom([]string{"shop/web", "bank/web"}).Draw(t, "key")
		l, err := grouping.NewLayout(&berthv1alpha1.Placement{ClusterGroups: groups}, key, grouping.NewSites(sites, nil), left...)
		if err != nil {
			t.Fatal(err)
		}
		order, err := l.Order()
		if err != nil {
			t.Fatal(err)
		}
		replicas := rapid.Int64Range(0, 60).Draw(t, "replicas")
		o, want := newOracle(groups, sites, key, shut), []string{}
		for range replicas {
			next := o.next()
			if next == "" {
				break
			}
			want = append(want, next)
		}
		got := []string{}
		for _, owner := range order.Seats(replicas) {
			got = append(got, order.Name(int(owner)))
		}
		if !slices.Equal(want, got) {
			t.Fatalf("%d replicas go to\n%v, want\n%v", replicas, got, want)
		}
	})
}

// drawSites draws Clusters, some of which are cordoned or left, and returns the names of those.
func drawSites(t *rapid.T) (sites []*berthv1alpha1.Cluster, shut map[string]bool, left []string) {
	shut = map[string]bool{}
	number := func(name string, most int) string { return strconv.Itoa(rapid.IntRange(0, most).Draw(t, name)) }
	for i := range rapid.IntRange(0, 14).Draw(t, "sites") {
		s := site(fmt.Sprint("site-", i), "in", number("in", 2), "size", number("size", 9), "zone", number("zone", 3), "power", number("power", 2))
		if rapid.IntRange(0, 5).Draw(t, "no zone") == 0 {
			delete(s.Labels, "zone")
		}
		switch rapid.IntRange(0, 9).Draw(t, "state") {
		case 0:
			cordoned(s)
			shut[s.Name] = true
		case 1:
			left = append(left, s.Name)
			shut[s.Name] = true
		}
		sites = append(sites, s)
	}
	return sites, shut, left
}

// drawGroups draws groups of every kind over the sites.
func drawGroups(t *rapid.T, sites []*berthv1alpha1.Cluster) []group {
	groups := make([]group, rapid.IntRange(1, 5).Draw(t, "groups"))
	for i := range groups {
		g := &groups[i]
		*g = group{Name: fmt.Sprint("group-", i), Tier: new(rapid.Int32Range(0, 2).Draw(t, "tier"))}
		if len(sites) > 0 && rapid.Bool().Draw(t, "by name") {
			g.ClusterNames = rapid.SliceOfNDistinct(rapid.Map(rapid.SampledFrom(sites), func(c *berthv1alpha1.Cluster) string { return c.Name }),
				1, min(3, len(sites)), rapid.ID[string]).Draw(t, "names")
		} else {
			g.ClusterSelector = selecting("in", strconv.Itoa(rapid.IntRange(0, 2).Draw(t, "selects")))
		}
		drawNumber(t, g)
		if rapid.Bool().Draw(t, "weighs") {
			g.ClusterWeights = &berthv1alpha1.ClusterWeights{Type: berthv1alpha1.WeighLabel, LabelKey: "size"}
		}
		if rapid.IntRange(0, 2).Draw(t, "limited") == 0 {
			g.MaxClusters = new(rapid.Int32Range(1, 4).Draw(t, "max clusters"))
		}
		for _, key := range []string{"zone", "power"} {
			if rapid.IntRange(0, 2).Draw(t, "spread") == 0 {
				g.SpreadConstraints = append(g.SpreadConstraints, berthv1alpha1.SpreadConstraint{
					Field: berthv1alpha1.SpreadByLabel, LabelKey: key, MinGroups: rapid.Int32Range(1, 4).Draw(t, "min groups"),
				})
			}
		}
	}
	return groups
}

// drawNumber draws what a group is to get.
func drawNumber(t *rapid.T, g *group) {
	switch n := rapid.Int32Range(0, 6).Draw(t, "number"); rapid.IntRange(0, 3).Draw(t, "kind of number") {
	case 0:
		g.Weight = new(int64(n) + 1)
	case 1:
		g.Replicas = &n
	case 2:
		g.ReplicasPerCluster = &n
	}
}
