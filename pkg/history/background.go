// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package history

import "context"

// maxWaiting is how many entries may wait to be made.
const maxWaiting = 1024

// Background makes the entries of a Ring apart from who decides, in the order of the decisions, so
// that what they cost delays nothing. It is safe for concurrent use.
type Background struct {
	ring  *Ring
	notes chan note
}

// note is an entry that is yet to be made, and what completes it, nil for nothing.
type note struct {
	entry    func() Entry
	complete func(*Entry)
}

// NewBackground returns what adds to the Ring while Run runs. Nothing is added to a nil Ring.
func NewBackground(ring *Ring) *Background {
	return &Background{ring: ring, notes: make(chan note, maxWaiting)}
}

// On reports whether anything is remembered.
func (b *Background) On() bool { return b != nil && b.ring.on() }

// Note has the entry made and added, if anything is remembered. It never blocks: while too many
// wait the entry is dropped, and counts as such.
func (b *Background) Note(entry func() Entry) { b.NoteKeyed(entry, nil) }

// NoteKeyed is Note for an entry that takes long to make: the first function sets its Key, and the
// second one, which sets its Message and Reasons, is called only if the newest entry about the same
// object has another.
func (b *Background) NoteKeyed(entry func() Entry, complete func(*Entry)) {
	if !b.On() {
		return
	}
	select {
	case b.notes <- note{entry, complete}:
	default:
		b.ring.miss()
	}
}

// Run makes entries until the context ends.
func (b *Background) Run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case n := <-b.notes:
			b.ring.make(n)
		}
	}
}

// make makes an entry and adds it.
func (r *Ring) make(n note) {
	e := n.entry()
	if n.complete != nil {
		if r.again(&e) {
			return
		}
		n.complete(&e)
	}
	r.Add(e)
}

// miss counts an entry that was never made.
func (r *Ring) miss() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.dropped++
}
