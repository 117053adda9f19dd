// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package clusters

import (
	"io"

	apimeta "k8s.io/apimachinery/pkg/api/meta"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/cli/internal/output"
	"berth.dev/berth/pkg/registration"
)

const (
	// none stands for what has no value, unknown for what is not known yet.
	none    = "<none>"
	unknown = "Unknown"
)

var columns = []output.Column{
	{Name: "Name"}, {Name: "ID"}, {Name: "Ready"}, {Name: "Nodes"}, {Name: "City"}, {Name: "Region"}, {Name: "Zone"},
	{Name: "Scheduler"},
	{Name: "Country", Wide: true}, {Name: "Operator", Wide: true}, {Name: "Address", Wide: true}, {Name: "CPUs", Wide: true},
	{Name: "Memory-GiB", Wide: true}, {Name: "Price", Wide: true},
}

// Table prints a row for each cluster.
func Table(w io.Writer, wide bool, all []berthv1alpha1.Cluster) error {
	rows := make([][]any, 0, len(all))
	for i := range all {
		profile := registration.FromCluster(&all[i])
		spec := &profile.Spec
		rows = append(rows, []any{
			profile.Name, profile.ID, ready(&all[i]), all[i].Status.NodeCount, OrNone(spec.GeoLocation.City),
			OrNone(spec.Region.Region), OrNone(spec.Region.AvailabilityZone), OrNone(spec.HomeScheduler),
			OrNone(spec.GeoLocation.Country), OrNone(spec.Operator.Operator), OrNone(spec.IPAddress), spec.CPUCapacity,
			spec.MemCapacity, spec.ServerPrice,
		})
	}
	return output.Rows(w, wide, columns, rows)
}

// OrNone returns a text for a cell, which must not be empty.
func OrNone(text string) string {
	if text == "" {
		return none
	}
	return text
}

// ready is what the condition Ready of a cluster says, and whether the cluster is cordoned in the
// words that kubectl has for nodes.
func ready(cluster *berthv1alpha1.Cluster) string {
	condition := apimeta.FindStatusCondition(cluster.Status.Conditions, berthv1alpha1.ClusterReady)
	if condition == nil {
		return unknown
	}
	if cluster.Spec.Unschedulable {
		return string(condition.Status) + ",SchedulingDisabled"
	}
	return string(condition.Status)
}

// Profiles are the clusters as the registration API shows them.
func Profiles(all []berthv1alpha1.Cluster) registration.List {
	list := registration.List{Clusters: make([]registration.Profile, 0, len(all))}
	for i := range all {
		list.Clusters = append(list.Clusters, registration.FromCluster(&all[i]))
	}
	return list
}
