// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package clusterresource

import (
	corev1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	"berth.dev/berth/pkg/placement/pool"
	"berth.dev/berth/pkg/plugins/internal/narrow"
)

// siteNames names the nodes of sites, by ClusterResource. It belongs to the scheduling cycle, like
// the view.
type siteNames map[string]*resourceNames

type resourceNames struct {
	places *pool.Places
	sets   narrow.Sets
}

// keptResources bounds the memory of siteNames: each ClusterResource costs a few bytes for every
// node.
const keptResources = 64

// of returns what names the nodes of the sites of a claim.
func (n *siteNames) of(c *claim, nodes []fwk.NodeInfo, shape int64) *narrow.Sets {
	name := c.request.Resource
	known := (*n)[name]
	if known == nil || known.places != c.places {
		if *n == nil || len(*n) >= keptResources {
			*n = siteNames{}
		}
		known = &resourceNames{places: c.places}
		(*n)[name] = known
	}
	known.sets.Follow(nodes, narrow.Version{Shape: shape, Groups: c.places.Version()}, c.places.Sites(), func(i int) int32 {
		if site, found := c.places.SiteOf(nodes[i].Node().Name); found {
			return site
		}
		return -1
	})
	return &known.sets
}

// name returns the nodes that the framework is to look at, nil for all: those that can meet the
// claim which leaves the fewest, or some of them. Filter repeats all of it. Where something else
// leaves only some nodes to the pod nothing is named, because if no node were left the framework
// would tell the user no more than the names of two plugins, and would let nobody make way.
func (p *ClusterResource) name(cycle fwk.CycleState, pod *corev1.Pod, s *state, nodes []fwk.NodeInfo) *fwk.PreFilterResult {
	if affinity := pod.Spec.Affinity; affinity != nil && affinity.NodeAffinity != nil || p.shared.Restricted(cycle) {
		return nil
	}
	narrowest, alone := s.narrowest(len(nodes))
	n := p.shared.names.of(narrowest, nodes, p.shared.View.Shape())
	set := n.Of(func(site int32) bool { return narrowest.verdict[site] == admitted })
	if p.sampling && alone && !p.shared.Retries.Thorough(pod.UID) {
		s.result.NodeNames = n.Sample(set, pod)
		s.sampled = s.result.NodeNames != nil
	}
	if !s.sampled {
		s.result.NodeNames = n.All(set)
	}
	if s.result.NodeNames == nil {
		return nil
	}
	s.narrowed = true
	return &s.result
}

// narrowest returns the claim that the fewest nodes can meet, and whether every node can meet all
// others.
func (s *state) narrowest(nodes int) (narrowest *claim, alone bool) {
	fewest, choosy := 0, 0
	for i := range s.claims {
		c, able := &s.claims[i], 0
		for site, v := range c.verdict {
			if v == admitted {
				able += c.places.Nodes(int32(site))
			}
		}
		if able < nodes {
			choosy++
		}
		if narrowest == nil || able < fewest {
			narrowest, fewest = c, able
		}
	}
	return narrowest, choosy <= 1
}

// explain gives nodes that PreFilter kept away from Filter the reasons that Filter would have
// given.
func (s *state) explain(nodes []fwk.NodeInfo, statuses fwk.NodeToStatusReader) {
	if !s.narrowed {
		return
	}
	narrow.Explain(nodes, statuses, func(i int) *fwk.Status {
		if status := s.rejection(nodes[i].Node().Name); status != nil {
			return status.WithPlugin(Name)
		}
		return nil
	})
}
