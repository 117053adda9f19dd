// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package registration

import (
	"fmt"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// storageTypes are those that the published API names. Others are taken, with a warning.
var storageTypes = []string{"sata", "sas", "ssd"}

// FromCluster returns the profile of a Cluster. The home scheduler is the one that the cluster is
// bound to.
func FromCluster(cluster *berthv1alpha1.Cluster) Profile {
	spec := &cluster.Spec
	profile := Profile{
		ID:   string(cluster.UID),
		Name: cluster.Name,
		Spec: Spec{
			IPAddress:       spec.IPAddress,
			Flavors:         make([]Flavor, 0, len(spec.Flavors)),
			Storage:         make([]Storage, 0, len(spec.Storage)),
			EIPCapacity:     spec.EIPCapacity,
			CPUCapacity:     spec.CPUCapacity,
			MemCapacity:     spec.MemCapacity,
			ServerPrice:     spec.ServerPrice,
			HomeScheduler:   cluster.Status.HomeScheduler,
			HomeDispatcher:  spec.HomeDispatcher,
			Nodes:           slices.Clone(spec.Nodes),
			MatchLabels:     maps.Clone(spec.MatchLabels),
			Labels:          maps.Clone(cluster.Labels),
			CustomResources: slices.Clone(spec.CustomResources),
			Unschedulable:   unlessZero(spec.Unschedulable),
			Drain:           unlessZero(spec.Drain),
		},
	}
	if spec.GeoLocation != nil {
		profile.Spec.GeoLocation = GeoLocation(*spec.GeoLocation)
	}
	if spec.Region != nil {
		profile.Spec.Region = Region(*spec.Region)
	}
	if spec.Operator != nil {
		profile.Spec.Operator = Operator(*spec.Operator)
	}
	if provision := spec.Provision; provision != nil {
		profile.Spec.Provision = &Provision{
			CloudNamespace: provision.CloudNamespace, CloudLabels: slices.Clone(provision.CloudLabels),
			CloudMetrics: slices.Clone(provision.CloudMetrics),
		}
	}
	for _, flavor := range spec.Flavors {
		profile.Spec.Flavors = append(profile.Spec.Flavors, Flavor(flavor))
	}
	for _, storage := range spec.Storage {
		profile.Spec.Storage = append(profile.Spec.Storage, Storage(storage))
	}
	for _, metric := range spec.Metrics {
		profile.Spec.Metrics = append(profile.Spec.Metrics, Metric(metric))
	}
	return profile
}

// Cluster returns the Cluster to be made from a profile.
func (p *Profile) Cluster() *berthv1alpha1.Cluster {
	cluster := &berthv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: p.Name}}
	p.Apply(cluster)
	return cluster
}

// Apply makes a Cluster what the profile says. What a profile cannot say stays as it is, the name,
// a pinned scheduler and whether it is cordoned, and so does what the published form cannot say and
// the profile does not mention: nodes, labels and the like, on which the place of replicas depends.
func (p *Profile) Apply(cluster *berthv1alpha1.Cluster) {
	if p.Spec.Labels != nil {
		cluster.Labels = maps.Clone(p.Spec.Labels)
	}
	spec := berthv1alpha1.ClusterSpec{
		Nodes:           cluster.Spec.Nodes,
		MatchLabels:     cluster.Spec.MatchLabels,
		Unschedulable:   ptr.Deref(p.Spec.Unschedulable, cluster.Spec.Unschedulable),
		Drain:           ptr.Deref(p.Spec.Drain, cluster.Spec.Drain),
		HomeScheduler:   cluster.Spec.HomeScheduler,
		HomeDispatcher:  p.Spec.HomeDispatcher,
		Metrics:         cluster.Spec.Metrics,
		CustomResources: cluster.Spec.CustomResources,
		Provision:       cluster.Spec.Provision,
	}
	spec.ClusterProfile = p.carried()
	if p.Spec.Nodes != nil {
		spec.Nodes = slices.Clone(p.Spec.Nodes)
	}
	if p.Spec.MatchLabels != nil {
		spec.MatchLabels = maps.Clone(p.Spec.MatchLabels)
	}
	if p.Spec.CustomResources != nil {
		spec.CustomResources = slices.Clone(p.Spec.CustomResources)
	}
	if provision := p.Spec.Provision; provision != nil {
		spec.Provision = &berthv1alpha1.ClusterProvision{
			CloudNamespace: provision.CloudNamespace, CloudLabels: slices.Clone(provision.CloudLabels),
			CloudMetrics: slices.Clone(provision.CloudMetrics),
		}
	}
	for _, flavor := range p.Spec.Flavors {
		spec.Flavors = append(spec.Flavors, berthv1alpha1.Flavor(flavor))
	}
	for _, storage := range p.Spec.Storage {
		spec.Storage = append(spec.Storage, berthv1alpha1.Storage(storage))
	}
	if p.Spec.Metrics != nil {
		spec.Metrics = nil
	}
	for _, metric := range p.Spec.Metrics {
		spec.Metrics = append(spec.Metrics, berthv1alpha1.MetricReference(metric))
	}
	cluster.Spec = spec
}

// carried is what the profile tells of a cluster and the cluster carries as it is.
func (p *Profile) carried() berthv1alpha1.ClusterProfile {
	return berthv1alpha1.ClusterProfile{
		IPAddress:   p.Spec.IPAddress,
		GeoLocation: unlessZero(berthv1alpha1.GeoLocation(p.Spec.GeoLocation)),
		Region:      unlessZero(berthv1alpha1.Region(p.Spec.Region)),
		Operator:    unlessZero(berthv1alpha1.Operator(p.Spec.Operator)),
		EIPCapacity: p.Spec.EIPCapacity,
		CPUCapacity: p.Spec.CPUCapacity,
		MemCapacity: p.Spec.MemCapacity,
		ServerPrice: p.Spec.ServerPrice,
	}
}

func unlessZero[T comparable](value T) *T {
	var zero T
	if value == zero {
		return nil
	}
	return &value
}

// Warnings tells what in a request to register is accepted and still not what the caller may
// expect.
func (p *Profile) Warnings() []string { return p.warnings("", nil) }

// ChangeWarnings tells the same of a request to change a cluster, as it was before.
func (p *Profile) ChangeWarnings(before *berthv1alpha1.Cluster) []string {
	var warnings []string
	for _, key := range []struct {
		name, empty string
		kept        bool
	}{
		{"nodes", "list", p.Spec.Nodes == nil && len(before.Spec.Nodes) > 0},
		{"matchLabels", "object", p.Spec.MatchLabels == nil && len(before.Spec.MatchLabels) > 0},
		{"labels", "object", p.Spec.Labels == nil && len(before.Labels) > 0},
		{"metrics", "list", p.Spec.Metrics == nil && len(before.Spec.Metrics) > 0},
		{"customResources", "list", p.Spec.CustomResources == nil && len(before.Spec.CustomResources) > 0},
	} {
		if key.kept {
			warnings = append(warnings, fmt.Sprintf("%s are kept, because the request has none: an empty %s removes them", key.name, key.empty))
		}
	}
	for _, key := range []struct {
		name string
		kept bool
	}{
		{"unschedulable", p.Spec.Unschedulable == nil && before.Spec.Unschedulable},
		{"drain", p.Spec.Drain == nil && before.Spec.Drain},
	} {
		if key.kept {
			warnings = append(warnings, key.name+" is kept, because the request has none: false removes it")
		}
	}
	return p.warnings(before.Status.HomeScheduler, warnings)
}

func (p *Profile) warnings(home string, warnings []string) []string {
	if p.Spec.HomeScheduler != "" && p.Spec.HomeScheduler != home {
		warnings = append(warnings, "HomeScheduler is ignored: Berth chooses the scheduler of a cluster")
	}
	for _, storage := range p.Spec.Storage {
		if !slices.Contains(storageTypes, storage.TypeID) {
			// One is enough: there may be a hundred.
			return append(warnings, fmt.Sprintf("storage type %.64q is none of sata, sas and ssd", storage.TypeID))
		}
	}
	return warnings
}
