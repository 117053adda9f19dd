// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package decision measures what one decision of a scheduler costs: a real scheduler over a full
// cache, without an API server, decides where a pod runs. Berth and its peers decide in turns in
// one process, so that they are compared under the same load, with the same compiler and the same
// settings.
package decision

import (
	"context"
	"fmt"
	"io"
	"math"
	"regexp"
	"runtime"
	"slices"
	"time"

	"berth.dev/berth/test/perf/report"
)

// Scenario is a cluster and the peers that are compared in it. The first peer is the one that the
// others are compared with.
type Scenario struct {
	// Name identifies the scenario in results.
	Name string
	// Title tells a reader what the cluster is like.
	Title string
	// Nodes, Sites, Strangers and Neighbours are what newLayout takes.
	Nodes, Sites, Strangers, Neighbours int

	// alike says that the peers do nearly the same, so that they have many short turns: the machine
	// is then the same for all.
	alike bool
	// units says that the sites have a resource that the pods need.
	units bool
	peers []peer
}

// Options tell how long to measure.
type Options struct {
	// Rounds is how often each peer has its turn, after one to warm up.
	Rounds int
	// Turn is how long one turn takes, in milliseconds.
	Turn int
	// Placements is how often the whole workload is placed, by peers that take long once.
	Placements int
	// MaxNodes leaves larger scenarios out, unless it is 0.
	MaxNodes int
	// Peers leaves out peers whose names do not match, unless it is nil.
	Peers *regexp.Regexp
	// Without leaves out scenarios and peers whose names match, unless it is nil.
	Without *regexp.Regexp
}

// Scenarios returns all scenarios, the small ones first.
func Scenarios() []Scenario {
	bystanders := []peer{bystanderStock, bystanderAddsOnly, bystanderShipped}
	var scenarios []Scenario
	for _, nodes := range []int{100, 1000, 5000} {
		scenarios = append(scenarios, Scenario{
			Name: fmt.Sprintf("bystanders-%d", nodes), Nodes: nodes, Sites: max(chosenSites, nodes/50), Strangers: 5, peers: bystanders, alike: true,
			Title: fmt.Sprintf("pods that use no feature of Berth, %d nodes", nodes),
		})
	}
	for _, nodes := range []int{100, 1000, 5000} {
		scenarios = append(scenarios, Scenario{
			Name: fmt.Sprintf("all-sites-%d", nodes), Nodes: nodes, Sites: chosenSites, Strangers: 5, peers: sharing(nodes == 100),
			Title: fmt.Sprintf("a workload over ten sites that hold all %d nodes", nodes),
		})
	}
	for _, nodes := range []int{1000, 5000} {
		scenarios = append(scenarios, Scenario{
			Name: fmt.Sprintf("tenth-%d", nodes), Nodes: nodes, Sites: 10 * chosenSites, Strangers: 5, peers: append(sharing(nodes == 5000), pinned),
			Title: fmt.Sprintf("a workload over ten of a hundred sites, which hold a tenth of %d nodes", nodes),
		})
	}
	for _, nodes := range []int{1000, 5000} {
		scenarios = append(scenarios, Scenario{
			Name: fmt.Sprintf("resources-%d", nodes), Nodes: nodes, Sites: nodes / 50, Strangers: 5, units: true,
			Title: fmt.Sprintf("pods that each need a unit of a resource of which ten sites have some, %d nodes", nodes),
			peers: slices.Concat([]peer{clusterResource, plainPods, extendedResource}, quotaPeers, []peer{consumableCapacity}),
		})
	}
	return append(scenarios,
		Scenario{
			Name: "crowded-5000", Nodes: 5000, Sites: chosenSites, Strangers: 5, Neighbours: 10,
			Title: "a workload over ten sites that hold all 5000 nodes, with ten other pods of its namespace on each",
			peers: []peer{berthShipped, plainPods, topologySpread},
		},
		Scenario{
			Name: "few-50000", Nodes: 50000, Sites: 1000, Strangers: 5,
			Title: "a workload over ten of a thousand sites, which hold 500 of 50000 nodes",
			peers: []peer{berthShipped, berthAmongFewer, plainPods},
		})
}

// Huge returns a scenario that is larger than a control plane could fill: a million pods on 100,000
// nodes, or a part of them.
func Huge(factor float64) Scenario {
	nodes := max(5000, int(100_000*factor))
	return Scenario{
		Name: fmt.Sprintf("few-%d", nodes), Nodes: nodes, Sites: nodes / 50, Strangers: 10,
		Title: fmt.Sprintf("a workload over ten of %d sites, which hold 500 of %d nodes, among %d pods", nodes/50, nodes, 10*nodes),
		peers: []peer{berthShipped, berthAmongFewer, plainPods},
	}
}

// sharing returns the ways to share a workload out. The literal extender takes so long that few
// scenarios have it.
func sharing(withLiteral bool) []peer {
	peers := []peer{berthShipped, berthAddsOnly, plainPods, nodeAffinity, topologySpread, extenderByName}
	if withLiteral {
		peers = append(peers, extenderByNode)
	}
	return peers
}

// Run measures the scenarios and reports progress to out.
func Run(ctx context.Context, out io.Writer, scenarios []Scenario, c *Configurations, o Options) ([]report.Comparison, error) {
	var comparisons []report.Comparison
	for i := range scenarios {
		s := &scenarios[i]
		if o.MaxNodes > 0 && s.Nodes > o.MaxNodes || o.Without != nil && o.Without.MatchString(s.Name) {
			continue
		}
		fmt.Fprintf(out, "decision %s: %s\n", s.Name, s.Title)
		comparison, err := s.run(ctx, c, o)
		if err != nil {
			return nil, fmt.Errorf("scenario %s: %w", s.Name, err)
		}
		comparisons = append(comparisons, *comparison)
	}
	return comparisons, nil
}

func (s *Scenario) run(ctx context.Context, c *Configurations, o Options) (*report.Comparison, error) {
	l := newLayout(s.Nodes, s.Sites, s.Strangers, s.Neighbours)
	if s.units {
		l.addUnits()
	}
	if err := enableConsumableCapacity(s.units); err != nil {
		return nil, err
	}
	peers := slices.DeleteFunc(slices.Clone(s.peers), func(p peer) bool {
		return o.Peers != nil && !o.Peers.MatchString(p.name) || o.Without != nil && o.Without.MatchString(p.name)
	})
	comparison := &report.Comparison{Name: s.Name, Title: s.Title}
	for _, p := range peers {
		comparison.Peers = append(comparison.Peers, report.Peer{Name: p.name, Title: p.title})
	}
	if s.alike {
		o.Turn, o.Placements = 0, alikePlacements*o.Placements
	}
	return comparison, s.compare(ctx, &arena{layout: l, Configurations: c}, peers, o, comparison.Peers)
}

// Peers that are alike have many of the shortest turns in a round instead of one, and place their
// pods more often.
const alikeTurns, alikePlacements = 192, 3

// compare makes the peers, and measures them in turns, after a round of warming up.
func (s *Scenario) compare(ctx context.Context, a *arena, peers []peer, o Options, results []report.Peer) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	contestants := make([]*contestant, len(peers))
	for i, p := range peers {
		contestant, err := p.start(ctx, a)
		if err != nil {
			return fmt.Errorf("starting %s: %w", p.name, err)
		}
		if contestant.layout == nil {
			contestant.layout = a.layout
		}
		contestant.name = p.name
		contestants[i] = contestant
	}
	for round := range o.Rounds + 1 {
		samples, err := s.round(ctx, contestants, round, o.Turn)
		if err != nil {
			return err
		}
		for i := range samples {
			if round == 0 {
				continue
			}
			note(&results[i], samples[i])
			if s.alike {
				for _, turn := range samples[i] {
					results[i].Turns = append(results[i].Turns, math.Round(turn.nanoseconds))
				}
			}
		}
	}
	for row := range o.Placements {
		if err := placeInTurns(ctx, contestants, row, results); err != nil {
			return err
		}
	}
	return nil
}

// round gives each contestant its turn, or its turns if they are alike, and returns the costs of
// all turns by contestant.
func (s *Scenario) round(ctx context.Context, contestants []*contestant, number, milliseconds int) ([][]cost, error) {
	turns, samples := 1, make([][]cost, len(contestants))
	if s.alike {
		turns = alikeTurns
	}
	for turn := range turns {
		for _, i := range order(len(contestants), number*turns+turn) {
			if !s.alike {
				// What the others have left behind would be collected at the expense of this one.
				runtime.GC()
			}
			one, err := contestants[i].measure(ctx, milliseconds)
			if err != nil {
				return nil, fmt.Errorf("measuring %s: %w", contestants[i].name, err)
			}
			samples[i] = append(samples[i], one)
		}
	}
	return samples, nil
}

// order returns who comes after whom in a round. Nobody always comes first, or after the same one.
func order(contestants, round int) []int {
	turns := make([]int, contestants)
	for turn := range turns {
		turns[turn] = (turn + round) % contestants
	}
	if round/contestants%2 == 1 {
		slices.Reverse(turns)
	}
	return turns
}

// placeInTurns lets each contestant place the workload once, unless that takes too long to be
// repeated.
func placeInTurns(ctx context.Context, contestants []*contestant, row int, peers []report.Peer) error {
	for _, i := range order(len(contestants), row) {
		if slow(&peers[i]) {
			continue
		}
		runtime.GC()
		if err := contestants[i].placeAll(ctx, &peers[i]); err != nil {
			return fmt.Errorf("placing with %s: %w", peers[i].Name, err)
		}
	}
	return nil
}

// A row of placements that takes longer than slowRow is not repeated, and one that would take
// longer than slowestRow is left out.
const slowRow, slowestRow = 2 * time.Second, 10 * time.Second

// slow reports whether there is to be no row of placements for a peer, or no other one, because it
// takes so long.
func slow(p *report.Peer) bool {
	if last := len(p.PlacingNanoseconds) - 1; last >= 0 {
		return p.PlacingNanoseconds[last]*replicas > float64(slowRow.Nanoseconds())
	}
	return report.SpreadOf(p.Nanoseconds).Median*replicas > float64(slowestRow.Nanoseconds())
}
