// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package chronicle

import (
	"fmt"
	"maps"
	"slices"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/history"
	"berth.dev/berth/pkg/placement/amount"
)

// pools tells which pools of a ClusterResource are used up, or not any more, and who has another
// size or grant.
func pools(before, after *berthv1alpha1.ClusterResource) []history.Entry {
	var entries []history.Entry
	if is := sizes(after); !slices.Equal(is, sizes(before)) {
		entries = append(entries, history.Entry{Decision: history.CapacityChanged, Message: listed(is)})
	}
	was := map[string]bool{}
	for i := range before.Status.Allocated {
		was[before.Status.Allocated[i].Name] = usedUp(&before.Status.Allocated[i])
	}
	for i := range after.Status.Allocated {
		pool := &after.Status.Allocated[i]
		switch is := usedUp(pool); {
		case is && !was[pool.Name]:
			entries = append(entries, history.Entry{
				Decision: history.UsedUp, Message: fmt.Sprintf("pool %s: %s all %s", pool.Name, holders(pool), amount.Text(pool.Quantity)),
			})
		case was[pool.Name] && !is:
			entries = append(entries, history.Entry{Decision: history.Free, Message: fmt.Sprintf("pool %s: %s", pool.Name, amount.Text(pool.Free))})
		}
	}
	if is := grants(after); !maps.Equal(is, grants(before)) {
		entries = append(entries, history.Entry{Decision: history.GrantsChanged, Message: grantText(is)})
	}
	return entries
}

// holders tells how many pods hold something of a pool.
func holders(pool *berthv1alpha1.PoolAllocation) string {
	if pool.Holders == 1 {
		return "1 pod holds"
	}
	return fmt.Sprintf("%d pods hold", pool.Holders)
}

// usedUp reports whether pods hold all of a pool.
func usedUp(pool *berthv1alpha1.PoolAllocation) bool {
	return pool.Holders > 0 && pool.Free.IsZero()
}

// sizes returns the pools with their size.
func sizes(resource *berthv1alpha1.ClusterResource) []string {
	texts := make([]string, len(resource.Status.Capacity))
	for i := range texts {
		pool := &resource.Status.Capacity[i]
		texts[i] = pool.Name + " " + amount.Text(pool.Quantity)
	}
	return texts
}

// grants returns what Schedulers may give out, by Scheduler and pool.
func grants(resource *berthv1alpha1.ClusterResource) map[string]string {
	amounts := make(map[string]string, len(resource.Status.Grants))
	for i := range resource.Status.Grants {
		g := &resource.Status.Grants[i]
		amounts[g.Scheduler+" of "+g.Pool] = amount.Text(g.Quantity)
	}
	return amounts
}

func grantText(amounts map[string]string) string {
	if len(amounts) == 0 {
		return "one scheduler may give out everything"
	}
	texts := make([]string, 0, len(amounts))
	for who, amount := range amounts {
		texts = append(texts, who+": "+amount)
	}
	return listed(texts)
}
