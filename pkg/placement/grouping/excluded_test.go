// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package grouping_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/placement/grouping"
)

func TestTheOthersHaveTheSeatsOfAClusterThatDoesNotMeetTheConstraints(t *testing.T) {
	tests := map[string]struct {
		placement berthv1alpha1.Placement
		want      map[string]int64
		wantWants int64
	}{
		"weights": {
			placement: berthv1alpha1.Placement{StaticWeightList: []weight{{ClusterNames: []string{"c", "b", "a"}, Weight: 1}}},
			want:      map[string]int64{"a": 0, "b": 6, "c": 0},
		},
		"a group": {
			placement: berthv1alpha1.Placement{ClusterGroups: []group{everything(func(*group) {})}},
			want:      map[string]int64{"a": 0, "b": 6, "c": 0},
		},
		"the one that is chosen": {
			placement: berthv1alpha1.Placement{ClusterGroups: []group{everything(func(g *group) { g.MaxClusters = new(int32(1)) })}},
			want:      map[string]int64{"a": 0, "b": 6, "c": 0},
		},
		"a number for each, and the rest for a later tier": {
			placement: berthv1alpha1.Placement{ClusterGroups: []group{
				everything(func(g *group) { g.ReplicasPerCluster = new(int32(2)) }),
				{Name: "later", ClusterNames: []string{"elsewhere"}, Tier: new(int32(1))},
			}},
			want: map[string]int64{"a": 0, "b": 2, "c": 0, "elsewhere": 4}, wantWants: 2,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			tc.placement.Constraints = &berthv1alpha1.ClusterConstraints{ClusterLabels: []string{"geoLocation.country is US"}}
			sites := grouping.NewSites([]*berthv1alpha1.Cluster{in("DE", site("a")), in("US", site("b")), site("c")}, nil)
			l, err := grouping.NewLayout(&tc.placement, "shop/web", sites)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, sharesOf(t, l, 6)); diff != "" {
				t.Errorf("shares (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff([]string{"a", "c"}, l.Excluded); diff != "" || l.Wants.Replicas != tc.wantWants {
				t.Errorf("the clusters want %d, want %d; excluded (-want +got):\n%s", l.Wants.Replicas, tc.wantWants, diff)
			}
		})
	}
}

func TestConstraintsThatCannotBeUnderstoodExcludeNobody(t *testing.T) {
	placement := berthv1alpha1.Placement{
		ClusterGroups: []group{everything(func(*group) {})}, Constraints: &berthv1alpha1.ClusterConstraints{ClusterLabels: []string{"DE"}},
	}
	l, err := grouping.NewLayout(&placement, "shop/web", grouping.NewSites([]*berthv1alpha1.Cluster{site("a")}, nil))
	if err != nil || len(l.Excluded) > 0 {
		t.Errorf("excluded %v, %v", l.Excluded, err)
	}
}
