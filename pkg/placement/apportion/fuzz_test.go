// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package apportion_test

import (
	"encoding/binary"
	"math"
	"testing"

	"berth.dev/berth/pkg/placement/apportion"
)

// FuzzShares feeds clusters as no validation would let them through.
func FuzzShares(f *testing.F) {
	f.Add(int64(5), encode(apportion.Cluster{Name: "a", Weight: 2}, apportion.Cluster{Name: "b", Weight: 3}))
	f.Add(int64(-5), encode())
	f.Add(int64(math.MaxInt64), encode(
		apportion.Cluster{Name: "a", Weight: math.MaxInt32, Min: math.MaxInt64, Max: new(int64(math.MaxInt64))},
		apportion.Cluster{Name: "b", Weight: 0, Min: math.MaxInt64},
		apportion.Cluster{Name: "c", Weight: 1, Max: new(int64(0))},
	))
	f.Add(int64(1<<40), encode(
		apportion.Cluster{Name: "a", Weight: -1},
		apportion.Cluster{Name: "a", Weight: 1 << 40, Min: 3, Max: new(int64(2))},
	))
	f.Fuzz(func(t *testing.T, n int64, data []byte) {
		list := decode(data)
		o, err := apportion.NewOrder(list)
		if err != nil {
			return
		}
		shares, unplaced := o.Shares(n)
		if got, want := sum(shares)+unplaced, max(n, 0); got != want {
			t.Errorf("shares and unplaced of %d replicas add up to %d", want, got)
		}
		if got, want := sum(shares), min(max(n, 0), capacityOf(list)); got != want {
			t.Errorf("shares of %d replicas add up to %d, want %d", n, got, want)
		}
		for c, s := range shares {
			if s == 0 {
				continue
			}
			if seat, ok := o.SeatNumber(c, s-1); !ok || seat >= n {
				t.Errorf("the last seat of cluster %d has number %d, %t, not below %d", c, seat, ok, n)
			}
			if seat, ok := o.SeatNumber(c, s); ok && seat < n {
				t.Errorf("cluster %d does not have its seat %d, which is below %d", c, seat, n)
			}
		}
		o.Ranking(shares)
	})
}

// A record holds a name, a weight of which half the values are valid, a minimum,
// and a maximum with a byte that reports whether there is one.
const recordSize = 2 + 4 + 8 + 1 + 8

func encode(clusters ...apportion.Cluster) []byte {
	var data []byte
	for _, c := range clusters {
		data = append(data, c.Name[0], 0)
		data = binary.BigEndian.AppendUint32(data, uint32(c.Weight))
		data = binary.BigEndian.AppendUint64(data, uint64(c.Min))
		limit := [9]byte{}
		if c.Max != nil {
			limit[0] = 1
			binary.BigEndian.PutUint64(limit[1:], uint64(*c.Max))
		}
		data = append(data, limit[:]...)
	}
	return data
}

func decode(data []byte) []apportion.Cluster {
	var clusters []apportion.Cluster
	for ; len(data) >= recordSize; data = data[recordSize:] {
		c := apportion.Cluster{
			Name:   string(data[:2]),
			Weight: int64(binary.BigEndian.Uint32(data[2:])),
			Min:    int64(binary.BigEndian.Uint64(data[6:])),
		}
		if data[14]%2 == 1 {
			c.Max = new(int64(binary.BigEndian.Uint64(data[15:])))
		}
		clusters = append(clusters, c)
	}
	return clusters
}
