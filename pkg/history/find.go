// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package history

import (
	"slices"
	"time"
)

// MaxFound is the number of entries in an answer, of which the newest are told.
const MaxFound = 500

// Answer is what a process remembers of an object. The names of its fields are a promise to
// programs.
type Answer struct {
	// Process is the name of the process, which is that of its pod.
	Process string `json:"process"`
	// Since is when the process began to remember: what was decided before is lost.
	Since time.Time `json:"since,omitzero"`
	// Dropped is the number of entries, about whatever, that were forgotten since then.
	Dropped int `json:"dropped"`
	// Entries are in the order of time.
	Entries []Entry `json:"entries"`
	// Older is the number of further entries about the object, older than these.
	Older int `json:"older,omitempty"`
}

// Find returns what is remembered about an object, about what belongs to it, or about what it asked
// for, and may be told as allowed says. It must not be changed.
func (r *Ring) Find(object Object, allowed func(Object) bool) Answer {
	if r == nil {
		return Answer{Entries: []Entry{}}
	}
	answer, found := r.match(object)
	// Allowed may ask the API server, so it is called without the lock.
	found = slices.DeleteFunc(found, func(e Entry) bool { return !allowed(e.About) })
	for i := range found {
		if asked := found[i].For; asked != nil && !allowed(*asked) {
			found[i].For = &Object{Kind: asked.Kind}
		}
	}
	found = slices.DeleteFunc(found, func(e Entry) bool { return !e.concerns(object) })
	answer.Older = max(0, len(found)-MaxFound)
	answer.Entries = found[answer.Older:]
	return answer
}

// concerns reports whether an entry is about an object, about what belongs to it, or about what it
// asked for.
func (e *Entry) concerns(object Object) bool {
	return e.About.Is(object) || e.Workload != nil && e.Workload.Is(object) || e.For != nil && e.For.Is(object)
}

// match returns the entries that concern an object.
func (r *Ring) match(object Object) (Answer, []Entry) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.expire(r.clock.Now())
	found := []Entry{}
	for n := r.first; n < r.number; n++ {
		if e := &r.at(n).entry; e.concerns(object) {
			found = append(found, *e)
		}
	}
	return Answer{Since: r.since, Dropped: r.dropped}, found
}
