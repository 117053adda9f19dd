// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package clusterresource

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	"berth.dev/berth/apis/config"
	"berth.dev/berth/pkg/plugins/internal/cyclestate"
	"berth.dev/berth/pkg/plugins/internal/guard"
)

// PreScore works out how full the pools of each site are. It is skipped if all feasible nodes draw
// on the same ones.
func (p *ClusterResource) PreScore(
	ctx context.Context, cycle fwk.CycleState, _ *corev1.Pod, nodes []fwk.NodeInfo,
) (status *fwk.Status) {
	defer guard.Rescue(ctx, Name, "PreScore", &status)
	s, _ := p.kept.Read(cycle, stateKey).(*state)
	if s == nil {
		return skip
	}
	s.scores = make([]map[int32]int64, len(s.claims))
	differ := false
	for i := range s.claims {
		c := &s.claims[i]
		s.scores[i] = map[int32]int64{}
		for _, info := range nodes {
			site, known := c.places.SiteOf(info.Node().Name)
			if _, done := s.scores[i][site]; !known || done {
				continue
			}
			s.scores[i][site] = c.score(site, p.strategy)
		}
		differ = differ || len(s.scores[i]) > 1
	}
	if !differ {
		return skip
	}
	return nil
}

// score rates the pools of a site from 0 to 100 by the part of them that is left with the pod
// charged: of the pool that would be charged, or with several the one that has least left.
func (c *claim) score(site int32, strategy config.ScoringStrategy) int64 {
	r := c.places.Resource()
	chosen, _ := r.Choose(c.places.Pools(site), c.left, c.units)
	part := float64(1)
	for _, i := range chosen {
		if total := r.Pools()[i].Allocatable; total > 0 {
			part = min(part, float64(max(0, c.free[i]-c.units))/float64(total))
		}
	}
	if strategy == config.MostAllocated {
		part = 1 - part
	}
	return int64(part * float64(fwk.MaxNodeScore))
}

// Score returns the mean rate of what the pod asks for, the same for all nodes that draw on the
// same pools.
func (p *ClusterResource) Score(
	ctx context.Context, cycle fwk.CycleState, _ *corev1.Pod, node fwk.NodeInfo,
) (score int64, status *fwk.Status) {
	defer guard.Rescue(ctx, Name, "Score", &status)
	s, _ := p.kept.Read(cycle, stateKey).(*state)
	if s == nil {
		return 0, cyclestate.Missing(stateKey)
	}
	var sum int64
	for i := range s.claims {
		if site, known := s.claims[i].places.SiteOf(node.Node().Name); known {
			sum += s.scores[i][site]
		}
	}
	return sum / int64(len(s.claims)), nil
}

// ScoreExtensions returns nil: scores are in range from the start.
func (*ClusterResource) ScoreExtensions() fwk.ScoreExtensions {
	return nil
}
