// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package rank

import (
	"maps"
	"slices"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// field is a part of a Cluster's spec that is compared like a label.
type field struct {
	name string
	of   func(*berthv1alpha1.ClusterProfile) string
}

// fields say where a Cluster is and who runs it.
var fields = []field{
	{"geoLocation.city", func(p *berthv1alpha1.ClusterProfile) string { return geo(p).City }},
	{"geoLocation.province", func(p *berthv1alpha1.ClusterProfile) string { return geo(p).Province }},
	{"geoLocation.area", func(p *berthv1alpha1.ClusterProfile) string { return geo(p).Area }},
	{"geoLocation.country", func(p *berthv1alpha1.ClusterProfile) string { return geo(p).Country }},
	{"region.region", func(p *berthv1alpha1.ClusterProfile) string { return region(p).Region }},
	{"region.availabilityZone", func(p *berthv1alpha1.ClusterProfile) string { return region(p).AvailabilityZone }},
	{"operator.operator", func(p *berthv1alpha1.ClusterProfile) string { return given(p.Operator).Operator }},
}

func geo(p *berthv1alpha1.ClusterProfile) berthv1alpha1.GeoLocation { return given(p.GeoLocation) }

func region(p *berthv1alpha1.ClusterProfile) berthv1alpha1.Region { return given(p.Region) }

// given returns what there is, and the zero value for nothing.
func given[T any](part *T) (is T) {
	if part != nil {
		is = *part
	}
	return is
}

// IsField reports whether LabelsOf has a field of the spec under this name.
func IsField(name string) bool {
	return slices.ContainsFunc(fields, func(f field) bool { return f.name == name })
}

// LabelsOf returns what label constraints and selectors of clusters compare: the labels of a
// Cluster and, under the names of their fields, where its spec says that it is and who runs it:
// geoLocation.country, region.region and operator.operator for instance. A field that is given
// hides a label of the same name. The result must not be changed: it may be the labels themselves.
func LabelsOf(cluster *berthv1alpha1.Cluster) map[string]string {
	labels := cluster.Labels
	copied := false
	for _, f := range fields {
		value := f.of(&cluster.Spec.ClusterProfile)
		if value == "" {
			continue
		}
		if !copied {
			labels, copied = make(map[string]string, len(cluster.Labels)+len(fields)), true
			maps.Copy(labels, cluster.Labels)
		}
		labels[f.name] = value
	}
	return labels
}
