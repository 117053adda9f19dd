// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package world

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// lag is how a program hears of the objects of a resource for a while: of all that is new at once,
// and then of nothing for a time.
type lag struct {
	until time.Time
	pause time.Duration
}

// slowNews are the resources of which news are late in some worlds.
var slowNews = []string{"pods", "clusters", "clusterresources", "schedulers", "propagationpolicies", "nodes"}

// delay has what belongs together be late together in one world of two: the news that a program
// has of a resource, and the renewals of its lease. A single request or event is late everywhere,
// but what a program decides by is seldom wrong for long then.
func (w *World) delay(length time.Duration) {
	if w.undisturbed || w.hash("news and renewals are late")%2 > 0 {
		return
	}
	rng := rand.New(rand.NewPCG(w.seed, 80)) //nolint:gosec // it is to be the same every time
	for n := range rng.IntN(10) {
		program, resource := w.programs[rng.IntN(len(w.programs))], slowNews[rng.IntN(len(slowNews))]
		at, lasting := time.Duration(rng.Int64N(int64(length))), time.Second+seconds(rng.Uint64(), 40)
		pause := time.Duration(rng.Int64N(int64(8 * time.Second)))
		if rng.IntN(3) > 0 {
			w.plan(at, "late news", fmt.Sprintf("delay %d: %s hears of %s each %s, for %s", n, program.Name, resource, pause, lasting), func() {
				program.lags[resource] = lag{time.Now().Add(lasting), pause}
			})
			continue
		}
		w.plan(at, "late renewals", fmt.Sprintf("delay %d: the renewals of %s are late by up to %s", n, program.Name, lasting), func() {
			program.unrenewed = time.Now().Add(lasting)
		})
	}
}

// nextNews returns when the next event of a watch is delivered after one that was just now.
func (w *World) nextNews(o *open) time.Time {
	now := time.Now()
	l := o.call.process.program.lags[o.call.request.Resource.Resource]
	if !w.calmed && now.Before(l.until) && !o.call.answer.Watch.Behind() {
		return now.Add(l.pause)
	}
	return now.Add(w.eventDelay())
}

// arrival returns when a request that is sent now arrives.
func (w *World) arrival(c *call) time.Time {
	due, from := time.Now().Add(w.latency(c.name+" request")+c.fault.delay), time.Time{}
	switch resource := c.request.Resource.Resource; {
	case w.calmed:
	case resource == leases:
		from = c.process.program.unrenewed
	case resource == pods.Resource && c.request.Writes():
		from = w.orphaned[c.request.Name]
	}
	if from.After(due) {
		return from.Add(w.latency(c.name + " request, held back"))
	}
	return due
}
