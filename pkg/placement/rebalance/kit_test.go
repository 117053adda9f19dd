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
func in(cluster, n int, changes ...func(*rebalance.Pod)) []rebalance.Pod {
	pods := make([]rebalance.Pod, n)
	for i := range pods {
		pods[i] = rebalance.Pod{
			Name: fmt.Sprintf("%d-%d", cluster, i), Cluster: cluster, Seat: rebalance.NoSeat, Ready: true,
			Age: time.Hour - time.Duration(i)*time.Minute,
		}
		for _, change := range changes {
			change(&pods[i])
		}
	}
	return pods
}

// all joins groups of pods.
func all(groups ...[]rebalance.Pod) []rebalance.Pod {
	var pods []rebalance.Pod
	for _, group := range groups {
		pods = append(pods, group...)
	}
	return pods
}

func notReady(p *rebalance.Pod) { p.Ready = false }

func age(d time.Duration) func(*rebalance.Pod) { return func(p *rebalance.Pod) { p.Age = d } }

func cost(c int64) func(*rebalance.Pod) { return func(p *rebalance.Pod) { p.Cost = c } }

func keep(k rebalance.Keep) func(*rebalance.Pod) { return func(p *rebalance.Pod) { p.Keep = k } }

func seat(s int32) func(*rebalance.Pod) { return func(p *rebalance.Pod) { p.Seat = s } }

func named(name string) func(*rebalance.Pod) { return func(p *rebalance.Pod) { p.Name = name } }

// ordinal makes a pod of a StatefulSet.
func ordinal(n int32) func(*rebalance.Pod) {
	return func(p *rebalance.Pod) { p.Seat, p.Fixed, p.Name = n, true, fmt.Sprintf("set-%d", n) }
}

func fits(p *rebalance.Pod) { p.Fits = true }
