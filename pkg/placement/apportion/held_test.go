// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package apportion_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"berth.dev/berth/pkg/placement/apportion"
)

// TestHeldCounts compares Held with a map.
func TestHeldCounts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seats := rapid.OneOf(
			rapid.Int64Range(0, 10),
			rapid.Int64Range(60, 70),
			rapid.SampledFrom([]int64{-1, math.MinInt64, apportion.MaxSeats - 1, apportion.MaxSeats, math.MaxInt64}),
		)
		var held apportion.Held
		model := map[int64]int{}
		t.Repeat(map[string]func(*rapid.T){
			"add": func(t *rapid.T) {
				seat := seats.Draw(t, "seat")
				held.Add(seat)
				model[seatOrNone(seat)]++
			},
			"remove": func(t *rapid.T) {
				seat := seats.Draw(t, "seat")
				had := model[seatOrNone(seat)] > 0
				if got := held.Remove(seat); got != had {
					t.Fatalf("Remove(%d) = %t, want %t", seat, got, had)
				}
				if had {
					model[seatOrNone(seat)]--
				}
			},
			"": func(t *rapid.T) {
				total := 0
				for seat, n := range model {
					total += n
					if got, want := held.Has(seat), n > 0 && seat != noSeat; got != want {
						t.Fatalf("Has(%d) = %t, want %t", seat, got, want)
					}
				}
				if got := held.Len(); got != total {
					t.Fatalf("Len = %d, want %d", got, total)
				}
			},
		})
	})
}

const noSeat = -1

// seatOrNone maps all numbers that are no seats to one.
func seatOrNone(seat int64) int64 {
	if seat < 0 || seat >= apportion.MaxSeats {
		return noSeat
	}
	return seat
}

func TestNilHeldIsEmpty(t *testing.T) {
	var held *apportion.Held
	if held.Len() != 0 || held.Has(0) {
		t.Errorf("Len = %d, Has(0) = %t", held.Len(), held.Has(0))
	}
}

func TestHeldCountsHowManyHaveTheSameSeat(t *testing.T) {
	var held apportion.Held
	for range 4 {
		held.Add(5)
	}
	var got []bool
	for range 5 {
		got = append(got, held.Remove(5), held.Has(5))
	}
	want := []bool{true, true, true, true, true, true, true, false, false, false}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("taken back, and held after that (-want +got):\n%s", diff)
	}
}
