// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package clusterresource

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/charges"
	"berth.dev/berth/pkg/placement/amount"
)

// Of more than allInSummary pools the summary tells the first firstInSummary.
const (
	allInSummary   = 4
	firstInSummary = 3
)

// summarize tells the amounts of all pools that can be given out in one line each.
func summarize(status *berthv1alpha1.ClusterResourceStatus) berthv1alpha1.ClusterResourceSummary {
	pools := status.Allocatable
	if len(pools) == 0 {
		pools = status.Capacity
	}
	names := make([]string, len(pools))
	for i := range pools {
		names[i] = pools[i].Name
	}
	held, free := map[string]resource.Quantity{}, map[string]resource.Quantity{}
	for _, p := range status.Allocated {
		held[p.Name], free[p.Name] = p.Quantity, p.Free
	}
	shown := names
	if len(names) > allInSummary {
		shown = names[:firstInSummary]
	}
	more := ""
	if hidden := len(names) - len(shown); hidden > 0 {
		more = fmt.Sprintf(" and %d more", hidden)
	}
	line := func(of map[string]resource.Quantity) string {
		parts := make([]string, len(shown))
		for i, name := range shown {
			parts[i] = name + "=" + amount.Text(of[name])
		}
		if len(names) == 1 {
			return strings.TrimPrefix(parts[0], names[0]+"=")
		}
		return strings.Join(parts, " ") + more
	}
	granted := ""
	if len(status.Grants) > 0 {
		granted = line(grantedOf(status))
	}
	return berthv1alpha1.ClusterResourceSummary{
		Pools: strings.Join(shown, " ") + more, Granted: granted, Capacity: line(charges.Quantities(status.Capacity)),
		Allocatable: line(charges.Quantities(status.Allocatable)), Allocated: line(held), Free: line(free),
	}
}

// grantedOf returns the sum of all grants of each pool that somebody has one of.
func grantedOf(status *berthv1alpha1.ClusterResourceStatus) map[string]resource.Quantity {
	sums := map[string]resource.Quantity{}
	for _, grant := range status.Grants {
		sum := sums[grant.Pool]
		sum.Add(grant.Quantity)
		sums[grant.Pool] = sum
	}
	return sums
}
