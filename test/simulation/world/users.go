// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package world

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

var inventories = berthv1alpha1.SchemeGroupVersion.WithResource("feedinventories")

// busy is how much more users do in a world in which they do much.
const busy = 60

// hurry plans what users do besides in one world of three, so that Berth has about twice as much to
// write.
func (w *World) hurry(length time.Duration) {
	if w.hash("users do much")%3 > 0 {
		return
	}
	users := slices.DeleteFunc(slices.Clone(disturbances), func(d disturbance) bool { return !d.byUser })
	for n := range busy {
		d := users[w.rng.IntN(len(users))]
		at := time.Duration(w.rng.Int64N(int64(length)))
		what, do := d.plan(w)
		w.plan(at, d.kind, fmt.Sprintf("use %d: %s", n, what), do)
	}
}

// rehome lets users pin Clusters to other Schedulers in one of two worlds that have several, just
// after they have scaled a workload: Bindings are on their way when the Cluster is to be given up.
func (w *World) rehome(length time.Duration) {
	if !w.sharing || w.hash("clusters are pinned")%2 > 0 {
		return
	}
	rng := rand.New(rand.NewPCG(w.seed, 50)) //nolint:gosec // it is to be the same every time
	for n := range rng.IntN(12) {
		l, replicas := w.drawn[rng.IntN(len(w.drawn))], int32(rng.IntN(11))
		site, home := siteName(rng.IntN(w.sites)), []string{"east", "west", ""}[rng.IntN(3)]
		pause, dies := time.Duration(rng.Int64N(int64(2*time.Second))), rng.IntN(2) == 0
		w.plan(time.Duration(rng.Int64N(int64(length))), "change of a home", fmt.Sprintf("home %d: %s is pinned to %q", n, site, home), func() {
			w.edited[l.name] = time.Now()
			w.scale(l, replicas)
			w.after(pause, func() { w.pin(site, home) })
			if dies && !w.undisturbed {
				w.after(pause+halfWay, func() { w.leaveHalfWay(l) })
			}
		})
	}
}

// pin gives a Cluster to a Scheduler, or to whoever is to have it if the name is empty.
func (w *World) pin(cluster, home string) {
	w.act("patch", clusters, cluster, "", object{"spec": object{"homeScheduler": home}})
}

// shakes reports whether users raise and lower the pools of the world again and again, and what its
// Schedulers say of that meets with faults: in one of three worlds that have several.
func (w *World) shakes() bool { return w.sharing && w.hash("pools are shaken")%3 == 0 }

// shake lets them do that for some seconds, a few times.
func (w *World) shake(length time.Duration) {
	if !w.shakes() {
		return
	}
	rng := rand.New(rand.NewPCG(w.seed, 60)) //nolint:gosec // it is to be the same every time
	for n := range 1 + rng.IntN(3) {
		at := time.Duration(rng.Int64N(int64(length)))
		for i := range 8 {
			at += time.Duration(rng.Int64N(int64(2 * time.Second)))
			each := 1 + rng.IntN(3) + 8*(i%2)
			w.plan(min(at, length), "resize", fmt.Sprintf("shake %d: pools of %d, for the time %d", n, each, i), func() { w.resize(each) })
		}
	}
}

// resize gives all pools so many units.
func (w *World) resize(each int) {
	found := &berthv1alpha1.ClusterResource{}
	if !w.server.Read(resources, "", licence, found) {
		return
	}
	for i := range found.Spec.Capacity {
		found.Spec.Capacity[i].Quantity = *resource.NewQuantity(int64(each), resource.DecimalSI)
	}
	w.act("patch", resources, licence, "", object{"spec": object{"capacity": found.Spec.Capacity}})
}

// halfWay is how long after a Cluster was pinned its Scheduler may have acknowledged that it has
// given it up.
const halfWay = 250 * time.Millisecond

// leaveHalfWay kills the controllers, so that a Cluster stays with who has given it up, and lets
// users want more replicas of a workload.
func (w *World) leaveHalfWay(l *workload) {
	if w.calmed {
		return
	}
	for _, program := range w.programs {
		if program.Name == controllersName {
			w.takeDown(program, 10*time.Second)
		}
	}
	w.edited[l.name] = time.Now()
	w.scale(l, l.replicas+3)
}

// mostOut is how long a feed is out of its Subscription at most.
const mostOut = 20 * time.Second

// refeed plans that feeds of a Subscription are taken out and put back, and that its inventory is
// deleted, which Berth makes anew.
func (w *World) refeed(n int, s *subscription, length time.Duration) {
	rng := rand.New(rand.NewPCG(w.seed, 100+uint64(n))) //nolint:gosec // it is to be the same every time
	at := func() time.Duration { return time.Duration(rng.Int64N(int64(length - mostOut))) }
	for i := range rng.IntN(9) {
		l, pause := s.feeds[rng.IntN(len(s.feeds))], time.Second+time.Duration(rng.Int64N(int64(mostOut-time.Second)))
		w.plan(at(), "feed taken out", fmt.Sprintf("use %d of %s: feed %s is out for %s", i, s.name, l.name, pause), func() {
			if len(s.out)+1 < len(s.feeds) && !s.out[l.name] {
				w.list(s, l.name, true)
				w.after(pause, func() { w.list(s, l.name, false) })
			}
		})
	}
	for i := range rng.IntN(5) {
		w.plan(at(), "deletion of an inventory", fmt.Sprintf("use %d of %s: its inventory is deleted", i, s.name), func() {
			w.act("delete", inventories, s.name, "", metav1.DeleteOptions{})
		})
	}
}

// list takes a feed out of a Subscription, or puts it back.
func (w *World) list(s *subscription, feed string, out bool) {
	if out {
		s.out[feed] = true
	} else {
		delete(s.out, feed)
	}
	w.act("patch", subscriptions, s.name, "", object{"spec": object{"feeds": s.listed()}})
}
