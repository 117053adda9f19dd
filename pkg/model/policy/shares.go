// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"berth.dev/berth/pkg/model/stamp"
	"berth.dev/berth/pkg/model/workload"
	"berth.dev/berth/pkg/placement/apportion"
	"berth.dev/berth/pkg/placement/rebalance"
)

// Shares compares where the replicas of a workload are with where its policy wants them. Clusters
// are meant by their index in the seat order.
type Shares struct {
	// Plan is the seat order for the replicas that the workload wants, nil if their number is not
	// known.
	Plan *apportion.Plan
	// Pods are the replicas that were counted, in the order in which they were given, as package
	// rebalance sees them. Cost, Age, Keep and Fits are left to the caller.
	Pods []rebalance.Replica
	// Desired and Current are numbers of replicas by cluster. Where Plan is nil the policy is
	// content with what is there.
	Desired, Current []int32
	// Misplaced is how many replicas run outside their share.
	Misplaced int
}

// Shares counts replicas of a workload, which are pods of it that are bound, in the clusters that
// clusterOf returns by name, empty for none. It must not be called if Err is set.
func (p *Policy) Shares(o *workload.Observed, replicas []*corev1.Pod, clusterOf func(*corev1.Pod) string) Shares {
	p = p.For(&o.Workload)
	clusters := p.Order.Len()
	s := Shares{
		Pods: make([]rebalance.Replica, len(replicas)), Desired: make([]int32, clusters), Current: make([]int32, clusters),
	}
	elsewhere := 0
	for i, pod := range replicas {
		s.Pods[i] = p.replica(o, pod, clusterOf(pod))
		if c := s.Pods[i].Cluster; c != rebalance.Elsewhere {
			s.Current[c]++
		} else {
			elsewhere++
		}
	}
	if !o.ReplicasKnown {
		copy(s.Desired, s.Current)
		s.Misplaced = elsewhere
		return s
	}
	s.Plan = p.Plan(o.Replicas)
	if seats := o.FixedSeats(apportion.MaxSeats); len(seats) > 0 {
		s.Plan = p.Plan(max(o.Replicas, slices.Max(seats)+1))
		for _, seat := range seats {
			if owner, ok := s.Plan.Owner(int64(seat)); ok {
				s.Desired[owner]++
			}
		}
	} else {
		for i := range s.Desired {
			s.Desired[i] = int32(s.Plan.Share(i))
		}
	}
	s.Misplaced = rebalance.Misplaced(s.Plan, clusters, s.Pods)
	return s
}

func (p *Policy) replica(o *workload.Observed, pod *corev1.Pod, cluster string) rebalance.Replica {
	r := rebalance.Replica{Name: pod.Name, Cluster: rebalance.Elsewhere, Place: rebalance.NoPlace, Ready: workload.Ready(pod)}
	if index, named := p.Order.Index(cluster); named {
		r.Cluster = index
	}
	if given, stamped := stamp.Of(pod); stamped {
		r.Place = given.PlaceOf(pod)
	}
	if ordinal, fixed := workload.Ordinal(pod, o.FirstOrdinal); fixed {
		r.Seat, r.Fixed = ordinal, true
	}
	return r
}
