// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package world

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// Options say what is simulated.
type Options struct {
	// Seed decides everything.
	Seed uint64
	// Skip are faults, disturbances and objects that are left out, by their names.
	Skip []string
	// Undisturbed leaves out all that goes wrong: only users act, and Kill if it is not nil.
	Undisturbed bool
	Kill        *Kill
	// Definitions are those of Berth's kinds.
	Definitions []*apiextensionsv1.CustomResourceDefinition
	// Trace gets the history as it happens.
	Trace io.Writer
}

const (
	// afterCalm is how long after the last disturbance all that fits must run. A program whose lists
	// have failed for a while lists again after up to a minute, as client-go wants it, and others may
	// wait for what it does then.
	afterCalm = 2 * time.Minute
	// quiet is how long nothing must happen then.
	quiet = 30 * time.Second
)

// Simulate runs the world of a seed: it is disturbed for one to three minutes, and then left alone.
// The error is a promise that was broken. It must be called in a synctest bubble.
func Simulate(options *Options) (*World, error) {
	w, err := begin(options)
	if err != nil {
		return nil, err
	}
	length := w.length
	w.disturb(length)
	w.deploy(length)
	w.subscribe(length)
	w.rehome(length)
	w.shake(length)
	w.mislay(length)
	w.delay(length)
	w.faulty = !w.undisturbed
	if err := w.pass(length); err != nil {
		return w, err
	}
	w.calm()
	if err := w.pass(afterCalm); err != nil {
		return w, err
	}
	if left := w.unsettled(); len(left) > 0 {
		w.noteStatuses()
		return w, fmt.Errorf("%s after the last disturbance: %s", afterCalm, strings.Join(left, "; "))
	}
	evictions, bound := w.Counts.Evictions, w.Counts.Bound
	if err := w.pass(quiet); err != nil {
		return w, err
	}
	left := w.unsettled()
	if w.Counts.Evictions != evictions || w.Counts.Bound != bound {
		left = append(left, fmt.Sprintf("%d pods were evicted and %d bound although nothing had changed",
			w.Counts.Evictions-evictions, w.Counts.Bound-bound))
	}
	if len(left) > 0 {
		return w, fmt.Errorf("%s later: %s", quiet, strings.Join(left, "; "))
	}
	return w, nil
}

// begin returns a world whose programs are about to start.
func begin(options *Options) (*World, error) {
	w, err := newWorld(options.Seed, options.Definitions)
	if err != nil {
		return nil, err
	}
	w.trace, w.skip = options.Trace, map[string]bool{}
	w.undisturbed, w.kill = options.Undisturbed, options.Kill
	for _, name := range options.Skip {
		w.skip[name] = true
	}
	w.length = time.Duration(w.between(60, 180)) * time.Second
	w.rates = rates{
		perMille: []uint64{0, 20, 60, 150, 300}[w.rng.IntN(5)], slowest: []time.Duration{0, 2 * time.Second, 10 * time.Second}[w.rng.IntN(3)],
		beset: w.beset(),
	}
	w.sharing = w.rng.IntN(2) == 0
	w.populate()
	w.run()
	return w, nil
}

// Names returns the faults, disturbances and objects that there were, each once, in order.
func (w *World) Names() []string {
	names := slices.Clone(w.injected)
	slices.Sort(names)
	return slices.Compact(names)
}
