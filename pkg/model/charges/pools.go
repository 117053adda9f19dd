// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package charges

import (
	"iter"

	corev1 "k8s.io/api/core/v1"

	"berth.dev/berth/pkg/placement/pool"
)

// Pools knows which pools of which ClusterResources select which nodes. The methods that read may
// be called concurrently between two changes, once Rank has been called after the first of these;
// but ChargeStrays counts as a change.
type Pools struct {
	labels map[string]map[string]string // by node
	places map[string]*pool.Places      // by ClusterResource
}

// NewPools returns pools of nothing and nowhere.
func NewPools() *Pools {
	return &Pools{labels: map[string]map[string]string{}, places: map[string]*pool.Places{}}
}

// SetNode adds a node, or its new labels.
func (p *Pools) SetNode(node *corev1.Node) {
	p.labels[node.Name] = node.Labels
	for _, places := range p.places {
		places.Set(node.Name, node.Labels)
	}
}

// DropNode removes a node.
func (p *Pools) DropNode(name string) {
	delete(p.labels, name)
	for _, places := range p.places {
		places.Drop(name)
	}
}

// Use replaces the ClusterResources. What is known of the same Resource as before is kept.
func (p *Pools) Use(resources iter.Seq[*pool.Resource]) {
	before := p.places
	p.places = make(map[string]*pool.Places, len(before))
	for r := range resources {
		places := before[r.Name()]
		if places == nil || places.Resource() != r {
			places = pool.NewPlaces(r)
			for name, labels := range p.labels {
				places.Set(name, labels)
			}
		}
		p.places[r.Name()] = places
	}
}

// Rank puts the pools of each node in order, the most specific first. It must be called after
// changes and before anything is read.
func (p *Pools) Rank() {
	for _, places := range p.places {
		places.Rank()
	}
}

// Places returns which pools of a ClusterResource select which node, nil if there is none of that
// name.
func (p *Pools) Places(resource string) *pool.Places {
	return p.places[resource]
}
