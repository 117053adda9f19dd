// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"strings"

	"berth.dev/berth/pkg/placement/rank"
)

// Ranked is what became of a cluster in a ranking. The names of its fields are a promise to
// programs.
type Ranked struct {
	Cluster  string       `json:"cluster"`
	Eligible bool         `json:"eligible"`
	Reasons  []string     `json:"reasons"`
	Score    float64      `json:"score"`
	Parts    []RankedPart `json:"parts"`
}

// RankedPart is what one metric contributed to a score.
type RankedPart struct {
	Name   string  `json:"name"`
	Value  float64 `json:"value"`
	Weight float64 `json:"weight"`
}

// RankedOf returns the results of a ranking, in their order. None of its lists is nil.
func RankedOf(results []rank.Ranked) []Ranked {
	ranked := make([]Ranked, len(results))
	for i := range results {
		r := &results[i]
		ranked[i] = Ranked{
			Cluster: r.Name, Eligible: r.Eligible, Score: r.Score,
			Reasons: append(append([]string{}, r.Rejections...), r.Problems...), Parts: make([]RankedPart, len(r.Parts)),
		}
		for j, part := range r.Parts {
			ranked[i].Parts[j] = RankedPart(part)
		}
	}
	return ranked
}

// Sum writes what the score is the sum of, such as "latency=12*-1 stickiness=1*0.1"; empty for a
// cluster without parts.
func (r *Ranked) Sum() string {
	parts := make([]string, len(r.Parts))
	for i, part := range r.Parts {
		parts[i] = part.Name + "=" + rank.Digits(part.Value) + "*" + rank.Digits(part.Weight)
	}
	return strings.Join(parts, " ")
}
