// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package homescheduler

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/plugins/internal/catalog"
)

// TestARoleIsToldOnceItHasSettled looks at pictures in turn, each of them for some time.
func TestARoleIsToldOnceItHasSettled(t *testing.T) {
	a := &berthv1alpha1.Scheduler{ObjectMeta: metav1.ObjectMeta{Name: "a"}}
	type period struct {
		homes *catalog.Homes
		looks int
	}
	alone, beside, gone := &catalog.Homes{}, &catalog.Homes{Shared: true, Other: a}, &catalog.Homes{Shared: true}
	for name, tc := range map[string]struct {
		periods []period
		want    []string
	}{
		"alone":                               {periods: []period{{nil, 20}, {alone, 20}}},
		"a Scheduler":                         {periods: []period{{alone, 1}, {beside, 50}}, want: []string{"StandsBack a"}},
		"one that comes and goes":             {periods: []period{{beside, 50}, {alone, 50}}, want: []string{"StandsBack a", "TakesOver a"}},
		"one whose process has yet to start":  {periods: []period{{beside, 3}, {alone, 9}, {beside, 50}}, want: []string{"StandsBack a"}},
		"one that is gone at once":            {periods: []period{{beside, 3}, {alone, 50}}},
		"one that is away for a moment":       {periods: []period{{beside, 50}, {alone, 3}, {beside, 50}}, want: []string{"StandsBack a"}},
		"something is bound to one long gone": {periods: []period{{gone, 50}}},
	} {
		t.Run(name, func(t *testing.T) {
			var told role
			var got []string
			for _, p := range tc.periods {
				for range p.looks {
					if regarding, reason, _ := told.look(p.homes); regarding != nil {
						got = append(got, reason+" "+regarding.Name)
					}
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("told (-want +got):\n%s", diff)
			}
		})
	}
}
