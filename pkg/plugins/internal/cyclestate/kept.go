// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package cyclestate

import (
	"sync/atomic"

	fwk "k8s.io/kube-scheduler/framework"
)

// Kept remembers what a plugin has written last, and in which cycle. Filter and Score are asked
// about every node, and to look a key up in the state of the cycle would take longer than all that
// they do with what they find. It is safe for concurrent use, and the zero value is ready. A state
// is kept alive until another one takes its place.
type Kept struct {
	newest atomic.Pointer[Entry]
}

// Entry belongs into the state of a plugin, so that to keep it takes no memory of its own.
type Entry struct {
	cycle fwk.CycleState
	data  fwk.StateData
}

// Write writes the data, of which the entry is a part, to the cycle state.
func (k *Kept) Write(cycle fwk.CycleState, key fwk.StateKey, data fwk.StateData, entry *Entry) {
	*entry = Entry{cycle: cycle, data: data}
	cycle.Write(key, data)
	k.newest.Store(entry)
}

// Read returns what Write has written under the key in this cycle, and what Clone has made of it if
// the cycle is the copy of another one. It returns nil if there is nothing. It allocates nothing.
func (k *Kept) Read(cycle fwk.CycleState, key fwk.StateKey) fwk.StateData {
	if e := k.newest.Load(); e != nil && e.cycle == cycle {
		return e.data
	}
	data, _ := cycle.Read(key) // the only error is that there is nothing
	return data
}
