// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package dispatch_test

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/placement/dispatch"
)

func TestMatchesGeo(t *testing.T) {
	data, err := os.ReadFile("testdata/geo_match.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases struct {
		Rows []struct {
			Have, Want berthv1alpha1.GeoLocation
			Match      bool
		}
	}
	if err := json.Unmarshal(data, &cases); err != nil {
		t.Fatal(err)
	}
	if len(cases.Rows) == 0 {
		t.Fatal("no cases")
	}
	for i, row := range cases.Rows {
		if got := dispatch.MatchesGeo(row.Have, row.Want); got != row.Match {
			t.Errorf("row %d: %+v for %+v = %v, want %v", i, row.Have, row.Want, got, row.Match)
		}
	}
}

func TestGrants(t *testing.T) {
	union := &berthv1alpha1.ClusterUnion{
		GeoLocations: []berthv1alpha1.GeoLocation{{City: "Bellevue", Country: "US"}, {City: "Berlin", Country: "DE"}},
		CPUCapacity:  berthv1alpha1.CapacityUnion{Total: 100, Max: 64},
	}
	tests := map[string]struct {
		wish dispatch.Preference
		want bool
	}{
		"no wish":                                {dispatch.Preference{}, true},
		"a country that is there":                {dispatch.Preference{Geo: berthv1alpha1.GeoLocation{Country: "DE"}}, true},
		"parts of two places":                    {dispatch.Preference{Geo: berthv1alpha1.GeoLocation{City: "Berlin", Country: "US"}}, false},
		"as many cores as the largest":           {dispatch.Preference{CPU: 64}, true},
		"more cores than any, but not all":       {dispatch.Preference{CPU: 65}, false},
		"memory of which nobody registered some": {dispatch.Preference{Mem: 1 << 40}, true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := tc.wish.Grants(union); got != tc.want {
				t.Errorf("Grants = %v, want %v", got, tc.want)
			}
		})
	}
}

func TestChoose(t *testing.T) {
	tests := map[string]struct {
		candidates []dispatch.Contender
		want       int
	}{
		"nobody": {want: -1},
		"who meets the wish comes first, however busy": {
			[]dispatch.Contender{{Name: "a", Size: 10}, {Name: "b", Grants: true, Load: 1000, Size: 1}}, 1,
		},
		"then who has less to do for its size": {
			[]dispatch.Contender{{Name: "a", Load: 2, Size: 10}, {Name: "b", Load: 3, Size: 20}}, 1,
		},
		"who has no nodes comes last": {
			[]dispatch.Contender{{Name: "a"}, {Name: "b", Load: 1000, Size: 1}}, 1,
		},
		"then the name decides": {
			[]dispatch.Contender{{Name: "b", Load: 1, Size: 1}, {Name: "a", Load: 2, Size: 2}}, 1,
		},
		"the first one": {
			[]dispatch.Contender{{Name: "a", Load: 1, Size: 2}, {Name: "b", Load: 2, Size: 2}, {Name: "c", Load: 3, Size: 2}}, 0,
		},
		"a small one that has more to do for its size": {
			[]dispatch.Contender{{Name: "b", Load: 4, Size: 2}, {Name: "a", Load: 3, Size: 1}}, 0,
		},
		"numbers whose products do not fit": {
			[]dispatch.Contender{{Name: "a", Load: math.MaxInt, Size: math.MaxInt - 1}, {Name: "b", Load: math.MaxInt - 1, Size: math.MaxInt}}, 1,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := dispatch.Choose(tc.candidates); got != tc.want {
				t.Errorf("Choose = %d, want %d", got, tc.want)
			}
		})
	}
}
