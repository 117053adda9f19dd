// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package migrate

import "math"

// BoundPod is a pod of a workload that is bound to a node of a cluster.
type BoundPod struct {
	// Cluster is the cluster in which it was placed.
	Cluster string
	// Ready reports whether it serves, and Warming whether it is ready and does not count as serving
	// before it has been for long enough. A workload that shrinks holds it to be as good as one that
	// serves.
	Ready, Warming bool
	// DeletionCost orders the pods of a workload that shrinks: the lowest goes first.
	DeletionCost int64
	// OwnCost is true if the user has set the deletion cost, and Berth leaves it alone.
	OwnCost bool
}

// Pods counts the bound pods of a workload by cluster. Pods that are being deleted or have ended
// must not be added.
type Pods map[string]clusterPods

// clusterPods are the pods of a workload in one cluster.
type clusterPods struct {
	// Bound, Ready and Warming are how many there are, how many of them serve, and how many will if
	// they stay ready.
	Bound, Ready, Warming int64
	// lowest and highest are the bounds of their deletion costs, and ready are those of the ones that
	// serve.
	lowest, highest int64
	ready           []int64
	ownCost         bool
}

// Add counts one more pod.
func (p Pods) Add(pod BoundPod) {
	in, known := p[pod.Cluster]
	if !known {
		in.lowest, in.highest = pod.DeletionCost, pod.DeletionCost
	}
	in.Bound++
	if pod.Ready {
		in.Ready++
		in.ready = append(in.ready, pod.DeletionCost)
	} else if pod.Warming {
		in.Warming++
	}
	in.lowest, in.highest = min(in.lowest, pod.DeletionCost), max(in.highest, pod.DeletionCost)
	in.ownCost = in.ownCost || pod.OwnCost
	p[pod.Cluster] = in
}

// elsewhere returns how many pods are bound in other clusters.
func (p Pods) elsewhere(cluster string) int64 {
	total := int64(0)
	for name, in := range p {
		if name != cluster {
			total += in.Bound
		}
	}
	return total
}

// servingElsewhere returns how many pods in other clusters serve, or will if they stay ready.
func (p Pods) servingElsewhere(cluster string) int64 {
	total := int64(0)
	for name, in := range p {
		if name != cluster {
			total += in.Ready + in.Warming
		}
	}
	return total
}

// shrinksElsewhere reports whether a workload that shrinks loses the pods of other clusters first.
// Deletion costs that the user has set are a decision of the user, who is not waited for.
func (p Pods) shrinksElsewhere(cluster string) bool {
	here, known := p[cluster]
	if !known || here.ownCost {
		return true
	}
	return here.lowest > p.highestElsewhere(cluster)
}

// warming reports whether a pod is ready, and not for long enough yet to serve: a workload that
// shrinks may keep it at the cost of one that serves. If the cluster has all that are wanted, those
// elsewhere do not matter.
func (p Pods) warming(cluster string, whole bool) bool {
	for name, in := range p {
		if in.Warming > 0 && (name == cluster || !whole) {
			return true
		}
	}
	return false
}

// keeps reports whether so many pods of a cluster that serve are the last to go when the workload
// shrinks. What the cluster has beyond them may go before pods of other clusters or after them.
// Deletion costs that the user has set are not waited for.
func (p Pods) keeps(cluster string, n int64) bool {
	here := p[cluster]
	if here.ownCost {
		return true
	}
	highest := p.highestElsewhere(cluster)
	for _, cost := range here.ready {
		if cost > highest {
			n--
		}
	}
	return n <= 0
}

// highestElsewhere returns the highest deletion cost in other clusters, but for those where the
// user has set some.
func (p Pods) highestElsewhere(cluster string) int64 {
	highest := int64(math.MinInt64)
	for name, in := range p {
		if name != cluster && !in.ownCost {
			highest = max(highest, in.highest)
		}
	}
	return highest
}
