// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package clusterresource

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"berth.dev/berth/pkg/placement/pool"
	"berth.dev/berth/pkg/plugins/clusterresource/internal/preemption"
)

var _ preemption.Claims = &state{}

// Concerns reports whether charges are of a ClusterResource that the pod asks for.
func (s *state) Concerns(charges []pool.Charge) bool {
	return slices.ContainsFunc(charges, func(c pool.Charge) bool {
		return slices.ContainsFunc(s.claims, func(own claim) bool { return own.request.Resource == c.Resource })
	})
}

// SiteKey returns the same for nodes that draw on the same pools for every claim.
func (s *state) SiteKey(node string) string {
	key := make([]byte, 0, 4*len(s.claims))
	for i := range s.claims {
		site, _ := s.claims[i].places.SiteOf(node)
		key = append(key, byte(site), byte(site>>8), byte(site>>16), byte(site>>24))
	}
	return string(key)
}

// Lacks returns what the pools of a node lack for each claim; false if the node is not known.
func (s *state) Lacks(node string) ([]pool.Lack, bool) {
	lacks := make([]pool.Lack, len(s.claims))
	for i := range s.claims {
		c := &s.claims[i]
		site, known := c.places.SiteOf(node)
		if !known {
			return nil, false
		}
		lacks[i] = pool.Lack{AllOf: c.places.Resource().AllOf(), Pools: c.places.Pools(site)}
		for _, p := range lacks[i].Pools {
			lacks[i].Short = append(lacks[i].Short, pool.Short(c.free[p], c.units))
		}
	}
	return lacks, true
}

// Frees returns what the release of charges would give back for each claim, as far as this process
// can give it out again.
func (s *state) Frees(charges []pool.Charge) []pool.Freed {
	var freed []pool.Freed
	for i := range s.claims {
		r := s.claims[i].places.Resource()
		for _, c := range charges {
			at, found := r.Index(c.Pool)
			if c.Resource != r.Name() || !found || !s.claims[i].grants.Mine(c) {
				continue
			}
			freed = append(freed, pool.Freed{Claim: i, Pool: at, Units: pool.UnitsUp(c.Quantity, r.Unit())})
		}
	}
	return freed
}

// Choose returns the charges of the pod on a node; false if the node cannot meet all claims.
func (s *state) Choose(node string) ([]pool.Charge, bool) {
	var charges []pool.Charge
	for i := range s.claims {
		c := &s.claims[i]
		site, known := c.places.SiteOf(node)
		if !known {
			return nil, false
		}
		chosen, ok := c.places.Resource().Choose(c.places.Pools(site), c.left, c.units)
		if !ok {
			return nil, false
		}
		charges = append(charges, c.places.Resource().Charges(chosen, c.request)...)
	}
	for i := range charges {
		charges[i].Grantee = s.claims[0].grants.Self()
	}
	return charges, true
}

// Credit gives back what a pod holds, once.
func (s *state) Credit(pod *corev1.Pod, charges []pool.Charge) {
	if len(charges) == 0 || s.moved[pod.UID] {
		return
	}
	if s.moved == nil {
		s.moved = map[types.UID]bool{}
	}
	s.moved[pod.UID] = true
	s.book(charges, 1)
}
