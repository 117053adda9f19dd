// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package waitlist

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	corev1helpers "k8s.io/component-helpers/scheduling/corev1"

	"berth.dev/berth/pkg/placement/pool"
)

// Wish is what pods that wait and have one priority want of a pool.
type Wish struct {
	// Wanted is how many units they want altogether, Least the fewest that serve one of them.
	Wanted, Least int64
	// First is the pod whose turn it is.
	First *corev1.Pod
	// Short is true if what is left of the pool cannot serve it, and would with more of this pool
	// alone.
	Short bool
}

// Wishes returns what the pods that wait want of each pool, the higher priority first, as far as
// what is left of the pools, in whosever grant it is, could serve them. Those that it could not
// serve would only keep others from it, and so would those that something else is in the way of:
// who was kept out of the queue, or rejected elsewhere, when it was offered enough.
//
// For a while after an attempt a pod wants only what it could have used in that. Schedulers that
// asked for what is left where their pods cannot go would take it from each other, and from those
// that can use it.
//
// What is kept for a pod is wanted, however little of it is there yet. The last wishes for a pool
// are Short: those of the first pod that nothing but more of this pool would serve, and of some
// behind it, each of which asks for less.
func (w *Units) Wishes() map[pool.Key][]Wish {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, s := range w.book.stocks {
		clear(s.taken)
	}
	marks := map[types.UID]Mark{}
	for _, m := range w.marks() {
		if m.Pod != nil {
			marks[m.Pod.UID] = m
		}
	}
	found, short, now := map[pool.Key][]Wish{}, map[pool.Key][]Wish{}, w.clock.Now()
	for _, c := range w.orderWith(marks) {
		mark, kept := marks[c.pod.UID]
		c.near = now.Sub(c.rejected) < nearFor
		switch {
		case kept:
			w.book.want(found, c.pod, mark.Charges)
		case c.state == tried || c.blocked:
		case w.book.couldServe(c):
			w.book.wantNeeds(found, c)
		default:
			w.book.findShort(short, c)
		}
	}
	for key, wishes := range short {
		found[key] = append(found[key], wishes...)
	}
	return found
}

// orderWith returns the pods that wait in their order, and those among them for which something is
// kept and that have not been tried yet.
func (w *Units) orderWith(marks map[types.UID]Mark) []*claimant {
	all := slices.Clip(w.order)
	for _, m := range marks {
		if w.pods[m.Pod.UID] != nil {
			continue
		}
		all = append(all, &claimant{pod: m.Pod})
	}
	if len(all) > len(w.order) {
		slices.SortStableFunc(all, func(a, b *claimant) int { return comparePods(a.pod, b.pod) })
	}
	return all
}

// want notes that what is kept for a pod is wanted.
func (b *book) want(found map[pool.Key][]Wish, pod *corev1.Pod, kept []pool.Charge) {
	b.take(kept, 1)
	b.each(kept, func(s *stock, at int32, units int64, _ *pool.Charge) {
		key := s.key(at)
		found[key] = wish(found[key], Wish{Wanted: units, Least: min(1, units), First: pod})
	})
}

// nearFor is for how long after an attempt a pod wants only what it could have used in that. After
// it, something may have changed that nobody has told it of.
const nearFor = 10 * time.Second

// wanted returns the sites of which a pod wants something.
func (c *claimant) wanted(n *Need, s *stock) [][]int32 {
	if near := n.nearOf(s.resource); c.near && near != nil {
		return near
	}
	return n.sitesOf(s.resource)
}

// serving returns the first site that could serve a pod out of what is left in whosever grant, nil
// if none could.
func (c *claimant) serving(n *Need, s *stock) []int32 {
	return firstOf(s.resource, c.wanted(n, s), s.leftOfAll, n.Units)
}

// wantNeeds notes what a pod wants that could be served.
func (b *book) wantNeeds(found map[pool.Key][]Wish, c *claimant) {
	for i := range c.needs {
		n := &c.needs[i]
		s := b.stocks[n.Resource]
		for _, p := range s.resource.Draws(c.serving(n, s), s.leftOfAll, n.Units) {
			s.taken[p] = pool.AddUnits(s.taken[p], n.Units)
			key := s.key(p)
			found[key] = wish(found[key], Wish{Wanted: n.Units, Least: n.Units, First: c.pod})
		}
	}
}

func (s *stock) key(at int32) pool.Key {
	return pool.Key{Resource: s.resource.Name(), Pool: s.resource.Pools()[at].Name}
}

// wish adds what a pod wants, whose priority is the lowest so far.
func wish(wishes []Wish, more Wish) []Wish {
	last := len(wishes) - 1
	if last < 0 || corev1helpers.PodPriority(wishes[last].First) != corev1helpers.PodPriority(more.First) {
		return append(wishes, more)
	}
	known := &wishes[last]
	known.Wanted = pool.AddUnits(known.Wanted, more.Wanted)
	known.Least = min(known.Least, more.Least)
	return wishes
}

// maxShort is the largest number of wishes for a pool that are Short.
const maxShort = 4

// findShort notes a pod, which cannot be served, for the pools of which more would serve it, unless
// one before it is noted that asks for no more.
func (b *book) findShort(short map[pool.Key][]Wish, c *claimant) {
	var lacks *Need
	for i := range c.needs {
		n := &c.needs[i]
		s := b.stocks[n.Resource]
		switch {
		case s == nil:
			return
		case c.serving(n, s) != nil:
		case lacks != nil:
			return // it lacks two
		default:
			lacks = n
		}
	}
	if lacks == nil {
		return
	}
	s := b.stocks[lacks.Resource]
	lacks.eachShort(s, c.wanted(lacks, s), func(p int32) {
		key := s.key(p)
		noted := short[key]
		if len(noted) == 0 || len(noted) < maxShort && lacks.Units < noted[len(noted)-1].Wanted {
			short[key] = append(noted, Wish{Wanted: lacks.Units, Least: lacks.Units, First: c.pod, Short: true})
		}
	})
}

// eachShort visits the pools of some sites of which more, and of no other, would meet the need, if
// they are large enough.
func (n *Need) eachShort(s *stock, sites [][]int32, visit func(pool int32)) {
	for _, site := range sites {
		lacking := 0
		for _, p := range site {
			if s.leftOfAll(p) < n.Units {
				lacking++
			}
		}
		if s.resource.AllOf() && lacking != 1 {
			continue
		}
		for _, p := range site {
			if s.leftOfAll(p) < n.Units && n.Units <= s.resource.Pools()[p].Allocatable {
				visit(p)
			}
		}
	}
}

// couldServe reports whether all needs of a pod can be met beside what is taken, out of whosever
// grant.
func (b *book) couldServe(c *claimant) bool {
	for i := range c.needs {
		n := &c.needs[i]
		s := b.stocks[n.Resource]
		if s == nil || c.serving(n, s) == nil {
			return false
		}
	}
	return len(c.needs) > 0
}

// Raised notes that so many units more of some pools may be given out than before, and returns the
// pods to wake.
func (w *Units) Raised(by map[pool.Key]int64) []*corev1.Pod {
	w.mu.Lock()
	for key, units := range by {
		w.book.raise(key, units)
	}
	w.choose()
	w.mu.Unlock()
	return w.takeChosen()
}

// Lifted notes that this process may give out everything now, whosever grant it was in, and returns
// the pods to wake: those of the given ones that can be served, and those that are not known to
// wait.
func (w *Units) Lifted(waiting []*corev1.Pod) []*corev1.Pod {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.book.lift()
	w.choose()
	pods := w.calls.take()
	for _, pod := range waiting {
		if w.pods[pod.UID] == nil {
			pods = append(pods, pod)
		}
	}
	return pods
}

// probeAfter is the time without a scheduling cycle after which a pod is tried to see what is free.
const probeAfter = 3 * time.Second

// probe is a pod that may be tried to see what is free, and of which ClusterResources.
type probe struct {
	pod       *corev1.Pod
	resources []string
}

// Probes returns one pod that waits for each ClusterResource of which no scheduling cycle has seen
// for long what is free. What other schedulers give out and get back is seen in a scheduling cycle
// only. Held reports whether a plugin would keep a pod out of the queue, as one that waits for
// another scheduler by now: it would see nothing.
func (w *Units) Probes(held func(*corev1.Pod) bool) []*corev1.Pod {
	var pods []*corev1.Pod
	probed := map[string]bool{}
	for _, p := range w.probes() {
		known := func(resource string) bool { return probed[resource] }
		if p.resources = slices.DeleteFunc(p.resources, known); len(p.resources) == 0 || held(p.pod) {
			continue
		}
		probed[p.resources[0]] = true
		pods = append(pods, p.pod)
	}
	return pods
}

// probes returns the pods from which Probes chooses, in their order.
func (w *Units) probes() []probe {
	w.mu.Lock()
	defer w.mu.Unlock()
	var found []probe
	for _, c := range w.order {
		if c.state == tried {
			continue
		}
		p := probe{pod: c.pod}
		for i := range c.needs {
			s := w.book.stocks[c.needs[i].Resource]
			if s == nil || w.clock.Since(s.found) > probeAfter {
				p.resources = append(p.resources, c.needs[i].Resource)
			}
		}
		if len(p.resources) > 0 {
			found = append(found, p)
		}
	}
	return found
}

// Forget drops what is taken for free of ClusterResources that changed.
func (w *Units) Forget(changed func(resource string) bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for name := range w.book.stocks {
		if changed(name) {
			w.book.forget(name)
		}
	}
}
