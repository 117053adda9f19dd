// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package rank

import (
	"maps"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// LabelsOf returns what label constraints and selectors of clusters compare: the labels of a
// Cluster and, under the names of their fields, where its spec says that it is and who runs it:
// geoLocation.country, region.region and operator.operator for instance. A field that is given
// hides a label of the same name. The result must not be changed: it may be the labels themselves.
func LabelsOf(cluster *berthv1alpha1.Cluster) map[string]string {
	profile := &cluster.Spec.ClusterProfile
	var fields map[string]string
	set := func(name, value string) {
		if value == "" {
			return
		}
		if fields == nil {
			fields = make(map[string]string, len(cluster.Labels)+7)
			maps.Copy(fields, cluster.Labels)
		}
		fields[name] = value
	}
	if geo := profile.GeoLocation; geo != nil {
		set("geoLocation.city", geo.City)
		set("geoLocation.province", geo.Province)
		set("geoLocation.area", geo.Area)
		set("geoLocation.country", geo.Country)
	}
	if region := profile.Region; region != nil {
		set("region.region", region.Region)
		set("region.availabilityZone", region.AvailabilityZone)
	}
	if operator := profile.Operator; operator != nil {
		set("operator.operator", operator.Operator)
	}
	if fields == nil {
		return cluster.Labels
	}
	return fields
}
