// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import "math"

// drainsAgainst returns how many times as much as the default scheduler's a drain has of something,
// the median of all rounds; NaN if it was not measured.
func drainsAgainst(drains []Drain, name string, of func(*Drain) []float64) float64 {
	var d, b *Drain
	for i := range drains {
		switch drains[i].Name {
		case name:
			d = &drains[i]
		case stock:
			b = &drains[i]
		}
	}
	if d == nil || b == nil || len(of(d)) == 0 || len(of(b)) == 0 {
		return math.NaN()
	}
	return ratios(of(d), of(b)).Median
}

func speedOf(d *Drain) []float64     { return d.PodsPerSecond }
func workOf(d *Drain) []float64      { return d.CPUMilliseconds }
func memoryOf(d *Drain) []float64    { return d.MemoryBytes }
func firstBindOf(d *Drain) []float64 { return d.FirstMilliseconds }

// drains returns those of a usual run, none if there was none.
func (r *Results) drains() []Drain {
	if r.Processes == nil {
		return nil
	}
	return r.Processes.Drains
}

// The names of drains.
const addedDrain, policyDrain, resourceDrain = "adds-only", "policy", "resource"

func (r *Results) drainFigures() []figure {
	d := r.drains()
	return []figure{
		atLeast(0.98, drainsAgainst(d, addedDrain, speedOf), "plugins only added"),
		atLeast(0.98, drainsAgainst(d, shipped, speedOf), "shipped profile"),
		atLeast(1.1, drainsAgainst(d, policyDrain, speedOf), "policy"),
		atLeast(1.1, drainsAgainst(d, resourceDrain, speedOf), "resource"),
	}
}

func (r *Results) drainCPUFigures() []figure {
	d := r.drains()
	return []figure{
		atMost(1, drainsAgainst(d, addedDrain, workOf), " x", "plugins only added"),
		atMost(1, drainsAgainst(d, shipped, workOf), " x", "shipped profile"),
		atMost(0.6, drainsAgainst(d, policyDrain, workOf), " x", "policy"),
		atMost(1, drainsAgainst(d, resourceDrain, workOf), " x", "resource"),
	}
}

func (r *Results) drainMemoryFigures() []figure {
	d := r.drains()
	return []figure{
		atMost(1.15, drainsAgainst(d, addedDrain, memoryOf), " x", "plugins only added"),
		atMost(1.15, drainsAgainst(d, shipped, memoryOf), " x", "shipped profile"),
		atMost(1.15, drainsAgainst(d, policyDrain, memoryOf), " x", "policy"),
	}
}

func (r *Results) lockFigures() []figure {
	var figures []figure
	drains := r.drains()
	for i := range drains {
		if d := &drains[i]; len(d.LockParts) > 0 && (d.Name == policyDrain || d.Name == resourceDrain || d.Name == shipped) {
			figures = append(figures, atMost(1, 100*SpreadOf(d.LockParts).Most, " %", d.Name))
		}
	}
	return figures
}

func (r *Results) smallFigures() []figure {
	return []figure{atMost(1.2, 1/r.against("all-sites-100", "node-affinity", shipped), " x", "")}
}

// scale returns what was measured of a large cluster, without anything if nothing was.
func (r *Results) scale() *Scale {
	if r.Scale == nil {
		return &Scale{}
	}
	return r.Scale
}

func (r *Results) restartFigures() []figure {
	d := r.scale().Drains
	return []figure{
		atMost(1.1, drainsAgainst(d, shipped, firstBindOf), " x", "plain pods"),
		atMost(1.1, drainsAgainst(d, policyDrain, firstBindOf), " x", "policy"),
	}
}

func (r *Results) largeDrainFigures() []figure {
	d := r.scale().Drains
	return []figure{
		atMost(0.6, drainsAgainst(d, policyDrain, workOf), " x", "CPU"),
		atMost(1.15, drainsAgainst(d, policyDrain, memoryOf), " x", "memory"),
	}
}

func (r *Results) largeControllerFigures() []figure {
	c := &r.scale().Controllers
	if c.First.CPUMilliseconds == 0 {
		return nil
	}
	figures := []figure{
		atMost(60, c.First.CPUMilliseconds/1e3, " s", "first start"), atMost(60, c.Again.CPUMilliseconds/1e3, " s", "another start"),
	}
	for i := range c.Changes {
		if one := &c.Changes[i]; i < 2 { // those of pods
			figures = append(figures, atMost(2, one.CPUMilliseconds, " ms", one.What))
		}
	}
	return figures
}

func (r *Results) largeIdleFigures() []figure {
	c := &r.scale().Controllers
	if c.IdleSeconds == 0 {
		return nil
	}
	return []figure{
		atMost(0, float64(c.IdleWrites), "", "writes"), atMost(0.5, c.IdleCPUMilliseconds/c.IdleSeconds/10, " %", "CPU"),
	}
}

func (r *Results) hugeFigures() []figure {
	large := &Results{Decisions: r.scale().Decisions}
	if len(large.Decisions) == 0 {
		return nil
	}
	return []figure{atMost(1.5, 1/large.against(large.Decisions[0].Name, amongFewer, shipped), " x", "")}
}

func (r *Results) sharingFigures() []figure {
	var one, eight *Sharing
	for i := range r.scale().Sharing {
		switch x := &r.scale().Sharing[i]; x.Schedulers {
		case 1:
			one = x
		case 8:
			eight = x
		}
	}
	if one == nil || eight == nil {
		return nil
	}
	return []figure{
		atMost(1.1, ratios(eight.CPUMilliseconds, one.CPUMilliseconds).Median, " x", "CPU"), atMost(0, float64(eight.Contended), "", "refused"),
	}
}
