// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package rebalance_test

import (
	"fmt"
	"testing"
	"time"

	"berth.dev/berth/pkg/placement/apportion"
	"berth.dev/berth/pkg/placement/rebalance"
)

// Clusters of the tables, by their index in the seat order.
const (
	beijing  = 0
	hangzhou = 1
)

// order returns the seat order of beijing and hangzhou.
func order(t *testing.T, weightBeijing, weightHangzhou int64) *apportion.Order {
	t.Helper()
	o, err := apportion.NewOrder([]apportion.Cluster{
		{Name: "beijing", Weight: weightBeijing}, {Name: "hangzhou", Weight: weightHangzhou},
	})
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// in returns n pods of a cluster that have run for a while: ready, movable, named PREFIX-0 and so
// on, the first the oldest.
func in(cluster, n int, changes ...func(*rebalance.Replica)) []rebalance.Replica {
	pods := make([]rebalance.Replica, n)
	for i := range pods {
		pods[i] = rebalance.Replica{
			Name: fmt.Sprintf("%d-%d", cluster, i), Cluster: cluster, Place: rebalance.NoPlace, Ready: true,
			Age: time.Hour - time.Duration(i)*time.Minute,
		}
		for _, change := range changes {
			change(&pods[i])
		}
	}
	return pods
}

// all joins groups of pods.
func all(groups ...[]rebalance.Replica) []rebalance.Replica {
	var pods []rebalance.Replica
	for _, group := range groups {
		pods = append(pods, group...)
	}
	return pods
}

func unwanted(p *rebalance.Replica) { p.Unwanted = true }

func asked(p *rebalance.Replica) { p.Asked = true }

func notReady(p *rebalance.Replica) { p.Ready = false }

func age(d time.Duration) func(*rebalance.Replica) { return func(p *rebalance.Replica) { p.Age = d } }

func cost(c int64) func(*rebalance.Replica) { return func(p *rebalance.Replica) { p.Cost = c } }

func keep(k rebalance.Keep) func(*rebalance.Replica) {
	return func(p *rebalance.Replica) { p.Keep = k }
}

// seat gives a pod the place that belongs to a seat.
func seat(s int32) func(*rebalance.Replica) {
	return func(p *rebalance.Replica) { p.Place = rebalance.PlaceOf(s) }
}

// place gives a pod a place.
func place(at rebalance.Place) func(*rebalance.Replica) {
	return func(p *rebalance.Replica) { p.Place = at }
}

func named(name string) func(*rebalance.Replica) { return func(p *rebalance.Replica) { p.Name = name } }

// ordinal makes a pod of a StatefulSet.
func ordinal(n int32) func(*rebalance.Replica) {
	return func(p *rebalance.Replica) { p.Seat, p.Fixed, p.Name = n, true, fmt.Sprintf("set-%d", n) }
}

func fits(p *rebalance.Replica) { p.Fits = true }
