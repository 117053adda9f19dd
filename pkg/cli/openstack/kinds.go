// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package openstack

import (
	"strconv"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/cli/internal/client"
	"berth.dev/berth/pkg/cli/internal/clusters"
	"berth.dev/berth/pkg/cli/internal/kinds"
	"berth.dev/berth/pkg/cli/internal/output"
)

var projects = kinds.Kind[*berthv1alpha1.OpenStackProject, *berthv1alpha1.OpenStackProjectList]{
	Name: projectKind, Title: "OpenStackProject", Command: "os project",
	API: func(clients client.Clients, namespace string) kinds.API[*berthv1alpha1.OpenStackProject, *berthv1alpha1.OpenStackProjectList] {
		return clients.Berth.BerthV1alpha1().OpenStackProjects(namespace)
	},
	Columns: []output.Column{{Name: "Template"}, {Name: "Metrics"}, {Name: "Labels"}, {Name: "User", Wide: true}, {Name: "URL", Wide: true}},
	Row: func(p *berthv1alpha1.OpenStackProject) []any {
		return []any{
			p.Spec.Template, kinds.Samples(p.Status.Metrics), kinds.Labels(p.Labels),
			clusters.OrNone(p.Spec.UserID), clusters.OrNone(p.Spec.URL),
		}
	},
}

var magnumClusters = kinds.Kind[*berthv1alpha1.MagnumCluster, *berthv1alpha1.MagnumClusterList]{
	Name: clusterKind, Title: "MagnumCluster", Command: "os cluster",
	API: func(clients client.Clients, namespace string) kinds.API[*berthv1alpha1.MagnumCluster, *berthv1alpha1.MagnumClusterList] {
		return clients.Berth.BerthV1alpha1().MagnumClusters(namespace)
	},
	Columns: []output.Column{
		{Name: "Project"}, {Name: "Template"}, {Name: "Bound"}, {Name: "Reason"}, {Name: "Masters", Wide: true}, {Name: "Nodes", Wide: true},
	},
	Row: func(c *berthv1alpha1.MagnumCluster) []any {
		bound, reason := kinds.Condition(c.Status.Conditions, berthv1alpha1.MagnumClusterBound)
		return []any{
			kinds.Place(c.Status.ScheduledTo), clusters.OrNone(c.Status.Template), bound, reason,
			count(c.Spec.MasterCount), count(c.Spec.NodeCount),
		}
	},
}

func count(number *int32) string {
	if number == nil {
		return clusters.OrNone("")
	}
	return strconv.Itoa(int(*number))
}
