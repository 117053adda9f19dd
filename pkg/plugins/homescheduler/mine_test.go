// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package homescheduler

import (
	"testing"

	"k8s.io/utils/clock"

	"berth.dev/berth/pkg/plugins/internal/catalog"
)

// A cluster is used only in the very state in which it was taken up. What is forgotten is not
// relied upon: it may be forgotten a moment later.
func TestWhichClustersAreUsed(t *testing.T) {
	tests := map[string]struct {
		home    *catalog.Home
		adopted int64 // 0 for never
		want    bool
	}{
		"taken up":                        {home: &catalog.Home{Scheduler: "a", Revision: 3}, adopted: 3, want: true},
		"not taken up":                    {home: &catalog.Home{Scheduler: "a", Revision: 3}},
		"taken up in an earlier state":    {home: &catalog.Home{Scheduler: "a", Revision: 3}, adopted: 1},
		"made anew in the same state":     {home: &catalog.Home{Scheduler: "a", UID: "new", Revision: 3}, adopted: 3},
		"without a revision":              {home: &catalog.Home{Scheduler: "a"}},
		"to be given up":                  {home: &catalog.Home{Scheduler: "a", Draining: true, Revision: 3}, adopted: 3},
		"another's, which was made anew":  {home: &catalog.Home{Scheduler: "b", Revision: 3}, adopted: 3},
		"of no scheduler":                 {home: &catalog.Home{Revision: 3}, adopted: 3},
		"gone, or not made yet":           {adopted: 3},
		"another's, and to be given up":   {home: &catalog.Home{Scheduler: "b", Draining: true, Revision: 3}, adopted: 3},
		"another's, and never taken up":   {home: &catalog.Home{Scheduler: "b", Revision: 3}},
		"to be given up in another state": {home: &catalog.Home{Scheduler: "a", Draining: true, Revision: 4}, adopted: 3},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := NewShared("a", clock.RealClock{})
			if tc.adopted > 0 {
				s.adopted["c"] = catalog.Home{Scheduler: "a", Revision: tc.adopted}
			}
			homes := &catalog.Homes{Clusters: map[string]catalog.Home{}}
			if tc.home != nil {
				homes.Clusters["c"] = *tc.home
			}
			if got := s.mineLocked(homes, "c"); got != tc.want {
				t.Errorf("it is used: %t, want %t", got, tc.want)
			}
		})
	}
}
