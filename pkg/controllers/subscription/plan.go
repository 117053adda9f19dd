// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package subscription

import (
	"fmt"
	"maps"
	"math"
	"slices"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/placement/divide"
	"berth.dev/berth/pkg/placement/policymatch"
	"berth.dev/berth/pkg/placement/subscription"
)

// plan divides all feeds. What has been promised is set aside for everybody before anybody gets more.
func (p *pass) plan() error {
	for _, m := range p.members {
		if err := p.choose(m); err != nil {
			return err
		}
		p.lapse(m)
		for _, f := range m.feeds {
			if err := p.keep(m, f); err != nil {
				return m.failed(f, err)
			}
		}
	}
	for _, m := range p.members {
		if err := p.grow(m); err != nil {
			return err
		}
	}
	return nil
}

func (m *member) failed(f *feed, err error) error {
	return fmt.Errorf("dividing %s %s of Subscription %s/%s: %w", f.ref.Kind, f.ref.Name, m.object.Namespace, m.object.Name, err)
}

// keep finds out what of a division still holds, and sets room aside for what of that has no node yet.
func (p *pass) keep(m *member, f *feed) error {
	switch {
	case f.lost != "":
		return nil
	case f.unknown != "":
		if !isRead(f.ref) || f.observed != nil {
			f.shares = f.before
		}
		return nil
	case m.strategy == divide.Replication:
		m.replicate(f)
		return nil
	case f.wanted == nil:
		return nil
	case m.strategy == divide.Static:
		return p.keepStatic(m, f)
	}
	before, err := m.inForce(f)
	if err != nil {
		return err
	}
	return p.hold(m, f, before)
}

// hold finds out what of a division has a node, or would find one.
func (p *pass) hold(m *member, f *feed, before map[string]int64) error {
	f.held = map[string]int64{}
	for _, name := range slices.Sorted(maps.Keys(before)) {
		kept := min(before[name], f.bound[name])
		if c := m.candidate(name); c != nil && c.open && m.admitted() && !m.rebalancing() {
			fits, err := p.reserve(c, f, before[name]-kept)
			if err != nil {
				return err
			}
			kept += fits
		}
		if kept > 0 {
			f.held[name] = kept
		}
	}
	return nil
}

// reserve sets room aside for replicas in a Cluster and returns for how many there is any.
func (p *pass) reserve(c *candidate, f *feed, replicas int64) (int64, error) {
	fits, err := p.ledger.room(c.nodes, f.sample, replicas)
	if err != nil {
		return 0, err
	}
	return fits, p.ledger.promise(c.nodes, f.sample, fits)
}

// inForce returns how a feed is divided now, without what has become too much: the seats that are given up last go first, as
// the controllers of workloads delete pods.
func (m *member) inForce(f *feed) (map[string]int64, error) {
	before := f.before
	if len(before) == 0 {
		before = weightsOf(m.named[subscription.PolicyName(m.object.Name, f.ref)])
	}
	if len(before) == 0 {
		before = map[string]int64{}
		for name, n := range f.bound {
			if m.candidate(name) != nil {
				before[name] = n
			}
		}
	}
	if sum(before) <= *f.wanted {
		return before, nil
	}
	return m.shrink(before, *f.wanted)
}

// shrink returns the first seats of a division, as the policy of it orders them.
func (m *member) shrink(before map[string]int64, wanted int64) (map[string]int64, error) {
	policy := &berthv1alpha1.PropagationPolicy{}
	policy.Spec.Placement.StaticWeightList = m.seats(before)
	order, err := policymatch.Order(policy)
	if err != nil {
		return nil, err
	}
	shares, _ := order.Shares(wanted)
	after := map[string]int64{}
	for i, n := range shares {
		if n > 0 {
			after[order.Name(i)] = n
		}
	}
	return after, nil
}

func (p *pass) keepStatic(m *member, f *feed) error {
	if m.problem != nil {
		f.shares = f.before
		return nil
	}
	clusters := make([]divide.Cluster, len(m.clusters))
	for i, c := range m.clusters {
		clusters[i] = divide.Cluster{Name: c.name, Weight: c.weight}
	}
	division, err := divide.Divide(divide.Demand{Strategy: divide.Static, Replicas: *f.wanted}, clusters)
	if err != nil {
		return err
	}
	f.take(clusters, &division)
	if !m.bundled || m.pledge == nil || f.sample == nil {
		return nil
	}
	f.lacking, err = p.fill(m, f)
	return err
}

// fill sets room aside for all that has a share and no node, and returns what of it finds none.
func (p *pass) fill(m *member, f *feed) (missing int64, err error) {
	for i := range m.clusters {
		c := &m.clusters[i]
		lacking := f.shares[c.name] - f.bound[c.name]
		if lacking <= 0 {
			continue
		}
		fits, err := p.reserve(c, f, lacking)
		if err != nil {
			return 0, err
		}
		missing += lacking - fits
	}
	return missing, nil
}

func (f *feed) take(clusters []divide.Cluster, division *divide.Division) {
	f.shares = map[string]int64{}
	for i, n := range division.Shares {
		if n > 0 {
			f.shares[clusters[i].Name] = n
		}
	}
	f.unplaced = division.Unplaced
}

// grow gives a Subscription what it wants beyond what it has.
func (p *pass) grow(m *member) error {
	if !m.admitted() {
		return p.admit(m)
	}
	if !m.dynamic() {
		return nil
	}
	for _, f := range m.feeds {
		if !f.divided() {
			continue
		}
		if err := p.divide(m, f); err != nil {
			return m.failed(f, err)
		}
	}
	return nil
}

// divide places the difference between what a feed wants and what it holds, and sets room aside for it.
func (p *pass) divide(m *member, f *feed) error {
	if sum(f.held) == *f.wanted && !m.rebalancing() || m.problem != nil {
		f.shares, f.unplaced = f.held, *f.wanted-sum(f.held)
		return nil
	}
	clusters, err := p.clustersFor(m, f)
	if err != nil {
		return err
	}
	dynamic := dynamicOf(&m.object.Spec)
	demand := divide.Demand{Strategy: m.strategy, Replicas: *f.wanted, Rebalance: m.rebalancing()}
	if dynamic.MinClusters != nil {
		demand.MinClusters = int64(*dynamic.MinClusters)
	}
	if dynamic.MaxClusters != nil {
		demand.MaxClusters = int64(*dynamic.MaxClusters)
	}
	division, err := divide.Divide(demand, clusters)
	if err != nil {
		return err
	}
	f.take(clusters, &division)
	for _, c := range m.clusters {
		if err := p.ledger.promise(c.nodes, f.sample, f.shares[c.name]-f.held[c.name]); err != nil {
			return err
		}
	}
	return nil
}

// clustersFor returns the Clusters that can take replicas of a feed, and those that hold some.
func (p *pass) clustersFor(m *member, f *feed) ([]divide.Cluster, error) {
	clusters := make([]divide.Cluster, 0, len(m.clusters)+len(f.held))
	for _, c := range m.clusters {
		into := divide.Cluster{Name: c.name, Preference: c.preference, Held: f.held[c.name], Closed: !c.open}
		if c.open {
			var err error
			if into.Free, err = p.ledger.room(c.nodes, f.sample, math.MaxInt32-into.Held); err != nil {
				return nil, err
			}
		}
		clusters = append(clusters, into)
	}
	for _, name := range slices.Sorted(maps.Keys(f.held)) {
		if m.candidate(name) == nil {
			clusters = append(clusters, divide.Cluster{Name: name, Held: f.held[name], Closed: true})
		}
	}
	return clusters, nil
}

// weightsOf returns the shares that a policy of this controller was made for.
func weightsOf(policy *berthv1alpha1.PropagationPolicy) map[string]int64 {
	if policy == nil {
		return nil
	}
	shares := map[string]int64{}
	for _, w := range policy.Spec.Placement.StaticWeightList {
		if w.Max == nil || *w.Max <= 0 {
			continue
		}
		for _, name := range w.ClusterNames {
			shares[name] = int64(*w.Max)
		}
	}
	return shares
}
