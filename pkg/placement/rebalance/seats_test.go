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
func TestPlaces(t *testing.T) {
	tests := map[string]struct {
		replicas int64
		pods     []rebalance.Replica
		want     []rebalance.Place
	}{
		"pods without a seat get the lowest ones, the oldest first": {
			replicas: 5,
			pods:     all(in(beijing, 2), in(hangzhou, 3)),
			want:     seats(1, 3, 0, 2, 4),
		},
		"while a pod is missing, others get places after the seats that it may have": {
			replicas: 6,
			pods:     all(in(beijing, 2), in(hangzhou, 3)),
			want:     places(1500, 3500, 500, 2500, 4500),
		},
		"a pod keeps a seat of its cluster although a lower one is free": {
			replicas: 5,
			pods:     in(hangzhou, 1, seat(4)),
			want:     seats(4),
		},
		"a pod keeps a place that is right, although the seat is another cluster's or beyond the replicas": {
			replicas: 3,
			pods:     all(in(beijing, 1, seat(2)), in(hangzhou, 1, seat(4)), in(hangzhou, 1, seat(0))),
			want:     seats(2, 4, 0),
		},
		"of pods in the wrong order the fewest get another place": {
			replicas: 5,
			pods:     all(in(hangzhou, 3, seatsFrom(0)), in(beijing, 1, seat(6)), in(beijing, 1, seat(7))),
			want:     places(0, 1000, 2000, 500, 1500),
		},
		"what comes between two pods gets a place between theirs": {
			replicas: 5,
			pods:     all(in(hangzhou, 1, seat(0)), in(beijing, 1), in(hangzhou, 1, seat(1)), in(beijing, 1, seat(2)), in(hangzhou, 1, seat(3))),
			want:     places(0, 500, 1000, 2000, 3000),
		},
		"old costs without gaps are kept": {
			replicas: 5,
			pods:     all(in(hangzhou, 1, place(0)), in(beijing, 1, place(1)), in(hangzhou, 1, place(2)), in(beijing, 1, place(3)), in(hangzhou, 1, place(4))),
			want:     places(0, 1, 2, 3, 4),
		},
		"who comes back between old costs without gaps gets the one that is free": {
			replicas: 5,
			pods:     all(in(hangzhou, 1, place(0)), in(beijing, 1, place(1)), in(hangzhou, 1), in(beijing, 1, place(3)), in(hangzhou, 1, place(4))),
			want:     places(0, 1, 2, 3, 4),
		},
		"where there is no place left the seats change hands": {
			replicas: 5,
			pods:     all(in(hangzhou, 1, place(0)), in(beijing, 1), in(hangzhou, 1, place(1)), in(beijing, 1, place(2)), in(hangzhou, 1, place(3))),
			want:     places(0, 3000, 4000, 2, 3),
		},
		"of two pods with one seat the older keeps it": {
			replicas: 5,
			pods: all(
				in(hangzhou, 1, seat(2), named("young"), age(time.Minute)),
				in(hangzhou, 1, seat(2), named("old"), age(time.Hour))),
			want: places(500, 2000),
		},
		"of two pods as old as each other with one seat the smaller name keeps it": {
			replicas: 5,
			pods:     all(in(hangzhou, 1, seat(2), named("b")), in(hangzhou, 1, seat(2), named("a"))),
			want:     places(500, 2000),
		},
		"the youngest beyond the share get none": {
			replicas: 5,
			pods:     in(beijing, 4),
			want:     places(1500, 3500, rebalance.NoPlace, rebalance.NoPlace),
		},
		"a pod elsewhere gets none": {
			replicas: 5,
			pods:     in(rebalance.Elsewhere, 1, seat(0)),
			want:     seats(rebalance.NoSeat),
		},
		"pods of others take up the lowest seats, because they have no deletion cost": {
			replicas: 5,
			pods:     all(in(hangzhou, 1, keep(rebalance.NotOurs), age(time.Second)), in(hangzhou, 2, seat(0))),
			want:     places(rebalance.NoPlace, 2500, 4500),
		},
		"pods that another policy placed get seats": {
			replicas: 5,
			pods:     in(hangzhou, 1, keep(rebalance.TakenOver)),
			want:     places(500),
		},
		"an ordinal is held in the cluster that owns it": {
			replicas: 5,
			pods:     all(in(hangzhou, 1, ordinal(0)), in(beijing, 1, ordinal(1))),
			want:     seats(0, 1),
		},
		"an ordinal is not held in another cluster, and not given to anybody else": {
			replicas: 5,
			pods:     all(in(beijing, 1, ordinal(0)), in(hangzhou, 1)),
			want:     places(rebalance.NoPlace, 2500),
		},
		"an ordinal far beyond the replicas is held nowhere": {
			replicas: 5,
			pods:     all(in(hangzhou, 1, ordinal(64)), in(hangzhou, 1)),
			want:     places(rebalance.NoPlace, 500),
		},
		"no replicas": {
			replicas: 0,
			pods:     in(hangzhou, 1, seat(0)),
			want:     seats(rebalance.NoSeat),
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := rebalance.Places(order(t, 2, 3).Plan(tc.replicas), tc.pods)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("Places() mismatch (-want +got):\n%s", diff)
			}
		})
	}
}

// seats returns the places that belong to seats.
func seats(numbers ...int32) []rebalance.Place {
	places := make([]rebalance.Place, len(numbers))
	for i, n := range numbers {
		places[i] = rebalance.PlaceOf(n)
	}
	return places
}

func places(places ...rebalance.Place) []rebalance.Place { return places }

// seatsFrom gives pods one seat after the other.
func seatsFrom(first int32) func(*rebalance.Replica) {
	next := first
	return func(p *rebalance.Replica) {
		p.Place = rebalance.PlaceOf(next)
		next++
	}
}
