// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package grouping

import (
	"slices"
	"time"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/placement/apportion"
)

// Patience returns for each group how long pods may find no node in its clusters before others get
// their replicas, 0 for as long as it takes: the least that the group itself or one of a later tier
// says.
func Patience(groups []berthv1alpha1.ClusterGroup) []time.Duration {
	patience := make([]time.Duration, len(groups))
	for i := range groups {
		for j := range groups {
			after := groups[j].GiveUpAfter
			if after == nil || i != j && TierOf(&groups[j]) <= TierOf(&groups[i]) {
				continue
			}
			if patience[i] == 0 || after.Duration < patience[i] {
				patience[i] = after.Duration
			}
		}
	}
	return patience
}

// TierOf returns the tier of a group.
func TierOf(group *berthv1alpha1.ClusterGroup) int32 {
	if group.Tier == nil {
		return 0
	}
	return *group.Tier
}

// Limited returns the seat order of the layout in which some clusters of groups get no more than
// their limits, so that others have what is left: clusters of the same group first, as far as it is
// to have so many, then those of other groups of its tier, and then those of later tiers. The
// clusters have the same indexes as in Order.
func (l *Layout) Limited(limits map[string]int64) (*apportion.Order, error) {
	limited := Layout{groups: slices.Clone(l.groups), clusters: l.clusters}
	for g := range limited.groups {
		group := &limited.groups[g]
		capacity := map[string]int64{}
		for i := range group.Clusters {
			if limit, found := limits[group.Clusters[i].Name]; found {
				capacity[group.Clusters[i].Name] = max(limit, 0)
			}
		}
		if len(capacity) == 0 {
			continue
		}
		clusters, err := apportion.Limit(group.Clusters, capacity)
		if err != nil {
			return nil, err
		}
		group.Clusters = clusters
	}
	return limited.Order()
}
