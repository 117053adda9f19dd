// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package rank

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"berth.dev/berth/pkg/placement/constraint"
	"berth.dev/berth/pkg/placement/rendezvous"
)

// Rank returns what becomes of each candidate, the best one first. The first result is the choice
// if it is eligible. The order of the candidates does not matter. It neither changes nor keeps its
// arguments.
func Rank(request *Query, candidates []Candidate) []Ranked {
	results, order := make([]Ranked, len(candidates)), make([]*Ranked, len(candidates))
	room := partsRoom(candidates)
	for i := range candidates {
		results[i], room = evaluate(request, &candidates[i], room)
		order[i] = &results[i]
	}
	slices.SortFunc(order, request.compare) // No two are equal, as their names are not.
	sorted := make([]Ranked, len(order))
	for i := range order {
		sorted[i] = *order[i]
	}
	return sorted
}

// partsRoom returns room for the parts of the scores of all candidates, so that it is taken once.
func partsRoom(candidates []Candidate) []Part {
	total := 0
	for i := range candidates {
		total += len(candidates[i].weighed()) + 1 // one for the stickiness
	}
	return make([]Part, total)
}

// compare orders results, the better one first.
func (r *Query) compare(a, b *Ranked) int {
	switch {
	case a.Eligible != b.Eligible:
		return first(a.Eligible)
	case a.Held != b.Held:
		return first(a.Held)
	case a.Measured != b.Measured:
		return first(a.Measured)
	}
	if order := cmp.Compare(b.Score, a.Score); order != 0 {
		return order
	}
	if !a.Eligible {
		return strings.Compare(a.Name, b.Name)
	}
	if here := a.Name == r.Current; here != (b.Name == r.Current) {
		return first(here)
	}
	return cmp.Or(
		cmp.Compare(rendezvous.Hash(r.UID, b.Name), rendezvous.Hash(r.UID, a.Name)),
		strings.Compare(a.Name, b.Name),
	)
}

// first orders what holds before what does not.
func first(holds bool) int {
	if holds {
		return -1
	}
	return 1
}

// evaluate decides about one candidate. It takes what it needs of the room for parts, and returns
// the rest.
func evaluate(request *Query, c *Candidate, room []Part) (result Ranked, rest []Part) {
	current := c.Name == request.Current && request.Current != ""
	result = Ranked{Name: c.Name, Rejections: rejections(request, c, current), Problems: c.problems()}
	result.Eligible = len(result.Rejections) == 0
	if !result.Eligible {
		return result, room
	}
	need := len(c.weighed()) + 1
	parts, whole := c.parts(current, room[:0:need])
	switch {
	case whole:
		result.Measured = len(parts) > 0
	case c.lacksMetric():
		parts = nil
	case current && request.LastScore != nil && !math.IsNaN(*request.LastScore):
		result.Score, result.Measured = finite(*request.LastScore), true
		return result, room
	default:
		// The mean of some of the metrics would be another thing than the mean of all.
		parts, result.Held = nil, current
	}
	result.Score, result.Parts = score(parts, request.Stickiness, current)
	return result, room[need:]
}

// usable reports whether a metric counts for a place.
func (m *Metric) usable(current bool) bool {
	return (m.Freshness == Fresh && !m.Rejected || m.Freshness >= Stale && current) && m.valid()
}

// valid is false for numbers that no formula can use.
func (m *Metric) valid() bool {
	return m.Normalized >= 0 && m.Normalized <= 1 && m.Weight > 0 && !math.IsInf(m.Weight, 0) && !math.IsNaN(m.Value)
}

// parts adds the metrics as parts of a score to others, and reports whether all of them can be
// used.
func (c *Candidate) parts(current bool, parts []Part) (all []Part, whole bool) {
	weighed := c.weighed()
	for i := range weighed {
		m := &weighed[i]
		part := Part{Name: m.Name, Value: m.Normalized, Weight: m.Weight}
		switch {
		case m.usable(current):
		case m.Rejected && m.Weight > 0 && !math.IsInf(m.Weight, 0):
			part.Value = 0
		default:
			return nil, false
		}
		parts = append(parts, part)
	}
	return parts, true
}

// lacksMetric reports whether the place does not have one of the metrics that make the score. It is
// one without metrics then, wherever the application runs: to wait for a value would be in vain.
func (c *Candidate) lacksMetric() bool {
	return slices.ContainsFunc(c.weighed(), func(m Metric) bool { return m.Freshness == Absent })
}

// weighed returns the metrics that make the score.
func (c *Candidate) weighed() []Metric {
	if c.Weighed != nil {
		return c.Weighed
	}
	return c.Metrics
}

func (c *Candidate) problems() []string {
	problems := slices.Clone(c.Remarks)
	weighed := c.weighed()
	for i := range weighed {
		m := &weighed[i]
		switch {
		case m.Problem != "":
			problems = append(problems, fmt.Sprintf("metric %s: %s", m.Name, m.Problem))
		case m.Freshness == Absent:
			problems = append(problems, fmt.Sprintf("metric %s: it is not listed there", m.Name))
		case m.Freshness == Missing:
			problems = append(problems, fmt.Sprintf("metric %s: there is no value", m.Name))
		case !m.valid():
			problems = append(problems, fmt.Sprintf("metric %s: its weight or value cannot be used", m.Name))
		}
	}
	return problems
}

// rejections returns why a candidate cannot be chosen.
func rejections(request *Query, c *Candidate, current bool) []string {
	var reasons []string
	if c.Unavailable != "" {
		reasons = append(reasons, c.Unavailable)
	}
	if c.Cordoned && !current && c.Unavailable == "" {
		reasons = append(reasons, cordoned)
	}
	for _, wanted := range request.Constraints.Labels {
		switch matches, found := wanted.MatchLabels(c.Labels); {
		case !found:
			reasons = append(reasons, "without label "+wanted.Key())
		case !matches:
			reasons = append(reasons, "not meeting "+wanted.String())
		}
	}
	for _, wanted := range request.Constraints.CustomResources {
		if !slices.Contains(c.CustomResources, wanted) {
			reasons = append(reasons, "without custom resource "+wanted)
		}
	}
	for _, wanted := range request.Constraints.Metrics {
		if reason := c.compare(wanted, current); reason != "" {
			reasons = append(reasons, reason)
		}
	}
	return reasons
}

// compare returns why a candidate does not meet a metric constraint, empty if it does. A metric
// without any value is held against all places but the current one.
func (c *Candidate) compare(wanted *constraint.Constraint, current bool) string {
	matches := false
	i := slices.IndexFunc(c.Metrics, func(m Metric) bool { return m.Name == wanted.Key() })
	switch {
	case i >= 0 && c.Metrics[i].usable(current):
		matches = wanted.MatchFloat(c.Metrics[i].Value)
	case i >= 0 && current:
		return ""
	case i >= 0:
		return "without a value of metric " + wanted.Key()
	default:
		number, found := c.Numbers[wanted.Key()]
		if !found {
			return "without metric " + wanted.Key()
		}
		matches = wanted.MatchNumber(number)
	}
	if !matches {
		return "not meeting " + wanted.String()
	}
	return ""
}
