// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package bundle_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/labels"

	"berth.dev/berth/pkg/placement/bundle"
	"berth.dev/berth/pkg/placement/divide"
)

// cpus is a ledger of CPUs by cluster. A replica costs one CPU, or what costs says of its feed.
type cpus struct {
	free  map[string]int64
	costs map[bundle.Ref]int64
	log   []reservation
	// away are CPUs of nodes that are away.
	away map[string]int64
}

type reservation struct {
	cluster string
	cpus    int64
}

func (c *cpus) cost(ref bundle.Ref) int64 { return max(1, c.costs[ref]) }

func (c *cpus) Count(ref bundle.Ref, cluster string, limit int64) int64 {
	return max(0, min(limit, c.free[cluster]/c.cost(ref)))
}

func (c *cpus) Reserve(ref bundle.Ref, cluster string, replicas int64) int64 {
	fits := c.Count(ref, cluster, replicas)
	c.log = append(c.log, reservation{cluster, fits * c.cost(ref)})
	c.free[cluster] -= fits * c.cost(ref)
	return fits
}

func (c *cpus) Hold(ref bundle.Ref, cluster string, replicas int64) (held int64, release func()) {
	held = max(0, min(replicas, c.away[cluster]/c.cost(ref)))
	if held > 0 {
		c.away[cluster] -= held * c.cost(ref)
	}
	return held, func() { c.away[cluster] += held * c.cost(ref) }
}

func (c *cpus) Mark() int { return len(c.log) }

func (c *cpus) Rollback(mark int) {
	for _, r := range c.log[mark:] {
		c.free[r.cluster] += r.cpus
	}
	c.log = c.log[:mark]
}

// replicas are numbers of replicas by cluster.
type replicas = map[string]int64

// clusters makes open clusters of weight 1; an x before the name closes one.
func clusters(names ...string) []bundle.SelectedCluster {
	list := make([]bundle.SelectedCluster, len(names))
	for i, name := range names {
		open := strings.TrimPrefix(name, "x")
		list[i] = bundle.SelectedCluster{Name: open, Labels: labels.Set{"site": open}, Weight: 1, Open: open == name}
	}
	return list
}

// spread makes a Subscription that divides by room, of which each feed wants a number of replicas.
func spread(sites []bundle.SelectedCluster, wanted ...int64) bundle.Subscription {
	s := bundle.Subscription{Name: "shop/web", Strategy: divide.Spread, Clusters: sites}
	for i, n := range wanted {
		s.Feeds = append(s.Feeds, bundle.Feed{Name: fmt.Sprintf("Deployment d%d", i), Wanted: new(n)})
	}
	return s
}

func with(s bundle.Subscription, changes ...func(*bundle.Subscription)) bundle.Subscription {
	for _, change := range changes {
		change(&s)
	}
	return s
}

func bundled(s *bundle.Subscription) { s.Bundled = true }

func pledged(s *bundle.Subscription) { s.Bundled, s.Pledged = true, true }

func expired(s *bundle.Subscription) { s.Bundled, s.Pledged, s.Expired = true, true, true }

func rebalance(s *bundle.Subscription) { s.Rebalance = true }

func strategy(name divide.Strategy) func(*bundle.Subscription) {
	return func(s *bundle.Subscription) { s.Strategy = name }
}

// recorded and bound say what the status records of the first feed, and where its pods are.
func recorded(shares replicas) func(*bundle.Subscription) {
	return func(s *bundle.Subscription) { s.Feeds[0].Recorded = shares }
}

func bound(pods replicas) func(*bundle.Subscription) {
	return func(s *bundle.Subscription) { s.Feeds[0].Bound = pods }
}

func feed(change func(*bundle.Feed)) func(*bundle.Subscription) {
	return func(s *bundle.Subscription) { change(&s.Feeds[0]) }
}

// text returns a result as "Granted: a=2 b=1 -1, c=1" with replicas that find no room, or lack it
// (~1) after a share.
func text(r *bundle.Result) string {
	list := make([]string, len(r.Feeds))
	for i := range r.Feeds {
		d := &r.Feeds[i]
		words := []string{}
		for _, name := range slices.Sorted(maps.Keys(d.Shares)) {
			words = append(words, fmt.Sprintf("%s=%d", name, d.Shares[name]))
		}
		if d.Unplaced > 0 {
			words = append(words, fmt.Sprintf("-%d", d.Unplaced))
		}
		if d.Lacking > 0 {
			words = append(words, fmt.Sprintf("~%d", d.Lacking))
		}
		list[i] = strings.Join(words, " ")
	}
	if r.Admission == bundle.NotNeeded {
		return strings.Join(list, ", ")
	}
	return string(r.Admission) + ": " + strings.Join(list, ", ")
}

// decision is what Decide is to return, in the order of the Subscriptions.
type decision struct {
	free          replicas
	subscriptions []bundle.Subscription
	want          []string
}

func (d decision) check(t *testing.T) {
	results, err := bundle.Decide(d.subscriptions, &cpus{free: d.free})
	if err != nil {
		t.Fatal(err)
	}
	got := make([]string, len(results))
	for i := range results {
		got[i] = text(&results[i])
	}
	if diff := cmp.Diff(d.want, got); diff != "" {
		t.Errorf("divisions (-want +got):\n%s", diff)
	}
}
