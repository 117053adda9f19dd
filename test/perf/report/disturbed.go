// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"math"
	"strconv"
)

// Disturbed is how backlogs are placed while something goes on beside.
type Disturbed struct {
	Name   string  `json:"name"`
	Title  string  `json:"title"`
	Drains []Drain `json:"drains"`
}

// Of returns the drain of a peer, a new one if there is none yet. It is valid until the next one is
// made.
func (d *Disturbed) Of(name, title string) *Drain {
	if known := d.find(name); known != nil {
		return known
	}
	d.Drains = append(d.Drains, Drain{Name: name, Title: title})
	return &d.Drains[len(d.Drains)-1]
}

// find returns the drain of a peer, nil if there is none.
func (d *Disturbed) find(name string) *Drain {
	for i := range d.Drains {
		if d.Drains[i].Name == name {
			return &d.Drains[i]
		}
	}
	return nil
}

// against returns how many times as much as while nothing went on a drain has of something, NaN if
// that was not measured.
func (d *Disturbed) against(calm *Disturbed, name string, of func(*Drain) []float64) Spread {
	disturbed, undisturbed := d.find(name), calm.find(name)
	if disturbed == nil || undisturbed == nil {
		return Spread{Median: math.NaN()}
	}
	return ratios(of(disturbed), of(undisturbed))
}

func disturbedTable(all []Disturbed) table {
	t := table{
		title: "scale-disturbed: a backlog while something goes on beside, against the same scheduler while nothing does",
		headers: []string{
			"what goes on", "scheduler", "pods/s", "range", "CPU a pod", "decisions a pod", "pods a second", "CPU a pod", "pods", "rounds",
		},
	}
	for i := range all {
		for k := range all[i].Drains {
			d := &all[i].Drains[k]
			speed := all[i].against(&all[0], d.Name, speedOf)
			t.rows = append(t.rows, []string{
				all[i].Title, d.Title, number(speed.Median) + " x", number(speed.Least) + " to " + number(speed.Most),
				number(all[i].against(&all[0], d.Name, workOf).Median) + " x", fmt.Sprintf("%.3f", SpreadOf(d.Attempts).Median),
				fmt.Sprintf("%.0f", SpreadOf(d.PodsPerSecond).Median), fmt.Sprintf("%.2f ms", SpreadOf(d.CPUMilliseconds).Median),
				strconv.Itoa(d.Pods), strconv.Itoa(len(d.PodsPerSecond)),
			})
		}
	}
	return t
}

// disturbedFigures compare how much slower Berth places the pods of a policy, while something goes
// on, with how much slower the default scheduler places plain ones.
func (r *Results) disturbedFigures() []figure {
	all := r.scale().Disturbed
	var figures []figure
	for i := range all {
		d := &all[i]
		if i > 0 {
			slower, others := d.against(&all[0], policyDrain, speedOf).Median, d.against(&all[0], stock, speedOf).Median
			if !math.IsNaN(others) {
				figures = append(figures, atLeast(0.9, slower/others, d.Name))
			}
		}
		if policy := d.find(policyDrain); policy != nil {
			figures = append(figures, atMost(1.05, SpreadOf(policy.Attempts).Most, " decisions", d.Name))
		}
	}
	return figures
}
