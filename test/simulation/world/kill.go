// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package world

import "strings"

// Kill is a write at which the process that sends it is killed, as a SIGKILL does. It is started
// again after a second.
type Kill struct {
	// Write is the name of the request.
	Write string
	// After is true if the API server carries the write out first; its answer reaches nobody.
	After bool
}

// KillAtWrite counts a Kill among the disturbances.
const KillAtWrite = "kill at a write"

// Write is a write that a program of Berth has sent.
type Write struct {
	// Name tells it from all others of a run. Kind is what it has in common with those of the same
	// program that do the same to other objects.
	Name, Kind string
}

// noteWrite remembers a write that may be the last of a process, as long as users act. Renewals of
// a lease are so many, and so alike, that the first one of a program stands for them.
func (w *World) noteWrite(c *call) {
	renewal := c.request.Kind() == "update leases" && !strings.HasSuffix(c.name, " #1")
	if w.undisturbed && c.request.Writes() && !renewal && !w.calmed {
		w.Writes = append(w.Writes, Write{c.name, c.process.program.Name + ": " + c.request.Kind()})
	}
}

// killed ends the process of a request if that is the write to be killed at, before or after it is
// carried out, and reports whether it was.
func (w *World) killed(c *call) bool {
	when := w.killsAt(c)
	if when == "" {
		return false
	}
	if when == "after" {
		w.wrote(c, w.serve(c))
	}
	w.notef("%s is killed %s %s", c.process.program.Name, when, c.name)
	w.Counts.Disturbances[KillAtWrite]++
	program := c.process.program
	w.end(c.process)
	w.after(restartPause, func() { w.start(program) })
	return true
}

// killsAt returns whether the process of a request is killed before or after it, empty for neither.
func (w *World) killsAt(c *call) (when string) {
	switch {
	case w.fleet != nil:
		return w.fleet.killsAt(c)
	case w.kill == nil || c.name != w.kill.Write:
		return ""
	case w.kill.After:
		return "after"
	}
	return "before"
}
