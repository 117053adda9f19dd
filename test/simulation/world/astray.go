// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package world

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// trap waits for the next Binding. That will be late, and lose what it relies on meanwhile.
type trap struct {
	// name is how it may be left out.
	name string
	// late is how long the Binding is on its way, pause after what part of that the rest happens.
	late, pause time.Duration
	spring      func(sender *program, node string)
	// orphans is true if the pod, which holds units, is not to be written before the Binding has
	// arrived.
	orphans bool
}

// losses are what a Binding can lose while it is on its way.
var losses = []struct {
	what string
	// shared is true if there must be several Schedulers, orphans if it takes the next leader to
	// settle the pod.
	shared, orphans bool
	// lose takes it away, for a time if it comes back.
	lose func(w *World, sender *program, node string, length time.Duration)
}{
	{"its sender", false, true, func(w *World, sender *program, _ string, length time.Duration) { w.takeDown(sender, length) }},
	{"its node", false, false, func(w *World, _ *program, node string, length time.Duration) { w.lose(node, length) }},
	{"the home of its cluster", true, false, func(w *World, sender *program, node string, _ time.Duration) {
		w.pin(w.siteOf(node), map[string]string{"east": "west", "west": "east"}[sender.scheduling()])
	}},
	{"the units of the pools", false, false, func(w *World, _ *program, _ string, _ time.Duration) { w.resize(1) }},
}

// mislay sets traps for Bindings in one world of two. What such a Binding needs is seldom lost by
// chance just then.
func (w *World) mislay(length time.Duration) {
	if w.undisturbed || w.hash("bindings are mislaid")%2 > 0 {
		return
	}
	rng := rand.New(rand.NewPCG(w.seed, 70)) //nolint:gosec // it is to be the same every time
	for n := range rng.IntN(12) {
		loss := losses[rng.IntN(len(losses))]
		if loss.shared && !w.sharing {
			continue
		}
		at, away := time.Duration(rng.Int64N(int64(length))), time.Duration(rng.Int64N(int64(30*time.Second)))
		t := &trap{name: fmt.Sprintf("trap %d: a Binding loses %s", n, loss.what), late: time.Second + seconds(rng.Uint64(), 35)}
		t.pause = time.Duration(rng.Int64N(int64(t.late)))
		if t.orphans = loss.orphans && rng.IntN(2) == 0; t.orphans {
			// The next leader is there before the Binding.
			t.late, t.pause = 20*time.Second+t.late/2, t.pause/20
		}
		t.spring = func(sender *program, node string) { loss.lose(w, sender, node, away) }
		w.plan(at, "late Binding that loses something", t.name, func() { w.traps = append(w.traps, t) })
	}
}

// fallInto lets the oldest trap spring that is for the request, and reports whether one does.
func (w *World) fallInto(c *call) (sprung bool) {
	binding := &corev1.Binding{}
	if len(w.traps) == 0 || c.request.Kind() != "create pods/binding" || !c.request.Decode(binding) {
		return false
	}
	charged := binding.Annotations[berthv1alpha1.ChargedAnnotation] != ""
	at := slices.IndexFunc(w.traps, func(t *trap) bool { return charged || !t.orphans })
	if at < 0 {
		return false
	}
	t := w.traps[at]
	w.traps = slices.Delete(w.traps, at, at+1)
	w.inject(c, c.request.Kind(), fault{kind: late, delay: t.late})
	w.after(t.pause, func() {
		if !w.calmed {
			w.notef("%s: %s", t.name, c.name)
			t.spring(c.process.program, binding.Target.Name)
			if t.orphans {
				w.orphaned[binding.Name] = c.due
			}
		}
	})
	return true
}
