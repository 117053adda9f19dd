// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package gateway_test

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
)

// action is what a client did to a name.
type action string

const (
	doRegister   action = "register"
	doUnregister action = "unregister"
	doGet        action = "get"
)

// operation is one request with its answer. Start and end are moments of one clock for all clients.
type operation struct {
	action     action
	start, end int64
	// done is true for a success, false for "there already" and "not there".
	done bool
	// id is the id that a success was about.
	id string
}

// String is for messages of failures.
func (o operation) String() string {
	return fmt.Sprintf("%d-%d %s done=%t %s", o.start, o.end, o.action, o.done, o.id)
}

// after returns which id the name has after an operation that found it with the id before, empty
// for none. It is false if the operation could not have been answered like that.
func (o operation) after(before string) (string, bool) {
	switch {
	case o.action == doRegister && o.done:
		return o.id, before == ""
	case o.action == doRegister:
		return before, before != ""
	case !o.done:
		return before, before == ""
	case o.action == doUnregister:
		return "", before != "" && (o.id == "" || o.id == before)
	default:
		return before, before == o.id
	}
}

// history collects the operations of all clients, by name. It is safe for concurrent use.
type history struct {
	clock atomic.Int64
	mu    sync.Mutex
	names map[string][]operation
}

func newHistory() *history { return &history{names: map[string][]operation{}} }

// note notes an operation while it takes place.
func (h *history) note(name string, do func() operation) {
	start := h.clock.Add(1)
	o := do()
	o.start, o.end = start, h.clock.Add(1)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.names[name] = append(h.names[name], o)
}

// linearizable reports whether the operations on a name can have taken place one after the other,
// each at some moment between its start and its end. It tries all orders, and no two that come to
// the same (Wing and Gong, with Lowe's memory).
func linearizable(operations []operation) bool {
	slices.SortFunc(operations, func(a, b operation) int { return int(a.start - b.start) })
	type position struct {
		taken [4]uint64
		id    string
	}
	tried := map[position]bool{}
	var search func(at position, left int) bool
	search = func(at position, left int) bool {
		if left == 0 {
			return true
		}
		if tried[at] {
			return false
		}
		tried[at] = true
		// Nothing that began after the first end among the rest can come first.
		firstEnd := int64(1) << 62
		for i, o := range operations {
			if at.taken[i/64]&(1<<(i%64)) == 0 {
				firstEnd = min(firstEnd, o.end)
			}
		}
		for i, o := range operations {
			if at.taken[i/64]&(1<<(i%64)) != 0 || o.start > firstEnd {
				continue
			}
			id, possible := o.after(at.id)
			if !possible {
				continue
			}
			next := position{taken: at.taken, id: id}
			next.taken[i/64] |= 1 << (i % 64)
			if search(next, left-1) {
				return true
			}
		}
		return false
	}
	return len(operations) <= 256 && search(position{}, len(operations))
}
