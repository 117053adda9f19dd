// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"k8s.io/utils/clock"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/workload"
)

// Objects are Berth's objects at hand, for catalogs that watch nothing. They must not be changed
// afterwards.
type Objects struct {
	// Clusters are all Clusters.
	Clusters []*berthv1alpha1.Cluster
	// Policies are the PropagationPolicies of all namespaces.
	Policies []*berthv1alpha1.PropagationPolicy
	// Resources are all ClusterResources, with what is allocatable in their status.
	Resources []*berthv1alpha1.ClusterResource
	// Subscriptions are those of all namespaces.
	Subscriptions []*berthv1alpha1.Subscription
	// Further looks up owners of operators' kinds; without it the references of pods to them are taken
	// at their word.
	Further workload.FurtherSource
}

// Fixed are catalogs of objects at hand. They must not be Run.
type Fixed struct {
	// Definitions, Resources and Subscriptions are never nil.
	Definitions   *Catalog
	Resources     *ResourceCatalog
	Subscriptions *SubscriptionCatalog
	// Homes let one scheduler take everything: which of several would is not asked.
	Homes *HomeCatalog
}

// NewFixed returns empty catalogs. It is followed by Set.
func NewFixed(clk clock.WithTicker) *Fixed {
	f := &Fixed{
		Definitions:   &Catalog{newBoard[Snapshot]("", clk, 0, nil)},
		Resources:     &ResourceCatalog{newBoard[Resources]("", clk, 0, nil)},
		Subscriptions: &SubscriptionCatalog{newBoard[Subscriptions]("", clk, 0, nil)},
		Homes:         &HomeCatalog{newBoard[Homes]("", clk, 0, nil)},
	}
	f.Homes.snapshot.Store(buildHomes("", nil, nil))
	return f
}

// Set replaces the objects. What has not changed is not compiled again.
func (f *Fixed) Set(objects *Objects) {
	f.Definitions.snapshot.Store(build(objects.Clusters, objects.Policies, f.Definitions.Snapshot()))
	f.Resources.snapshot.Store(buildResources(objects.Resources, f.Resources.Snapshot()))
	f.Subscriptions.snapshot.Store(buildSubscriptions(objects.Subscriptions))
}
