// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package catalog keeps the Clusters and PropagationPolicies at hand for the scheduling cycle, as
// immutable snapshots. It runs its own informers instead of registering the kinds as queueing
// events, because a scheduler that waits for the events of a CRD that is not installed blocks every
// pod for ever.
package catalog

import (
	"fmt"
	"maps"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/generated/clientset/versioned"
	"berth.dev/berth/pkg/model/policy"
	"berth.dev/berth/pkg/placement/grouping"
	"berth.dev/berth/pkg/placement/membership"
	"berth.dev/berth/pkg/placement/policymatch"
)

// Snapshot is an immutable picture of all Clusters and policies.
type Snapshot struct {
	// Membership tells which node lies in which cluster.
	Membership *membership.Index
	// Matcher tells which policy is in force for which workload.
	Matcher *policymatch.Index

	// Cordoned are the names of the clusters that take no new pods.
	Cordoned map[string]bool

	sites       *grouping.Sites
	policies    policy.Set
	constrained map[string]bool // namespaces with a policy that has constraints
	clusters    map[string]clusterVersion
	places      map[string]*Place
}

// clusterVersion changes whenever the nodes of a cluster may.
type clusterVersion struct {
	uid        types.UID
	generation int64
}

// Policy returns a policy by namespace and name, nil if there is none.
func (s *Snapshot) Policy(namespace, name string) *policy.Policy {
	return s.policies[types.NamespacedName{Namespace: namespace, Name: name}]
}

// Catalog keeps the newest Snapshot. It is safe for concurrent use.
type Catalog struct {
	*board[Snapshot]
}

// New returns a catalog that reads through the client once Run is called. While the first lists
// fail for longer than patience, Unreadable says why. onChange is called after each new snapshot,
// and with two nils when the answer of Unreadable has changed; it is called from one goroutine and
// may take its time.
func New(
	client versioned.Interface, clk clock.WithTicker, patience time.Duration, onChange func(before, after *Snapshot),
) (*Catalog, error) {
	c := &Catalog{newBoard("Clusters or PropagationPolicies", clk, patience, onChange)}
	berth := client.BerthV1alpha1()
	clusters, err := newSource("Cluster", listWatch(berth.Clusters()), &berthv1alpha1.Cluster{}, clk, placeChanged, c.markDirty)
	if err != nil {
		return nil, fmt.Errorf("preparing the watch of Clusters: %w", err)
	}
	policies, err := newSource("PropagationPolicy", listWatch(berth.PropagationPolicies(metav1.NamespaceAll)),
		&berthv1alpha1.PropagationPolicy{}, clk, policyChanged, c.markDirty)
	if err != nil {
		return nil, fmt.Errorf("preparing the watch of PropagationPolicies: %w", err)
	}
	c.sources = []*source{clusters, policies}
	c.build = func(before *Snapshot) *Snapshot {
		return build(typed[*berthv1alpha1.Cluster](clusters), typed[*berthv1alpha1.PropagationPolicy](policies), before)
	}
	return c, nil
}

func build(
	clusters []*berthv1alpha1.Cluster, policies []*berthv1alpha1.PropagationPolicy, before *Snapshot,
) *Snapshot {
	var known policy.Set
	var sites *grouping.Sites
	if before != nil {
		known, sites = before.policies, before.sites
	}
	sites = grouping.NewSites(clusters, sites)
	s := &Snapshot{
		Cordoned: sites.Cordoned(),
		sites:    sites,
		policies: policy.NewSet(policies, sites, known),
		clusters: make(map[string]clusterVersion, len(clusters)),
		places:   buildPlaces(clusters, before),
	}
	if before != nil && maps.Equal(before.policies, s.policies) {
		s.Matcher, s.constrained = before.Matcher, before.constrained
	} else {
		s.Matcher, s.constrained = policymatch.NewIndex(policies), constrained(s.policies)
	}
	for _, cluster := range clusters {
		s.clusters[cluster.Name] = clusterVersion{uid: cluster.UID, generation: cluster.Generation}
	}
	if before != nil && len(ChangedClusters(before, s)) == 0 {
		s.Membership = before.Membership
	} else {
		s.Membership = membership.NewIndex(clusters)
	}
	return s
}

// policyChanged tells a change of what a policy means from other writes of its status.
func policyChanged(oldObj, newObj any) bool {
	before, okBefore := oldObj.(*berthv1alpha1.PropagationPolicy)
	after, okAfter := newObj.(*berthv1alpha1.PropagationPolicy)
	return !okBefore || !okAfter || specChanged(oldObj, newObj) || !policy.SameMeaning(before, after)
}
