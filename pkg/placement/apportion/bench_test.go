// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package apportion_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"berth.dev/berth/pkg/placement/apportion"
)

// benchmarkSizes are replicas and clusters: a usual policy, a large one, and the
// largest the design speaks of.
var benchmarkSizes = []struct {
	replicas int64
	clusters int
}{{10, 2}, {2_000, 50}, {100_000, 1_000}}

func benchmarkClusters(n int) []apportion.Cluster {
	rng := rand.New(rand.NewPCG(1, 2))
	clusters := make([]apportion.Cluster, n)
	for i := range clusters {
		clusters[i] = apportion.Cluster{Name: fmt.Sprintf("cluster-%04d", i), Weight: 1 + rng.Int64N(1000)}
	}
	return clusters
}

func eachSize(b *testing.B, run func(b *testing.B, o *apportion.Order, replicas int64)) {
	b.Helper()
	for _, size := range benchmarkSizes {
		b.Run(fmt.Sprintf("replicas=%d/clusters=%d", size.replicas, size.clusters), func(b *testing.B) {
			o, err := apportion.NewOrder(benchmarkClusters(size.clusters))
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			b.ResetTimer()
			run(b, o, size.replicas)
		})
	}
}

func BenchmarkNewOrder(b *testing.B) {
	for _, size := range benchmarkSizes {
		b.Run(fmt.Sprintf("clusters=%d", size.clusters), func(b *testing.B) {
			clusters := benchmarkClusters(size.clusters)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := apportion.NewOrder(clusters); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkShares(b *testing.B) {
	eachSize(b, func(b *testing.B, o *apportion.Order, replicas int64) {
		for b.Loop() {
			o.Shares(replicas)
		}
	})
}

func BenchmarkSeats(b *testing.B) {
	eachSize(b, func(b *testing.B, o *apportion.Order, replicas int64) {
		for b.Loop() {
			o.Seats(replicas)
		}
	})
}

func BenchmarkPlan(b *testing.B) {
	eachSize(b, func(b *testing.B, o *apportion.Order, replicas int64) {
		for b.Loop() {
			o.Plan(replicas)
		}
	})
}

func BenchmarkRanking(b *testing.B) {
	eachSize(b, func(b *testing.B, o *apportion.Order, replicas int64) {
		held, _ := o.Shares(replicas)
		for b.Loop() {
			o.Ranking(held)
		}
	})
}

func BenchmarkFirstFreeOf(b *testing.B) {
	eachSize(b, func(b *testing.B, o *apportion.Order, replicas int64) {
		p := o.Plan(replicas)
		seats := p.SeatsOf(0)
		var held apportion.Held
		for _, s := range seats[:max(len(seats)-1, 0)] {
			held.Add(int64(s))
		}
		for b.Loop() {
			p.FirstFreeOf(0, &held)
		}
	})
}
