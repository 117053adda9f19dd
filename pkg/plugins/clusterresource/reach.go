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
// pod selects draws on cannot serve it, and neither can one that had enough and did not help.
func needsOf(pod *corev1.Pod, s *state, nodes []fwk.NodeInfo) []waitlist.Need {
	needs := make([]waitlist.Need, len(s.claims))
	for i := range s.claims {
		c := &s.claims[i]
		needs[i] = waitlist.Need{Resource: c.request.Resource, Units: c.units}
		reached := c.reached(pod, nodes)
		for n, p := range c.places.Resource().Pools() {
			helpless := len(s.claims) == 1 && c.free[n] >= c.units
			if reached(int32(n)) && !helpless {
				needs[i].Pools = append(needs[i].Pools, p.Name)
			}
		}
	}
	return needs
}

// reached tells which pools the nodes draw on that the pod selects.
func (c *claim) reached(pod *corev1.Pod, nodes []fwk.NodeInfo) func(pool int32) bool {
	affinity := pod.Spec.Affinity
	if len(pod.Spec.NodeSelector) == 0 && (affinity == nil || affinity.NodeAffinity == nil) {
		return func(pool int32) bool { return c.places.Selected(pool) > 0 }
	}
	required := nodeaffinity.GetRequiredNodeAffinity(pod)
	sites, pools := make([]bool, c.places.Sites()), make([]bool, len(c.free))
	for _, info := range nodes {
		site, known := c.places.SiteOf(info.Node().Name)
		if !known || sites[site] {
			continue
		}
		if matches, err := required.Match(info.Node()); err == nil && matches {
			sites[site] = true
			for _, pool := range c.places.Pools(site) {
				pools[pool] = true
			}
		}
	}
	return func(pool int32) bool { return pools[pool] }
}
