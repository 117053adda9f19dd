// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package waitlist

import (
	"context"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	corev1helpers "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/utils/clock"

	"berth.dev/berth/pkg/placement/pool"
)

// Run wakes the pods that are chosen, until the context ends. Held reports whether a plugin would
// keep a pod out of the queue if it were woken.
func (w *Units) Run(ctx context.Context, clock clock.WithTicker, wake func([]*corev1.Pod), held func(*corev1.Pod) bool) {
	run(ctx, w, w.calls.rung, clock, wake, held)
}

// lapse offers to others what was offered to pods that have not been heard of for OfferTimeout, or
// is not kept for a preemptor any longer.
func (w *Units) lapse() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.order) > 0 {
		w.choose()
	}
}

func (w *Units) takeChosen() []*corev1.Pod {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.spared {
		w.choose()
	}
	return w.calls.take()
}

// choose offers what is free to pods that it can serve and that have not been tried for it, in
// their order, and returns them.
func (w *Units) choose() map[types.UID]bool {
	w.dirty, w.spared = false, false
	marks := w.marks()
	w.book.keep(marks)
	now, chosen, next := w.clock.Now(), map[types.UID]bool{}, 0
	for _, c := range w.order {
		for priority := corev1helpers.PodPriority(c.pod); next < len(marks) && marks[next].Priority >= priority; next++ {
			w.book.take(marks[next].Charges, 1)
		}
		c.lapse(now)
		if c.state == asleep && (!w.book.changedFor(c) || w.returns[c.pod.UID].pauses(now)) {
			continue
		}
		own := slices.IndexFunc(marks[:next], func(m Mark) bool { return m.isFor(c.pod.UID) })
		if own >= 0 {
			w.book.take(marks[own].Charges, -1)
		}
		served := w.book.serve(c)
		if !served && own >= 0 {
			w.book.take(marks[own].Charges, 1)
		}
		if served && c.state == asleep {
			c.offer(now)
			c.newest = w.book.newest
			chosen[c.pod.UID] = true
			w.calls.add(c.pod)
		}
	}
	w.calls.ring()
	return chosen
}

// marks returns what is kept, the highest priority first.
func (w *Units) marks() []Mark {
	return slices.DeleteFunc(w.earmarks.Kept(), func(m Mark) bool {
		applies := m.Applies == nil
		w.book.each(m.Charges, func(s *stock, at int32, _ int64, _ *pool.Charge) {
			applies = applies || m.Applies(s.all[at])
		})
		return !applies
	})
}

// lapse ends an offer, or an attempt, of which nothing has been heard for too long.
func (c *claimant) lapse(now time.Time) {
	if c.overdue(now) {
		lapsedOffers.Inc()
		c.giveUp()
	}
}

// giveUp ends an offer, or an attempt, that nothing came of.
func (c *claimant) giveUp() {
	c.blocked = true
	if c.state == offered {
		c.fail(c.newest)
	} else {
		c.fail(c.seen)
	}
}

// keep notes what the earmarks keep, and that something has become free where they keep less than
// before. Nothing is taken then.
func (b *book) keep(marks []Mark) {
	for _, s := range b.stocks {
		clear(s.taken)
	}
	for i := range marks {
		b.take(marks[i].Charges, 1)
	}
	for _, s := range b.stocks {
		for i, kept := range s.taken {
			if kept < s.kept[i] {
				b.newest++
				s.changed[i] = b.newest
			}
		}
		copy(s.kept, s.taken)
		clear(s.taken)
	}
}

// take adds charges to what is taken, or takes them away with a negative sign.
func (b *book) take(charges []pool.Charge, sign int64) {
	b.each(charges, func(s *stock, at int32, units int64, _ *pool.Charge) {
		s.taken[at] = pool.AddUnits(s.taken[at], sign*units)
	})
}

// left returns how many units of a pool are left beside what is taken.
func (s *stock) left(i int32) int64 {
	return pool.AddUnits(s.own[i], -s.taken[i])
}

// leftOfAll is left of what is in whosever grant.
func (s *stock) leftOfAll(i int32) int64 {
	return pool.AddUnits(s.all[i], -s.taken[i])
}

// changedFor reports whether something that can help a pod has become free since it was tried in
// vain.
func (b *book) changedFor(c *claimant) bool {
	for i := range c.needs {
		n := &c.needs[i]
		s := b.stocks[n.Resource]
		if s == nil {
			continue
		}
		for _, site := range n.sitesOf(s.resource) {
			if slices.ContainsFunc(site, func(i int32) bool { return s.changed[i] > c.vain }) {
				return true
			}
		}
	}
	return false
}

// serve takes what a pod needs, and reports whether enough is left beside what is taken.
func (b *book) serve(c *claimant) bool {
	for i := range c.needs {
		n := &c.needs[i]
		s := b.stocks[n.Resource]
		if s == nil || n.site(s.resource, s.left) == nil {
			return false
		}
	}
	for i := range c.needs {
		n := &c.needs[i]
		s := b.stocks[n.Resource]
		for _, p := range s.resource.Draws(n.site(s.resource, s.left), s.left, n.Units) {
			s.taken[p] = pool.AddUnits(s.taken[p], n.Units)
		}
	}
	return len(c.needs) > 0
}

// site returns the first site that has enough left, nil if none has.
func (n *Need) site(r *pool.Resource, left pool.Free) []int32 {
	return firstOf(r, n.sitesOf(r), left, n.Units)
}

// firstOf returns the first of some sites that has so many units left, nil if none has.
func firstOf(r *pool.Resource, sites [][]int32, left pool.Free, units int64) []int32 {
	for _, site := range sites {
		if r.Admits(site, left, units) {
			return site
		}
	}
	return nil
}

// sitesOf returns the sites as indexes of the pools of a resource.
func (n *Need) sitesOf(r *pool.Resource) [][]int32 {
	n.resolve(r)
	return n.at
}

// nearOf returns the sites that are near as sitesOf returns all, nil if all are.
func (n *Need) nearOf(r *pool.Resource) [][]int32 {
	n.resolve(r)
	return n.near
}

func (n *Need) resolve(r *pool.Resource) {
	if n.resource != r {
		n.resource, n.at, n.near = r, indexes(r, n.Sites), nil
		if n.Near != nil {
			n.near = indexes(r, n.Near)
		}
	}
}

// indexes returns the pools of sites as indexes of the pools of a resource.
func indexes(r *pool.Resource, sites [][]string) [][]int32 {
	found := make([][]int32, len(sites))
	for i, names := range sites {
		for _, name := range names {
			if at, known := r.Index(name); known {
				found[i] = append(found[i], at)
			}
		}
	}
	return found
}
