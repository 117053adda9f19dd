// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package rebalance_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"berth.dev/berth/pkg/placement/rebalance"
)

// With the weights 2 and 3 and five replicas beijing owns the seats 1 and 3, hangzhou 0, 2 and 4.
func TestSeats(t *testing.T) {
	tests := map[string]struct {
		replicas int64
		pods     []rebalance.Replica
		want     []int32
	}{
		"pods without a seat get the lowest ones, the oldest first": {
			replicas: 5,
			pods:     all(in(beijing, 2), in(hangzhou, 3)),
			want:     []int32{1, 3, 0, 2, 4},
		},
		"a pod keeps a seat of its cluster although a lower one is free": {
			replicas: 5,
			pods:     in(hangzhou, 1, seat(4)),
			want:     []int32{4},
		},
		"a pod gives up a seat of another cluster": {
			replicas: 5,
			pods:     in(hangzhou, 1, seat(3)),
			want:     []int32{0},
		},
		"a pod gives up a seat beyond the replicas": {
			replicas: 3,
			pods:     in(hangzhou, 1, seat(4)),
			want:     []int32{0},
		},
		"of two pods with one seat the older keeps it": {
			replicas: 5,
			pods: all(
				in(hangzhou, 1, seat(2), named("young"), age(time.Minute)),
				in(hangzhou, 1, seat(2), named("old"), age(time.Hour))),
			want: []int32{0, 2},
		},
		"of two pods as old as each other with one seat the smaller name keeps it": {
			replicas: 5,
			pods:     all(in(hangzhou, 1, seat(2), named("b")), in(hangzhou, 1, seat(2), named("a"))),
			want:     []int32{0, 2},
		},
		"the youngest beyond the share get none": {
			replicas: 5,
			pods:     in(beijing, 4),
			want:     []int32{1, 3, rebalance.NoSeat, rebalance.NoSeat},
		},
		"a pod elsewhere gets none": {
			replicas: 5,
			pods:     in(rebalance.Elsewhere, 1, seat(0)),
			want:     []int32{rebalance.NoSeat},
		},
		"pods of others take up the lowest seats, because they have no deletion cost": {
			replicas: 5,
			pods:     all(in(hangzhou, 1, keep(rebalance.NotOurs), age(time.Second)), in(hangzhou, 2, seat(0))),
			want:     []int32{rebalance.NoSeat, 2, 4},
		},
		"pods that another policy placed get seats": {
			replicas: 5,
			pods:     in(hangzhou, 1, keep(rebalance.TakenOver)),
			want:     []int32{0},
		},
		"an ordinal is held in the cluster that owns it": {
			replicas: 5,
			pods:     all(in(hangzhou, 1, ordinal(0)), in(beijing, 1, ordinal(1))),
			want:     []int32{0, 1},
		},
		"an ordinal is not held in another cluster, and not given to anybody else": {
			replicas: 5,
			pods:     all(in(beijing, 1, ordinal(0)), in(hangzhou, 1)),
			want:     []int32{rebalance.NoSeat, 2},
		},
		"an ordinal far beyond the replicas is held nowhere": {
			replicas: 5,
			pods:     all(in(hangzhou, 1, ordinal(64)), in(hangzhou, 1)),
			want:     []int32{rebalance.NoSeat, 0},
		},
		"no replicas": {
			replicas: 0,
			pods:     in(hangzhou, 1, seat(0)),
			want:     []int32{rebalance.NoSeat},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := rebalance.Seats(order(t, 2, 3).Plan(tc.replicas), tc.pods)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("Seats() mismatch (-want +got):\n%s", diff)
			}
		})
	}
}
