// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"math"
	"slices"
	"strings"
)

// The names of what is measured, as in the results.
const (
	stock, shipped, addsOnly = "stock", "berth", "berth-adds-only"
	tenth, allSites          = "tenth-5000", "all-sites-5000"
	few, amongFewer          = "few-50000", "berth-5000"
)

// peer returns a peer of a decision, nil if it was not measured.
func (r *Results) peer(scenario, name string) *Peer {
	for i := range r.Decisions {
		for j := range r.Decisions[i].Peers {
			if p := &r.Decisions[i].Peers[j]; r.Decisions[i].Name == scenario && p.Name == name {
				return p
			}
		}
	}
	return nil
}

// against returns how many times as long as the base a peer decides.
func (r *Results) against(scenario, name, base string) float64 {
	p, b := r.peer(scenario, name), r.peer(scenario, base)
	if p == nil || b == nil || len(p.Nanoseconds) == 0 {
		return math.NaN()
	}
	return ratios(p.Nanoseconds, b.Nanoseconds).Median
}

// mostOf returns the most time and allocations of the benchmarks with the given ends of their
// names.
func (r *Results) mostOf(ends ...string) (nanoseconds, allocations float64) {
	nanoseconds, allocations = math.NaN(), math.NaN()
	for _, p := range r.Points {
		for _, end := range ends {
			if strings.HasSuffix(p.Name, end) {
				nanoseconds, allocations = fmax(nanoseconds, p.Nanoseconds), fmax(allocations, p.Allocations)
			}
		}
	}
	return nanoseconds, allocations
}

// fmax is math.Max, for which NaN is less than any number.
func fmax(a, b float64) float64 {
	if math.IsNaN(a) {
		return b
	}
	return math.Max(a, b)
}

func (r *Results) violationFigures() []figure {
	total, measured := 0, false
	for i := range r.Decisions {
		for _, p := range r.Decisions[i].Peers {
			if p.Limited && slices.Contains([]string{shipped, addsOnly, amongFewer}, p.Name) {
				total, measured = total+p.Violations, true
			}
		}
	}
	for _, name := range []string{"policy", "resource"} {
		if d := r.Processes.drain(name); d != nil {
			total, measured = total+d.Violations, true
		}
	}
	if !measured {
		return nil
	}
	return []figure{atMost(0, float64(total), "", "")}
}

func (r *Results) bystanderFigures() []figure {
	const least, small, large = "bystanders-100", "bystanders-1000", "bystanders-5000"
	return []figure{
		r.bystander(least, addsOnly, "100 nodes, plugins only added"), r.bystander(least, shipped, "100 nodes, shipped profile"),
		r.bystander(small, addsOnly, "1000 nodes, plugins only added"), r.bystander(small, shipped, "1000 nodes, shipped profile"),
		r.bystander(large, addsOnly, "5000 nodes, plugins only added"), r.bystander(large, shipped, "5000 nodes, shipped profile"),
	}
}

// bystander compares a peer with the default scheduler turn by turn if there were turns, which
// shows less than a hundredth.
func (r *Results) bystander(scenario, name, label string) figure {
	p, b := r.peer(scenario, name), r.peer(scenario, stock)
	if p == nil || b == nil || len(p.Turns) == 0 {
		return atMost(1.01, r.against(scenario, name, stock), " x", label)
	}
	turns := paired(p.Turns, b.Turns)
	f := atMost(1.01, turns.median, " x", label)
	f.deviation = turns.deviation
	return f
}

func (r *Results) skipFigures() []figure {
	ns, allocations := r.mostOf("PreFilterAndPreScoreSkip")
	return []figure{atMost(60, ns, " ns", "the longest"), atMost(0, allocations, "", "allocations")}
}

// policyFigures takes few nodes, so that next to nothing of the time is the recount.
func (r *Results) policyFigures() []figure {
	ns, allocations := r.mostOf("nodegrouppolicy PreFilter/clusters=10/nodes=100")
	return []figure{atMost(2, ns/1e3, " µs", ""), atMost(4, allocations, "", "allocations")}
}

func (r *Results) filterFigures() []figure {
	policy, allocations := r.mostOf("nodegrouppolicy FilterAdmits")
	constraint, more := r.mostOf("clustermetrics Filter/admits")
	resource, most := r.mostOf("clusterresource Filter/admits")
	return []figure{
		atMost(40, policy, " ns", "policy"), atMost(40, constraint, " ns", "constraint"), atMost(40, resource, " ns", "resource"),
		atMost(0, fmax(allocations, fmax(more, most)), "", "allocations"),
	}
}

func (r *Results) recountFigures() []figure {
	ns, _ := r.mostOf("view Refresh/unchanged/nodes=5000")
	return []figure{atMost(20, ns/1e3, " µs", "")}
}

func (r *Results) tenthFigures() []figure {
	return []figure{
		atLeast(2, r.against(tenth, stock, shipped), "plain pods"),
		atLeast(9, r.against(tenth, "node-affinity", shipped), "node affinity"),
	}
}

func (r *Results) spreadFigures() []figure {
	return []figure{
		atLeast(3, r.against(tenth, "topology-spread", shipped), "a tenth of the nodes"),
		atLeast(3, r.against(allSites, "topology-spread", shipped), "all nodes"),
		atLeast(8, r.against("crowded-5000", "topology-spread", shipped), "crowded"),
	}
}

func (r *Results) extenderFigures() []figure {
	return []figure{
		atLeast(5, r.against(tenth, "extender", shipped), "the best one, a tenth of the nodes"),
		atLeast(5, r.against(allSites, "extender", shipped), "all nodes"),
		atLeast(50, r.against(tenth, "extender-literal", shipped), "the literal one, a tenth of the nodes"),
	}
}

func (r *Results) draFigures() []figure {
	return []figure{
		atLeast(10, r.against("resources-5000", "dra", shipped), "decision"),
		atMost(0.5, r.Processes.writesAgainst("resource", "dra"), " x", "writes"),
	}
}

func (r *Results) throughputFigures() []figure {
	against := func(peer string) float64 {
		base, found := math.NaN(), math.NaN()
		for _, t := range r.Throughputs {
			switch pods := SpreadOf(t.Pods).Median; {
			case t.Workload != "PlainPods 5000Nodes":
			case t.Peer == stock:
				base = pods
			case t.Peer == peer:
				found = pods
			}
		}
		return found / base
	}
	return []figure{
		atLeast(0.98, against(addsOnly), "plugins only added"), atLeast(1.2, against(shipped), "shipped profile"),
	}
}

func (r *Results) largeFigures() []figure {
	return []figure{atMost(1.5, 1/r.against(few, amongFewer, shipped), " x", "")}
}

func (r *Results) writeFigures() []figure {
	return []figure{
		atMost(1, r.Processes.writesAgainst("policy", stock), " x", "policy"),
		atMost(1, r.Processes.writesAgainst("resource", stock), " x", "resource"),
		atMost(1, r.Processes.writesAgainst(shipped, stock), " x", "plain pods"),
	}
}

func (r *Results) freedFigures() []figure {
	return []figure{
		atMost(50, r.Processes.freedBeyond("policy"), " ms", "policy"),
		atMost(50, r.Processes.freedBeyond("resource"), " ms", "resource"),
	}
}

func (r *Results) controllerFigures() []figure {
	if r.Processes == nil || r.Processes.Controllers == nil {
		return nil
	}
	c := r.Processes.Controllers
	return []figure{
		atMost(2000, SpreadOf(c.SyncMilliseconds).Median, " ms", "in step after"), atMost(0, float64(c.IdleWrites), "", "writes"),
	}
}

// drain returns a drain, nil if it was not measured.
func (p *Processes) drain(name string) *Drain {
	if p == nil {
		return nil
	}
	for i := range p.Drains {
		if p.Drains[i].Name == name {
			return &p.Drains[i]
		}
	}
	return nil
}

func (p *Processes) writesAgainst(name, base string) float64 {
	d, b := p.drain(name), p.drain(base)
	if d == nil || b == nil {
		return math.NaN()
	}
	return ratios(d.Writes, b.Writes).Median
}

// freedBeyond returns by how many milliseconds the p99 exceeds that of the default scheduler.
func (p *Processes) freedBeyond(name string) float64 {
	base, found := math.NaN(), math.NaN()
	if p == nil {
		return found
	}
	for i := range p.Freed {
		switch p99 := Quantile(pooled(p.Freed[i].Milliseconds), 0.99); p.Freed[i].Name {
		case stock:
			base = p99
		case name:
			found = p99
		}
	}
	return found - base
}
