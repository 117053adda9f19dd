// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"cmp"
	"slices"
	"strings"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/controllers/state"
	"berth.dev/berth/pkg/model/workload"
)

const (
	// maxWorkloads and maxClusterRows bound the status, so that it fits into an object whatever a
	// policy selects.
	maxWorkloads   = 100
	maxClusterRows = 2000
)

// setStatus fills in the status of a policy. It holds no times and no countdowns: as long as
// nothing changes, neither does the status.
func setStatus(status *berthv1alpha1.PropagationPolicyStatus, in *inForce) {
	status.ObservedGeneration = in.policy.Generation
	status.WorkloadCount = int32(len(in.placements))
	status.Ready = readyOf(in)
	status.Workloads = rows(in)
	for _, condition := range []metav1.Condition{accepted(in), clustersResolved(in), placedCondition(in), conflicted(in)} {
		condition.ObservedGeneration = in.policy.Generation
		apimeta.SetStatusCondition(&status.Conditions, condition)
	}
}

// readyOf returns what the column READY shows.
func readyOf(in *inForce) string {
	var total state.Count
	for _, p := range in.placements {
		wanted, ready := int64(len(p.Observed.Pods)), int64(0)
		if p.ReplicasKnown {
			wanted = int64(p.Replicas)
		}
		for _, pod := range p.Observed.Pods {
			if workload.Ready(pod) {
				ready++
			}
		}
		total.Add(ready, wanted)
	}
	return total.String()
}

// rows lists the workloads, those furthest from the wish first, as far as the bounds allow.
func rows(in *inForce) []berthv1alpha1.WorkloadPlacement {
	sorted := slices.Clone(in.placements)
	slices.SortStableFunc(sorted, func(a, b *placement) int {
		return cmp.Or(
			cmp.Compare(b.Misplaced, a.Misplaced),
			cmp.Compare(b.short(), a.short()),
			workload.Compare(a.Observed, b.Observed),
		)
	})
	var list []berthv1alpha1.WorkloadPlacement
	left := maxClusterRows
	for _, p := range sorted {
		row := p.row(in)
		if left -= len(row.Clusters); left < 0 || len(list) == maxWorkloads {
			break
		}
		list = append(list, row)
	}
	return list
}

// short is by how many replicas the clusters are below their shares.
func (p *placement) short() int32 {
	var short int32
	for i := range p.Desired {
		short += max(0, p.Desired[i]-p.Current[i])
	}
	return short
}

func (p *placement) row(in *inForce) berthv1alpha1.WorkloadPlacement {
	row := berthv1alpha1.WorkloadPlacement{
		Ref:     berthv1alpha1.WorkloadReference{APIVersion: p.APIVersion, Kind: p.Kind, Name: p.Name},
		Pending: p.pending, Misplaced: int32(p.Misplaced),
	}
	if p.ReplicasKnown {
		replicas := p.Replicas
		row.Replicas = &replicas
	}
	for i := range p.Desired {
		row.Clusters = append(row.Clusters, berthv1alpha1.ClusterPlacement{
			Name: in.Order.Name(i), Desired: p.Desired[i], Current: p.Current[i],
			Pending: max(0, p.Desired[i]-p.Current[i]),
		})
	}
	slices.SortFunc(row.Clusters, func(a, b berthv1alpha1.ClusterPlacement) int { return strings.Compare(a.Name, b.Name) })
	return row
}
