// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package clusterresource

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	fwk "k8s.io/kube-scheduler/framework"

	"berth.dev/berth/pkg/plugins/internal/waitlist"
)

// needsOf returns what a pod waits for that was rejected. A pool that none of the nodes which the
// pod selects draws on cannot serve it, and neither can one that had enough and did not help. Left
// reports of a node whether other plugins leave it to the pod, for now; it is nil if they leave it
// all.
func needsOf(pod *corev1.Pod, s *state, nodes []fwk.NodeInfo, left func(node string) bool) []waitlist.Need {
	needs := make([]waitlist.Need, len(s.claims))
	for i := range s.claims {
		c := &s.claims[i]
		needs[i] = waitlist.Need{Resource: c.request.Resource, Units: c.units}
		needs[i].Sites = c.sites(c.reached(pod, nodes, nil), len(s.claims) == 1)
		if left != nil && c.places.Sites() > 1 {
			needs[i].Near = append([][]string{}, c.sites(c.reached(pod, nodes, left), len(s.claims) == 1)...)
		}
	}
	return needs
}

// sites returns the pools that can serve the claim: in mode AllOf those of each site, otherwise all
// of them, of which one suffices.
func (c *claim) sites(reached func(site int32) bool, only bool) [][]string {
	if c.places.Resource().AllOf() {
		return c.together(reached, only)
	}
	if pools := c.either(reached, only); len(pools) > 0 {
		return [][]string{pools}
	}
	return nil
}

// together returns the pools of each site that can serve the claim, for mode AllOf. Where there was
// enough for the only claim of a pod something else is in the way.
func (c *claim) together(reached func(site int32) bool, only bool) (sites [][]string) {
	r := c.places.Resource()
	for site := range int32(c.places.Sites()) {
		pools := c.places.Pools(site)
		if len(pools) == 0 || !reached(site) || only && r.Admits(pools, c.left, c.units) {
			continue
		}
		names := make([]string, len(pools))
		for n, i := range pools {
			names[n] = r.Pools()[i].Name
		}
		sites = append(sites, names)
	}
	return sites
}

// either returns the pools of which one can serve the claim, for mode AnyOf.
func (c *claim) either(reached func(site int32) bool, only bool) (pools []string) {
	found := make([]bool, len(c.free))
	for site := range int32(c.places.Sites()) {
		if !reached(site) {
			continue
		}
		for _, i := range c.places.Pools(site) {
			found[i] = true
		}
	}
	for i, p := range c.places.Resource().Pools() {
		if helpless := only && c.free[i] >= c.units; found[i] && !helpless {
			pools = append(pools, p.Name)
		}
	}
	return pools
}

// reached returns which sites have nodes that the pod selects, of those that are left to it.
func (c *claim) reached(pod *corev1.Pod, nodes []fwk.NodeInfo, left func(node string) bool) func(site int32) bool {
	affinity := pod.Spec.Affinity
	selects := len(pod.Spec.NodeSelector) > 0 || affinity != nil && affinity.NodeAffinity != nil
	if !selects && left == nil {
		return func(site int32) bool { return c.places.Nodes(site) > 0 }
	}
	required := nodeaffinity.GetRequiredNodeAffinity(pod)
	sites := make([]bool, c.places.Sites())
	for _, info := range nodes {
		site, known := c.places.SiteOf(info.Node().Name)
		if !known || sites[site] || left != nil && !left(info.Node().Name) {
			continue
		}
		if matches, err := required.Match(info.Node()); err == nil && matches {
			sites[site] = true
		}
	}
	return func(site int32) bool { return sites[site] }
}
