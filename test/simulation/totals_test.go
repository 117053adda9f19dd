// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package simulation_test

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"berth.dev/berth/test/internal/record"
)

// faults returns how many requests of a world have gone wrong.
func (r *result) faults() (sum int) {
	for _, counts := range r.Counts.Faults {
		sum += counts.Sum()
	}
	return sum
}

// addTo adds what a world has done to the sums. One that was not judged is nil.
func (r *result) addTo(s *record.Simulation) {
	if r == nil {
		s.NotJudged++
		return
	}
	s.Worlds++
	if r.Violation != "" {
		s.Broken++
	}
	s.Seconds += int(r.Virtual.Seconds())
	s.Requests += r.Counts.Requests
	s.Bound += r.Counts.Bound
	s.Evicted += r.Counts.Evictions
	s.Writes.Add(r.Counts.Writes)
	s.OtherWrites += r.Counts.Others
	s.Faults.Add(r.Counts.Faults)
	s.Disturbances.Add(r.Counts.Disturbances)
}

// addObjects adds what a fuzzed world has done to the sums. One that was not judged is nil.
func (r *result) addObjects(o *record.Objects) {
	if r == nil {
		o.NotJudged++
		return
	}
	o.Worlds++
	if r.Violation != "" {
		o.Broken++
	}
	o.Writes += r.Counts.Writes.Sum()
	for what, n := range r.Counts.Disturbances {
		verb, kind, _ := strings.Cut(what, " ")
		o.Done.Add(record.Table{kind: {verb: n}})
	}
}

// keep adds what a world has done to the record, if there is one to be kept.
func (r *result) keep() error {
	if *recordFlag == "" {
		return nil
	}
	return record.Update(*recordFlag, func(all *record.Record) {
		if *fuzzFlag {
			r.addObjects(&all.Objects)
			return
		}
		r.addTo(&all.Simulation)
	})
}

// tellSums says what all worlds of a run have done.
func tellSums(out io.Writer, s *record.Simulation, took time.Duration) {
	about := record.Counts{}
	for _, counts := range s.Faults {
		about.Add(counts)
	}
	fmt.Fprintf(out, "%d worlds, %s simulated in %s: %d requests, %d API writes and %d of others, %d faults, %d disturbances, "+
		"%d pods bound, %d evicted, %d not judged\n",
		s.Worlds, time.Duration(s.Seconds)*time.Second, took.Round(time.Second), s.Requests, s.Writes.Sum(), s.OtherWrites,
		about.Sum(), s.Disturbances.Sum(), s.Bound, s.Evicted, s.NotJudged)
	for _, kind := range slices.Sorted(maps.Keys(s.Writes)) {
		fmt.Fprintf(out, "  %-48s %8d writes %6d faults\n", kind, s.Writes[kind], about[kind])
	}
	for _, fault := range slices.Sorted(maps.Keys(s.Faults)) {
		fmt.Fprintf(out, "  %-48s %8d times\n", fault, s.Faults[fault].Sum())
	}
	for _, kind := range slices.Sorted(maps.Keys(s.Disturbances)) {
		fmt.Fprintf(out, "  %-48s %8d times\n", kind, s.Disturbances[kind])
	}
}
