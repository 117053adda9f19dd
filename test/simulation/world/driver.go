// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package world

import (
	"cmp"
	"slices"
	"time"

	"berth.dev/berth/test/simulation/apiserver"
)

// choice is something that can happen now.
type choice struct {
	name string
	do   func()
}

// step lets one thing happen that can happen now, chosen by the seed. If there is nothing it
// returns when there will be, or the end.
func (w *World) step(end time.Time) (next time.Time) {
	next = end
	now := time.Now()
	later := func(due time.Time) bool {
		if due.After(now) {
			if due.Before(next) {
				next = due
			}
			return true
		}
		return false
	}
	w.tidy()
	var choices []choice
	for _, t := range w.timers {
		if !later(t.due) {
			choices = append(choices, choice{"timer", func() { w.fire(t) }})
			break // timers fire in order
		}
	}
	for _, c := range w.calls {
		if !later(w.held(c.process, c.due)) {
			choices = append(choices, choice{c.name, func() { w.proceed(c) }})
		}
	}
	for _, o := range w.streams {
		if o.call.answer.Watch.Behind() && !later(w.held(o.call.process, o.due)) && !o.body.over() {
			choices = append(choices, choice{o.call.name, func() { w.deliver(o) }})
		}
	}
	if len(choices) == 0 {
		return next
	}
	slices.SortStableFunc(choices, func(a, b choice) int { return cmp.Compare(a.name, b.name) })
	choices[w.rng.IntN(len(choices))].do()
	return time.Time{}
}

// held returns when something can reach a process, or go out from it.
func (w *World) held(p *process, due time.Time) time.Time {
	if p.program.held.After(due) && p.alive {
		return p.program.held
	}
	return due
}

// tidy forgets the requests that are over.
func (w *World) tidy() {
	w.calls = slices.DeleteFunc(w.calls, func(c *call) bool { return c.served && (c.givenUp || isDone(c)) })
}

func isDone(c *call) bool {
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}

func (w *World) fire(t *timer) {
	w.timers = slices.DeleteFunc(w.timers, func(other *timer) bool { return other == t })
	t.do()
}

// proceed carries a request out, or delivers its answer.
func (w *World) proceed(c *call) {
	if !c.served {
		w.carryOut(c)
		return
	}
	if !c.givenUp {
		close(c.done)
	}
}

// carryOut lets a request arrive at the API server.
func (w *World) carryOut(c *call) {
	c.served = true
	w.noteWrite(c)
	if w.killed(c) {
		return
	}
	var answer apiserver.Answer
	switch {
	case c.fault.lost || w.down():
		w.cut(c)
		return
	case c.fault.refusal != nil:
		answer = apiserver.Failure(c.fault.refusal)
	default:
		answer = w.serve(c)
	}
	w.wrote(c, answer)
	if c.fault.twice > 0 {
		w.after(c.fault.twice, func() { w.wrote(c, w.serve(c)) })
	}
	c.answer = answer
	if c.fault.wrong != nil {
		c.answer = apiserver.Failure(c.fault.wrong)
	}
	c.due = time.Now().Add(w.latency(c.name+" answer") + c.fault.answerDelay)
	if c.fault.cut {
		w.cut(c)
	}
}

func (w *World) serve(c *call) apiserver.Answer {
	w.acting = c
	defer func() { w.acting = nil }()
	return w.server.Serve(c.request)
}

// wrote notes that a write has been answered.
func (w *World) wrote(c *call, answer apiserver.Answer) {
	writes := c.request.Writes()
	if writes {
		w.Counts.Writes[c.request.Kind()]++
	}
	// Leases are renewed all the time.
	if c.fault.kind != "" || writes && c.request.Resource.Resource != "leases" {
		w.notef("%s -> %d%s", c.name, answer.Code, c.fault.text())
	}
}

// deliver sends the next event of a watch to the client.
func (w *World) deliver(o *open) {
	frame := o.call.answer.Watch.Next()
	if frame == nil {
		return
	}
	w.Counts.Events++
	o.body.write(frame)
	o.due = w.nextNews(o)
}

// bookmark tells clients again and again that nothing is new for them.
func (w *World) bookmark() {
	w.after(bookmarkPause, w.bookmark)
	w.streams = slices.DeleteFunc(w.streams, func(o *open) bool { return o.body.over() })
	for _, o := range w.streams {
		if frame := o.call.answer.Watch.Bookmark(); frame != nil && !o.call.process.program.held.After(time.Now()) {
			o.body.write(frame)
		}
	}
}

const bookmarkPause = 20 * time.Second

// closeWatches ends watches, which the client then opens anew.
func (w *World) closeWatches(of func(*process) bool, expired bool) {
	for _, o := range w.streams {
		if !of(o.call.process) {
			continue
		}
		if expired {
			o.body.write(o.call.answer.Watch.Expired())
		}
		o.body.Close()
	}
}
