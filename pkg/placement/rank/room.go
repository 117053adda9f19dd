// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package rank

import (
	"slices"
	"strings"

	"berth.dev/berth/pkg/placement/names"
)

// WithoutRoom as a reason means that a place does not take all that is to run there.
const WithoutRoom = "without room for all its pods"

// Room answers what places take.
type Room struct {
	// Lacks says what a place cannot take; empty if it takes everything.
	Lacks func(place string) string
	// Further reports whether a place is asked for although a better one has room, so that its
	// reason is told.
	Further func(place string) bool
	// Anyway lets a place be chosen without room if none has any.
	Anyway bool
}

// Require takes those of the results out of the running that lack room. It asks from the best one
// on until one has room. The results are in order again; those given are left as they are.
func (r *Query) Require(room Room, results []Ranked) []Ranked {
	narrowed := slices.Clone(results)
	found := false
	for i := range narrowed {
		one := &narrowed[i]
		if !one.Eligible || found && !room.Further(one.Name) {
			continue
		}
		lack := room.Lacks(one.Name)
		if lack == "" {
			found = true
			continue
		}
		*one = Ranked{Name: one.Name, Rejections: []string{WithoutRoom}, Problems: slices.Concat([]string{lack}, one.Problems)}
	}
	if !found && room.Anyway {
		return anyway(results, narrowed)
	}
	slices.SortStableFunc(narrowed, func(a, b Ranked) int { return r.compare(&a, &b) })
	return narrowed
}

// anyway returns the results as they were before room was asked for, with what is lacking.
func anyway(results, narrowed []Ranked) []Ranked {
	told := slices.Clone(results)
	for i := range told {
		if told[i].Eligible {
			told[i].Problems = narrowed[i].Problems
		}
	}
	return told
}

// shortages tells of at most so many places without room what they lack, by name: "berlin: 2 of 6
// pods fit, …"; empty if there is none.
func shortages(results []Ranked, most int) string {
	var texts []string
	for i := range results {
		if slices.Contains(results[i].Rejections, WithoutRoom) {
			texts = append(texts, results[i].Name+": "+results[i].Problems[0])
		}
	}
	return names.First(texts, most, "; ")
}

// maxNamed is how many places a message names.
const maxNamed = 5

// Unmatched says why none of the places is chosen.
func Unmatched(results []Ranked) string {
	if len(results) == 0 {
		return "there are no Clusters"
	}
	message := "no cluster matches: " + Summarize(results)
	if lacks := shortages(results, maxNamed); lacks != "" {
		message += "; " + lacks
	}
	return message
}

// Unobserved returns what is unknown of places that may come into question, such as "berlin: its
// nodes", by name. Labels and custom resources are known from the start, so a place that lacks them
// does not matter.
func (r *Query) Unobserved(candidates []Candidate) []string {
	var unknown []string
	fixed := Query{Constraints: Constraints{Labels: r.Constraints.Labels, CustomResources: r.Constraints.CustomResources}}
	for i := range candidates {
		c := &candidates[i]
		if len(c.Unobserved) > 0 && len(rejections(&fixed, c, false)) == 0 {
			unknown = append(unknown, c.Name+": "+strings.Join(c.Unobserved, ", "))
		}
	}
	slices.Sort(unknown)
	return unknown
}
