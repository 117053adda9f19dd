// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package grouping_test

import (
	"testing"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/placement/grouping"
)

func TestSitesStayAsLongAsNothingChanges(t *testing.T) {
	one := func() *berthv1alpha1.Cluster {
		return withRoom("3", withPool(4, withCPU("8", in("US", site("a", "tier", "store")))))
	}
	tests := map[string]struct {
		change   func(*berthv1alpha1.Cluster)
		wantSame bool
	}{
		"nothing":                    {func(*berthv1alpha1.Cluster) {}, true},
		"what no placement looks at": {func(c *berthv1alpha1.Cluster) { c.Annotations = map[string]string{"x": "y"} }, true},
		"the name":                   {func(c *berthv1alpha1.Cluster) { c.Name = "b" }, false},
		"a label":                    {func(c *berthv1alpha1.Cluster) { c.Labels["tier"] = "region" }, false},
		"the country":                {func(c *berthv1alpha1.Cluster) { in("DE", c) }, false},
		"it is leaving":              {func(c *berthv1alpha1.Cluster) { leaving(c) }, false},
		"it is cordoned":             {func(c *berthv1alpha1.Cluster) { cordoned(c) }, false},
		"nobody has looked at it":    {func(c *berthv1alpha1.Cluster) { unseen(c) }, false},
		"its cpu":                    {func(c *berthv1alpha1.Cluster) { withCPU("9", c) }, false},
		"its price":                  {func(c *berthv1alpha1.Cluster) { c.Spec.ServerPrice++ }, false},
		"its room":                   {func(c *berthv1alpha1.Cluster) { withRoom("5", c) }, false},
		"its pool":                   {func(c *berthv1alpha1.Cluster) { withPool(5, c) }, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			before, changed := grouping.NewSites([]*berthv1alpha1.Cluster{one()}, nil), one()
			tc.change(changed)
			if same := grouping.NewSites([]*berthv1alpha1.Cluster{changed}, before) == before; same != tc.wantSame {
				t.Errorf("the sites are those of before: %t, want %t", same, tc.wantSame)
			}
		})
	}
}

func TestNoLayoutEqualsNone(t *testing.T) {
	var none *grouping.Layout
	some, err := layoutOf([]group{everything(func(*group) {})}, site("a"))
	if err != nil {
		t.Fatal(err)
	}
	for other, isSome := range map[*grouping.Layout]bool{none: false, some: true} {
		if none.Equal(other) == isSome || some.Equal(other) != isSome {
			t.Errorf("none equals %v: %t, and some does: %t", other, none.Equal(other), some.Equal(other))
		}
	}
}
