// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package grants_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"

	"berth.dev/berth/pkg/placement/grants"
)

func units(n int64) resource.Quantity {
	return *resource.NewQuantity(n, resource.DecimalSI)
}

func TestPublishable(t *testing.T) {
	tests := map[string]struct{ declared, before, granted, held, want int64 }{
		"a pool that nobody was granted": {declared: 6, before: 10, want: 6},
		"a new pool":                     {declared: 6, want: 6},
		"a new pool of which something was granted before":     {declared: 6, granted: 9, want: 6},
		"a pool as large as before":                            {declared: 10, before: 10, granted: 12, held: 4, want: 10},
		"a larger pool":                                        {declared: 12, before: 10, granted: 15, held: 4, want: 12},
		"a smaller pool of which more is granted":              {declared: 6, before: 10, granted: 10, held: 4, want: 10},
		"a smaller pool of which just as much is granted":      {declared: 6, before: 10, granted: 6, held: 4, want: 6},
		"a smaller pool of which more is granted than held":    {declared: 6, before: 10, granted: 9, held: 8, want: 10},
		"a smaller pool once what is granted is held":          {declared: 6, before: 10, granted: 8, held: 8, want: 6},
		"a smaller pool of which pods hold more than is given": {declared: 6, before: 10, granted: 7, held: 8, want: 6},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := grants.Publishable(units(tc.declared), units(tc.before), units(tc.granted), units(tc.held))
			if got.Value() != tc.want {
				t.Errorf("%s units are published, want %d", got.String(), tc.want)
			}
		})
	}
}

func FuzzPublishable(f *testing.F) {
	f.Add(int64(6), int64(10), int64(10), int64(4))
	f.Add(int64(6), int64(10), int64(8), int64(8))
	f.Fuzz(func(t *testing.T, declared, before, granted, held int64) {
		quantity := grants.Publishable(units(declared), units(before), units(granted), units(held))
		got := quantity.Value()
		if got != declared && got != before {
			t.Errorf("%d units are published of a pool of %d that had %d", got, declared, before)
		}
		if got < declared {
			t.Errorf("%d units are published, less than the %d that are declared", got, declared)
		}
		if granted > got && granted <= before && granted > held {
			t.Errorf("%d units are published while %d are granted that can shrink", got, granted)
		}
		again := grants.Publishable(units(declared), quantity, units(granted), units(held))
		if again.Value() != got {
			t.Errorf("%d units are published, and then %d", got, again.Value())
		}
	})
}
