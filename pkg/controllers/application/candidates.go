// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package application

import (
	"slices"
	"sync"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/placement/rank"
)

// candidates remembers the Clusters as candidates, because hundreds of Applications ask for the
// same ones. It is safe for concurrent use.
type candidates struct {
	mu    sync.Mutex
	known map[string]*known
	// all are the known ones if they look the same from all namespaces, nil until somebody asks.
	all        []rank.Candidate
	namespaced bool
}

// known is a Cluster with what it is as a candidate, by namespace.
type known struct {
	cluster     *berthv1alpha1.Cluster
	byNamespace map[string]rank.Candidate
}

// list returns Clusters as candidates for an Application. Nobody may change the result.
func (c *candidates) list(clusters []*berthv1alpha1.Cluster, app *berthv1alpha1.Application) []rank.Candidate {
	found := make([]rank.Candidate, 0, len(clusters))
	if len(app.Spec.Metrics) > 0 { // Nobody else asks for these weights.
		for _, cluster := range clusters {
			found = append(found, rank.ApplicationCandidate(cluster, app))
		}
		return found
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.see(clusters)
	if c.all != nil {
		return c.all
	}
	for _, cluster := range clusters {
		found = append(found, c.known[cluster.Name].in(app.Namespace))
	}
	if !c.namespaced {
		c.all = found
	}
	return found
}

// see forgets what is not as it was.
func (c *candidates) see(clusters []*berthv1alpha1.Cluster) {
	same := len(clusters) == len(c.known)
	for _, cluster := range clusters {
		same = same && c.known[cluster.Name] != nil && c.known[cluster.Name].cluster == cluster
	}
	if same {
		return
	}
	before := c.known
	c.known, c.all, c.namespaced = make(map[string]*known, len(clusters)), nil, false
	for _, cluster := range clusters {
		entry := before[cluster.Name]
		if entry == nil || entry.cluster != cluster {
			entry = &known{cluster, map[string]rank.Candidate{}}
		}
		c.known[cluster.Name] = entry
		c.namespaced = c.namespaced || entry.namespaced()
	}
}

// namespaced reports whether a Cluster looks different from different namespaces.
func (k *known) namespaced() bool {
	return slices.ContainsFunc(k.cluster.Spec.Metrics, func(m berthv1alpha1.MetricReference) bool { return m.Namespace != "" })
}

// in returns what a Cluster is as a candidate for something in a namespace.
func (k *known) in(namespace string) rank.Candidate {
	if !k.namespaced() {
		namespace = ""
	}
	candidate, found := k.byNamespace[namespace]
	if !found {
		candidate = rank.ClusterCandidate(k.cluster, namespace)
		k.byNamespace[namespace] = candidate
	}
	return candidate
}
