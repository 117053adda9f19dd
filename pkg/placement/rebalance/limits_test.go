// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package rebalance_test

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"

	"berth.dev/berth/pkg/placement/rebalance"
)

func TestMaxUnavailableOf(t *testing.T) {
	number := func(n int32) *intstr.IntOrString { v := intstr.FromInt32(n); return &v }
	text := func(s string) *intstr.IntOrString { v := intstr.FromString(s); return &v }
	tests := map[string]struct {
		value    *intstr.IntOrString
		replicas int
		want     int
	}{
		"the default is a quarter":                  {value: nil, replicas: 12, want: 3},
		"the default is rounded down":               {value: nil, replicas: 7, want: 1},
		"at least one":                              {value: text("1%"), replicas: 5, want: 1},
		"at least one of none":                      {value: text("50%"), replicas: 0, want: 1},
		"a percentage is rounded down":              {value: text("50%"), replicas: 7, want: 3},
		"all":                                       {value: text("100%"), replicas: 7, want: 7},
		"a number":                                  {value: number(4), replicas: 7, want: 4},
		"a number above the replicas":               {value: number(40), replicas: 7, want: 40},
		"what is no percentage is the default":      {value: text("many"), replicas: 12, want: 3},
		"what is not positive is one":               {value: number(-3), replicas: 12, want: 1},
		"no overflow with more replicas than exist": {value: text("100%"), replicas: 1 << 31, want: 1 << 31},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := rebalance.MaxUnavailableOf(tc.value, tc.replicas); got != tc.want {
				t.Errorf("MaxUnavailableOf(%v, %d) = %d, want %d", tc.value, tc.replicas, got, tc.want)
			}
		})
	}
}

func TestPause(t *testing.T) {
	tests := map[string]struct {
		cooldown  time.Duration
		fruitless int
		want      time.Duration
	}{
		"after a round that helped":                    {cooldown: 10 * time.Second, fruitless: 0, want: 10 * time.Second},
		"none is asked for and the round helped":       {cooldown: 0, fruitless: 0, want: 0},
		"none is asked for but the round did not help": {cooldown: 0, fruitless: 1, want: 20 * time.Second},
		"doubled each time":                            {cooldown: time.Minute, fruitless: 3, want: 8 * time.Minute},
		"an hour at most":                              {cooldown: time.Minute, fruitless: 10, want: time.Hour},
		"no overflow":                                  {cooldown: time.Minute, fruitless: 1000, want: time.Hour},
		"never below what is asked for":                {cooldown: 24 * time.Hour, fruitless: 1, want: 24 * time.Hour},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := rebalance.Pause(tc.cooldown, tc.fruitless); got != tc.want {
				t.Errorf("Pause(%v, %d) = %v, want %v", tc.cooldown, tc.fruitless, got, tc.want)
			}
		})
	}
}
