// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package oracle_test

import (
	"maps"
	"testing"
	"time"

	"berth.dev/berth/test/internal/oracle"
)

func TestShares(t *testing.T) {
	for name, tc := range map[string]struct {
		weights  map[string]int64
		replicas int
		want     map[string]int
	}{
		"nobody":               {replicas: 3, want: map[string]int{}},
		"no replicas":          {weights: map[string]int64{"a": 1}, want: map[string]int{}},
		"as the weights":       {weights: map[string]int64{"a": 2, "b": 3}, replicas: 5, want: map[string]int{"a": 2, "b": 3}},
		"the larger one first": {weights: map[string]int64{"a": 1, "b": 3}, replicas: 1, want: map[string]int{"b": 1}},
		"equals by their name": {weights: map[string]int64{"b": 1, "a": 1}, replicas: 3, want: map[string]int{"a": 2, "b": 1}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := oracle.Shares(tc.weights, tc.replicas); !maps.Equal(got, tc.want) {
				t.Errorf("got %v, want %v", got, tc.want)
			}
		})
	}
}

func TestWhatAPoolHadCountsForAWhile(t *testing.T) {
	began := time.Unix(1000, 0)
	pool := oracle.NewPool(5)
	for _, step := range []struct {
		after time.Duration
		size  int64
		want  int64
	}{
		{after: 0, size: 5, want: 5},
		{after: time.Second, size: 3, want: 5},
		{after: 40 * time.Second, size: 2, want: 5},
		{after: 80 * time.Second, size: 2, want: 5},
		{after: 90 * time.Second, size: 2, want: 2},
		{after: 100 * time.Second, size: 4, want: 4},
	} {
		now := began.Add(step.after)
		pool.Resize(step.size, now)
		if got := pool.Most(now); got != step.want {
			t.Errorf("after %s there may be %d, want %d", step.after, got, step.want)
		}
	}
	if got := (*oracle.Pool)(nil).Most(began); got != 0 {
		t.Errorf("of no pool there may be %d", got)
	}
}
