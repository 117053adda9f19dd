// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/controllers/state"
	"berth.dev/berth/pkg/model/workload"
	"berth.dev/berth/pkg/placement/names"
)

const (
	// maxWorkloads bounds the rows of a status and maxStatusBytes its size as JSON, with a margin for
	// the fields around it, so that it is written quickly whatever a policy selects.
	maxWorkloads   = 100
	maxStatusBytes = 63 << 10
	// maxMessage bounds the message of each condition.
	maxMessage = 2 << 10

	// Of more than maxClusters clusters a row tells of farClusters.
	maxClusters = 100
	farClusters = 50
)

// setStatus fills in the status of a policy. It holds no times and no countdowns: as long as
// nothing changes, neither does the status.
func setStatus(status *berthv1alpha1.PropagationPolicyStatus, in *inForce) {
	status.ObservedGeneration = in.policy.Generation
	status.WorkloadCount = int32(len(in.placements))
	status.Ready = readyOf(in)
	for _, condition := range []metav1.Condition{accepted(in), clustersResolved(in), placedCondition(in), conflicted(in)} {
		condition.ObservedGeneration = in.policy.Generation
		condition.Message = names.ClipTo(condition.Message, maxMessage)
		apimeta.SetStatusCondition(&status.Conditions, condition)
	}
	setScaled(&status.Conditions, in)
	status.Workloads = rows(in, maxStatusBytes-reserved(status))
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

// reserved returns how many bytes of a status are taken before its rows.
func reserved(status *berthv1alpha1.PropagationPolicyStatus) int {
	bare := *status
	bare.Workloads = nil
	return bytesOf(&bare)
}

// bytesOf returns how many bytes a part of a status takes as JSON.
func bytesOf(part any) int {
	written, err := json.Marshal(part)
	if err != nil {
		return maxStatusBytes // no part has a value that cannot be written
	}
	return len(written)
}

// rows lists the workloads, those furthest from the wish first, as far as the bounds allow.
func rows(in *inForce, left int) []berthv1alpha1.WorkloadPlacement {
	sorted := slices.Clone(in.placements)
	slices.SortStableFunc(sorted, func(a, b *placement) int {
		return cmp.Or(
			cmp.Compare(b.Misplaced, a.Misplaced),
			cmp.Compare(b.short(), a.short()),
			workload.Compare(a.Observed, b.Observed),
		)
	})
	var list []berthv1alpha1.WorkloadPlacement
	for _, p := range sorted {
		row := p.row(in)
		if left -= bytesOf(&row) + len(","); left < 0 || len(list) == maxWorkloads {
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
		Ref: p.Ref(), Replicas: p.KnownReplicas(), Pending: p.pending, Misplaced: int32(p.Misplaced),
	}
	row.Groups, row.Clusters = p.groups(in), p.clusters(in)
	return row
}

// clusters tells the shares of the clusters by name, of many those that differ most from theirs.
func (p *placement) clusters(in *inForce) []berthv1alpha1.ClusterPlacement {
	lines := make([]berthv1alpha1.ClusterPlacement, len(p.Desired))
	for i := range p.Desired {
		lines[i] = berthv1alpha1.ClusterPlacement{
			Name: in.Order.Name(i), Desired: p.Desired[i], Current: p.Current[i],
			Pending: max(0, p.Desired[i]-p.Current[i]),
		}
	}
	byName := func(a, b berthv1alpha1.ClusterPlacement) int { return strings.Compare(a.Name, b.Name) }
	if len(lines) > maxClusters {
		slices.SortFunc(lines, func(a, b berthv1alpha1.ClusterPlacement) int {
			return cmp.Or(
				cmp.Compare(b.Pending, a.Pending), cmp.Compare(b.Current-b.Desired, a.Current-a.Desired), byName(a, b),
			)
		})
		lines = lines[:farClusters]
	}
	slices.SortFunc(lines, byName)
	return lines
}

// groups tells the parts of the groups of the policy, in their order.
func (p *placement) groups(in *inForce) []berthv1alpha1.GroupPlacement {
	if in.Err != nil || in.Order.Groups() == 0 {
		return nil
	}
	lines := make([]berthv1alpha1.GroupPlacement, in.Order.Groups())
	for g := range lines {
		lines[g].Name = in.Order.GroupName(g)
	}
	for i := range p.Desired {
		line := &lines[in.Order.GroupOf(i)]
		line.Clusters++
		line.Desired += p.Desired[i]
		line.Current += p.Current[i]
		line.Pending += max(0, p.Desired[i]-p.Current[i])
	}
	return lines
}
