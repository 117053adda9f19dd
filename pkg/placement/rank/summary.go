// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package rank

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// Digits writes a figure such as a score for people: four digits tell places apart.
func Digits(number float64) string { return strconv.FormatFloat(number, 'g', 4, 64) }

// MaxShown is how many places the status of an object shows.
const MaxShown = 20

// Shown returns the first MaxShown results as the status of an object shows them.
func Shown(results []Ranked) []berthv1alpha1.RankedPlace {
	results = results[:min(len(results), MaxShown)]
	shown := make([]berthv1alpha1.RankedPlace, 0, len(results))
	for i := range results {
		r := &results[i]
		place := berthv1alpha1.RankedPlace{
			Name: r.Name, Eligible: r.Eligible, Score: r.Score, Reasons: slices.Concat(r.Rejections, r.Problems),
		}
		for _, part := range r.Parts {
			place.Parts = append(place.Parts, berthv1alpha1.ScorePart(part))
		}
		shown = append(shown, place)
	}
	return shown
}

// maxCounted bounds the different reasons that a summary names.
const maxCounted = 10

// Summarize tells why nothing is eligible, as numbers of places by their first reason, the largest
// number first: "3 offline, 2 without label location". It is empty if there are no results or some
// are eligible.
func Summarize(results []Ranked) string {
	counts := map[string]int{}
	for i := range results {
		if results[i].Eligible {
			return ""
		}
		counts[results[i].Rejections[0]]++
	}
	reasons := make([]string, 0, len(counts))
	for reason := range counts {
		reasons = append(reasons, reason)
	}
	slices.SortFunc(reasons, func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), strings.Compare(a, b))
	})
	var texts []string
	rest := 0
	for i, reason := range reasons {
		if i >= maxCounted {
			rest += counts[reason]
			continue
		}
		texts = append(texts, fmt.Sprintf("%d %s", counts[reason], reason))
	}
	if rest > 0 {
		texts = append(texts, fmt.Sprintf("%d for other reasons", rest))
	}
	return strings.Join(texts, ", ")
}
