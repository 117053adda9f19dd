// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package view_test

import (
	"testing"

	"berth.dev/berth/pkg/plugins/internal/view"
)

func TestShapeChangesWithNodesAndTheirClusters(t *testing.T) {
	infos := infosOf(t)
	sites := &byLabel{map[string]string{"site-0": "beijing", "site-1": "hangzhou"}}
	v := view.New(view.NewReservations(), noPods{}, noHoldings{})
	before := v.Shape()
	for _, step := range []struct {
		what        string
		nodes       int
		membership  view.Membership
		wantAnother bool
	}{
		{"the first look", 3, sites, true},
		{"nothing", 3, sites, false},
		{"a membership with the same answers", 3, &byLabel{sites.clusters}, false},
		{"a node comes", 4, sites, true},
		{"a cluster goes", 4, &byLabel{map[string]string{"site-0": "beijing"}}, true},
		{"a node goes", 3, sites, true},
	} {
		v.Refresh(infos[:step.nodes], step.membership)
		if another := v.Shape() != before; another != step.wantAnother {
			t.Errorf("%s: another shape: %v, want %v", step.what, another, step.wantAnother)
		}
		before = v.Shape()
	}
}
