// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package chronicle

import (
	"fmt"
	"slices"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/history"
	"berth.dev/berth/pkg/placement/failover"
)

// failovers tells which clusters a Subscription has left, if these are others than before.
func failovers(before, after *berthv1alpha1.Subscription) []history.Entry {
	told, changed := leaves(after.Spec.Failover, before.Status.FailedOver, after.Status.FailedOver)
	if !changed {
		return nil
	}
	return []history.Entry{{Decision: history.FailedOver, Message: told}}
}

// leaves says which clusters are left because they are offline, and until when, and reports whether
// these are others than before.
func leaves(spec *berthv1alpha1.Failover, before, after []berthv1alpha1.FailedOverCluster) (told string, changed bool) {
	is := clustersOf(after)
	changed = !slices.Equal(is, clustersOf(before))
	if len(is) == 0 {
		return "no cluster is left any more", changed
	}
	return fmt.Sprintf("left because they are offline, until they have been online for %v: %s",
		failover.Of(spec).ReturnAfter(), listed(is)), changed
}

func clustersOf(left []berthv1alpha1.FailedOverCluster) []string {
	clusters := make([]string, len(left))
	for i := range left {
		clusters[i] = left[i].Cluster
	}
	slices.Sort(clusters)
	return clusters
}
