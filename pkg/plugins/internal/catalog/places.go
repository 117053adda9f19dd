// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"maps"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/api/equality"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/placement/rank"
)

// Place is a Cluster as constraints and scores see it. A Cluster whose labels, metrics, custom
// resources and readiness stay the same is the same *Place in all snapshots. It is safe for
// concurrent use.
type Place struct {
	object *berthv1alpha1.Cluster

	mu         sync.Mutex
	candidates map[string]*rank.Candidate
}

// Candidate returns the Cluster as a candidate for something in a namespace. It must not be
// changed.
func (p *Place) Candidate(namespace string) *rank.Candidate {
	// Only namespaces that have metrics of their own see it differently from all others.
	if !slices.ContainsFunc(p.object.Spec.Metrics, func(m berthv1alpha1.MetricReference) bool { return m.Namespace == namespace }) {
		namespace = ""
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if known := p.candidates[namespace]; known != nil {
		return known
	}
	candidate := rank.ClusterCandidate(p.object, namespace)
	if p.candidates == nil {
		p.candidates = map[string]*rank.Candidate{}
	}
	p.candidates[namespace] = &candidate
	return &candidate
}

// placeChanged tells a change of what constraints and scores look at, or of the spec, from other
// writes of status.
func placeChanged(oldObj, newObj any) bool {
	before, okBefore := oldObj.(*berthv1alpha1.Cluster)
	after, okAfter := newObj.(*berthv1alpha1.Cluster)
	return !okBefore || !okAfter || !samePlace(before, after)
}

func samePlace(a, b *berthv1alpha1.Cluster) bool {
	return a.UID == b.UID && a.Generation == b.Generation && rank.Unavailable(a) == rank.Unavailable(b) &&
		maps.Equal(a.Labels, b.Labels) &&
		equality.Semantic.DeepEqual(a.Status.Allocatable, b.Status.Allocatable) && slices.Equal(a.Status.Pools, b.Status.Pools) &&
		equality.Semantic.DeepEqual(a.Status.Room, b.Status.Room) && equality.Semantic.DeepEqual(a.Status.Metrics, b.Status.Metrics)
}

// buildPlaces takes over from the snapshot before what has not changed.
func buildPlaces(clusters []*berthv1alpha1.Cluster, before *Snapshot) map[string]*Place {
	places := make(map[string]*Place, len(clusters))
	for _, cluster := range clusters {
		if before != nil {
			if known := before.places[cluster.Name]; known != nil && samePlace(known.object, cluster) {
				places[cluster.Name] = known
				continue
			}
		}
		places[cluster.Name] = &Place{object: cluster}
	}
	return places
}

// Places returns all Clusters by name. The map must not be changed.
func (s *Snapshot) Places() map[string]*Place {
	return s.places
}
