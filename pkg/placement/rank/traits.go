// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package rank

import (
	"maps"
	"slices"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/placement/constraint"
)

// Traits are what constraints compare of a Cluster, but for the values of its metrics: what stays
// as it is until somebody changes the Cluster.
type Traits struct {
	// Labels are those of the Cluster, and the fields that count as labels.
	Labels map[string]string

	spec *berthv1alpha1.ClusterSpec
}

// TraitsOf returns the traits of a Cluster, which must not be changed afterwards.
func TraitsOf(cluster *berthv1alpha1.Cluster) Traits {
	return Traits{Labels: LabelsOf(cluster), spec: &cluster.Spec}
}

// Equal reports whether no constraint can tell one from the other.
func (t Traits) Equal(other Traits) bool {
	a, b := t.spec, other.spec
	return maps.Equal(t.Labels, other.Labels) && slices.Equal(a.CustomResources, b.CustomResources) && slices.Equal(a.Metrics, b.Metrics) &&
		slices.Equal(a.Flavors, b.Flavors) && slices.Equal(a.Storage, b.Storage) && a.EIPCapacity == b.EIPCapacity &&
		a.CPUCapacity == b.CPUCapacity && a.MemCapacity == b.MemCapacity && a.ServerPrice == b.ServerPrice
}

// Exclude reports whether a Cluster with the traits does not meet the constraints, whatever the
// values of its metrics are.
func (c *Constraints) Exclude(t *Traits) bool {
	fixed := Query{Constraints: *c}
	fixed.Constraints.Metrics = slices.DeleteFunc(slices.Clone(c.Metrics), t.measure)
	candidate := Candidate{Labels: t.Labels, CustomResources: t.spec.CustomResources}
	if len(fixed.Constraints.Metrics) > 0 {
		candidate.Numbers = numbers(&t.spec.ClusterProfile)
	}
	return len(rejections(&fixed, &candidate, false)) > 0
}

// measure reports whether a constraint is about a metric of the Cluster.
func (t *Traits) measure(wanted *constraint.Constraint) bool {
	return slices.ContainsFunc(t.spec.Metrics, func(m berthv1alpha1.MetricReference) bool { return m.Name == wanted.Key() })
}
