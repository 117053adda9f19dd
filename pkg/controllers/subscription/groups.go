// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package subscription

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/utils/ptr"

	"berth.dev/berth/pkg/placement/divide"
)

// choose keeps of the selected Clusters those that the groups of the subscribers choose, and finds what is wrong with them.
func (p *pass) choose(m *member) error {
	if m.problem != nil {
		return nil
	}
	if ptr.Deref(m.object.Spec.SchedulingBySubGroup, false) {
		if err := p.cut(m); err != nil {
			return err
		}
	}
	m.judge()
	return nil
}

// cut ranks the Clusters and leaves the first ones of each group: those that take pods, those that hold replicas, so that nothing
// moves, the preferred ones, and those with most room.
func (p *pass) cut(m *member) error {
	subscribers, err := subscribersOf(&m.object.Spec)
	if err != nil {
		return err
	}
	ranks := make(map[string][]int64, len(m.clusters))
	for i := range m.clusters {
		if ranks[m.clusters[i].name], err = p.rank(m, &m.clusters[i]); err != nil {
			return err
		}
	}
	slices.SortFunc(m.clusters, func(a, b candidate) int {
		return cmp.Or(-slices.Compare(ranks[a.name], ranks[b.name]), strings.Compare(a.name, b.name))
	})
	sets := make([]labels.Set, len(m.clusters))
	for i := range m.clusters {
		sets[i] = m.clusters[i].labels
	}
	groups := make([]divide.Group, len(subscribers))
	for i := range subscribers {
		groups[i] = divide.Group{Selector: subscribers[i].Selector}
		if strategy := m.object.Spec.Subscribers[i].SubGroupStrategy; strategy != nil {
			groups[i].Clusters = int(strategy.MinClusters)
		}
	}
	chosen := divide.Subgroups(sets, groups)
	kept := m.clusters[:0]
	for i := range m.clusters {
		if chosen[i] {
			kept = append(kept, m.clusters[i])
		}
	}
	m.clusters = kept
	slices.SortFunc(m.clusters, func(a, b candidate) int { return strings.Compare(a.name, b.name) })
	return nil
}

// rank returns what makes a Cluster a good choice, the most important first; more is better.
func (p *pass) rank(m *member, c *candidate) ([]int64, error) {
	var used, room int64
	for _, f := range m.feeds {
		if !m.rebalancing() {
			used += max(f.before[c.name], f.bound[c.name])
		}
		if !m.dynamic() || !c.open || !f.divided() || f.sample == nil {
			continue
		}
		fits, err := p.ledger.room(c.nodes, f.sample, math.MaxInt32)
		if err != nil {
			return nil, m.failed(f, err)
		}
		room += fits
	}
	weighted := m.strategy != divide.Static || c.weight > 0
	return []int64{flag(c.open), flag(weighted), flag(used > 0), c.preference, used, room}, nil
}

func flag(set bool) int64 {
	if set {
		return 1
	}
	return 0
}
