// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/cli/internal/client"
	"berth.dev/berth/pkg/cli/internal/kinds"
	"berth.dev/berth/pkg/cli/internal/output"
)

// placements shows of Clusters what counts for where something runs.
var placements = kinds.Kind[*berthv1alpha1.Cluster, *berthv1alpha1.ClusterList]{
	Name: kind, Title: "Cluster", Global: true,
	API: func(clients client.Clients, _ string) kinds.API[*berthv1alpha1.Cluster, *berthv1alpha1.ClusterList] {
		return clients.Berth.BerthV1alpha1().Clusters()
	},
	Columns: []output.Column{
		{Name: "Online"}, {Name: "Nodes"}, {Name: "Metrics"}, {Name: "Cloud"}, {Name: "Labels"}, {Name: "Reason", Wide: true},
	},
	Row: func(c *berthv1alpha1.Cluster) []any {
		online, reason := kinds.Condition(c.Status.Conditions, berthv1alpha1.ClusterOnline)
		return []any{
			online, c.Status.NodeCount, kinds.Samples(c.Status.Metrics), kinds.Place(c.Status.ScheduledTo), kinds.Labels(c.Labels), reason,
		}
	},
}
