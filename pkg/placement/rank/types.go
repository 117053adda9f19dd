// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package rank

import (
	"time"

	"berth.dev/berth/pkg/placement/constraint"
)

// Freshness tells how far the value of a metric can be relied on.
type Freshness int

const (
	// Missing means that there is no value, and never was one.
	Missing Freshness = iota
	// Absent means that the place does not have the metric, or lacks the label by which it is asked
	// for.
	Absent
	// Stale means that the last good value is too old to attract anything. It still counts where
	// the application runs.
	Stale
	// Fresh means that the value counts.
	Fresh
)

// Metric is a metric of a place.
type Metric struct {
	// Name is how constraints and explanations call it.
	Name string
	// Weight is its weight in the score, more than 0.
	Weight float64
	// Value is what the provider gave. Constraints compare it.
	Value float64
	// Normalized is the value mapped to 0..1 by the range of the metric.
	Normalized float64
	// Freshness tells whether the values are there.
	Freshness Freshness
	// Rejected is true if the last value was out of range. The metric counts 0 then, with its weight,
	// unless the values of before count.
	Rejected bool
	// Problem says in words why the value could not be read, if so. A fresh value can have one: the
	// last attempt failed.
	Problem string
}

// Candidate is a place that may be chosen.
type Candidate struct {
	// Name is unique among the candidates.
	Name string
	// Unavailable is why the place takes nothing at all, such as Offline; empty if it does.
	Unavailable string
	// Since is since when it has been online or offline, the zero time if that is not known.
	Since time.Time
	// Cordoned is true if the place takes nothing that is not there already.
	Cordoned bool
	// Labels are what label constraints compare.
	Labels map[string]string
	// CustomResources are the custom resources that it has, as "plural.group".
	CustomResources []string
	// Metrics are its metrics, in the order in which they are explained.
	Metrics []Metric
	// Weighed are the metrics that make the score, if these are others than Metrics.
	Weighed []Metric
	// Numbers are further numbers that metric constraints can compare. A metric of the same name
	// comes first.
	Numbers map[string]constraint.Number
	// Remarks are told with the result and change nothing.
	Remarks []string
	// Unobserved is what is still unknown of the place, in words that follow its name.
	Unobserved []string
}

const (
	// Offline as a reason means that the place does not work at present.
	Offline = "offline"
	// cordoned as a reason means that the place takes nothing new.
	cordoned = "cordoned"
	// Drained as a reason means that what is in the place has to leave it.
	Drained = "being drained"
	// LeftOut as a reason means that a move there has failed a short time ago.
	LeftOut = "left out after a move that failed"
	// Recovering as a reason means that the place was left because it did not work, and has not worked
	// for long enough since.
	Recovering = "online for too short a time after a failover"
	// BeingDeleted as a reason means that the place is about to vanish.
	BeingDeleted = "being deleted"
)

// Constraints are what a place must meet, all of them.
type Constraints struct {
	// Labels are label constraints.
	Labels []*constraint.Constraint
	// Metrics are metric constraints.
	Metrics []*constraint.Constraint
	// CustomResources must all be among those of the place.
	CustomResources []string
}

// Query is what a place is looked for.
type Query struct {
	// UID orders places of equal score.
	UID string
	// Current names the place where it is now, empty for none.
	Current string
	// LastScore is the score of Current in the last decision in which its metrics had values, if that
	// is known.
	LastScore *float64
	// Constraints must be met.
	Constraints Constraints
	// Stickiness favours the current place. Nil means that nothing does, and that the term is
	// absent from the formula.
	Stickiness *Stickiness
}

// Ranked tells what became of a candidate.
type Ranked struct {
	// Name is that of the candidate.
	Name string
	// Eligible is true if it may be chosen.
	Eligible bool
	// Rejections are the reasons why not, each worded so that it can follow a number of places.
	Rejections []string
	// Score is what eligible places are compared by, 0 for others.
	Score float64
	// Parts are the terms of the score. They are absent if it is that of an earlier decision.
	Parts []Part
	// Measured is true if the score comes from metrics.
	Measured bool
	// Held is true for the current place if it has the metrics, they have no values, and no last score
	// is known: nothing is known against it, so it stays first.
	Held bool
	// Problems say which metrics could not be read, and why, after the remarks of the candidate.
	Problems []string
}
