// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package world

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// disturbance is one of the things that disturb a world.
type disturbance struct {
	kind string
	// plan draws the details at once, and returns what to call it and what it does.
	plan func(w *World) (name string, do func())
	// byUser is true for what users do, whatever else goes on.
	byUser bool
}

// disturbances are what users, nodes, networks and machines do to a world.
var disturbances = []disturbance{
	{"scale", (*World).planScale, true},
	{"scale", (*World).planScale, true},
	{"edit of a policy", (*World).planEdit, true},
	{"resize", (*World).planResize, true},
	{"deletion of a pod", (*World).planDeletion, true},
	{"broken node", (*World).planBreak, false},
	{"lost node", (*World).planLoss, false},
	{"kill", (*World).planKill, false},
	{"kill", (*World).planKill, false},
	{"termination", (*World).planTermination, false},
	{"stop", (*World).planStop, false},
	{"outage", (*World).planOutage, false},
	{"cut watches", (*World).planCut, false},
	{"compaction", (*World).planCompaction, false},
}

// disturb plans what disturbs a world for some time.
func (w *World) disturb(length time.Duration) {
	kinds := w.kindsOfDisturbance()
	for n := range w.between(4, 25) {
		d := kinds[w.rng.IntN(len(kinds))]
		at := time.Duration(w.rng.Int64N(int64(length)))
		what, do := d.plan(w)
		name := fmt.Sprintf("disturbance %d: %s", n, what)
		if !w.undisturbed || d.byUser {
			w.plan(at, d.kind, name, do)
		}
	}
	w.hurry(length)
}

// kindsOfDisturbance returns what disturbs the world. In one of two that is but a few kinds, each
// of which comes up the more often: what ten edits in a row do is seldom seen among everything
// else.
func (w *World) kindsOfDisturbance() []disturbance {
	if w.undisturbed || w.hash("few kinds of disturbances")%2 == 0 {
		return disturbances
	}
	var few []disturbance
	for i, d := range disturbances {
		if w.hash(fmt.Sprintf("disturbance %d: %s", i, d.kind))%4 == 0 {
			few = append(few, d)
		}
	}
	if len(few) == 0 {
		return disturbances
	}
	return few
}

// plan has something happen at a time, unless it is left out.
func (w *World) plan(at time.Duration, kind, name string, do func()) {
	if w.skip[name] {
		return
	}
	w.after(at, func() {
		w.Counts.Disturbances[kind]++
		w.injected = append(w.injected, name)
		w.notef("%s", name)
		do()
	})
}

func (w *World) anyWorkload() *workload { return w.drawn[w.rng.IntN(len(w.drawn))] }

func (w *World) planScale() (name string, do func()) {
	l, replicas := w.anyWorkload(), int32(w.between(0, 10))
	return fmt.Sprintf("%s is scaled to %d", l.name, replicas), func() {
		w.edited[l.name] = time.Now()
		w.scale(l, replicas)
	}
}

func (w *World) planEdit() (name string, do func()) {
	l, weights := w.anyWorkload(), w.weights()
	return "the policy of " + l.name + " is edited", func() {
		if l.policy {
			w.edited[l.name] = time.Now()
			w.act("patch", policies, l.name, "", object{"spec": object{"placement": object{"staticWeightList": weights}}})
		}
	}
}

func (w *World) planResize() (name string, do func()) {
	capacity := w.licences().Spec.Capacity
	return "the pools are resized", func() {
		for i := range capacity {
			if w.pools[capacity[i].Name] == nil {
				return // these are other pools
			}
		}
		w.act("patch", resources, licence, "", object{"spec": object{"capacity": capacity}})
	}
}

func (w *World) planDeletion() (name string, do func()) {
	l, n := w.anyWorkload(), w.rng.IntN(8)
	return fmt.Sprintf("pod %d of %s is deleted", n, l.name), func() {
		if own := w.of(l); n < len(own) {
			w.act("delete", pods, own[n].Name, "", metav1.DeleteOptions{})
		}
	}
}

func (w *World) anyNode() string {
	return fmt.Sprintf("%s-node-%d", siteName(w.rng.IntN(w.sites)), w.rng.IntN(3))
}

func (w *World) planBreak() (name string, do func()) {
	node, length := w.anyNode(), time.Duration(w.between(1, 40))*time.Second
	return fmt.Sprintf("node %s fails for %s", node, length), func() {
		if w.nodes[node] == nil || w.broken[node] {
			return
		}
		w.setReady(node, false)
		w.after(length, func() { w.setReady(node, true) })
	}
}

// setReady breaks a node or mends it.
func (w *World) setReady(node string, ready bool) {
	if w.nodes[node] == nil {
		delete(w.broken, node)
		return
	}
	status, taints := "True", []object{}
	if w.broken[node] = !ready; !ready {
		status, taints = "Unknown", []object{{"key": corev1.TaintNodeNotReady, "effect": "NoSchedule"}}
	}
	w.act("patch", nodes, node, "", object{"spec": object{"taints": taints}})
	w.act("patch", nodes, node, "status", object{"status": object{"conditions": []object{{"type": "Ready", "status": status}}}})
}

func (w *World) planLoss() (name string, do func()) {
	node, length := w.anyNode(), time.Duration(w.between(1, 30))*time.Second
	return fmt.Sprintf("node %s is away for %s", node, length), func() { w.lose(node, length) }
}

// lose deletes a node, if there is one, and adds it again after a while.
func (w *World) lose(node string, length time.Duration) {
	found := w.nodes[node]
	if found == nil {
		return
	}
	w.act("delete", nodes, node, "", metav1.DeleteOptions{})
	w.after(length, func() {
		delete(w.broken, node)
		w.addNode(node, found.Labels[siteLabel])
	})
}

func (w *World) anyProgram() *program { return w.programs[w.rng.IntN(len(w.programs))] }

func (w *World) planKill() (name string, do func()) {
	program, length := w.anyProgram(), time.Duration(w.between(0, 20))*time.Second
	return fmt.Sprintf("%s is killed for %s", program.Name, length), func() { w.takeDown(program, length) }
}

// takeDown ends the process of a program, if there is one, and starts it again after a while.
func (w *World) takeDown(program *program, length time.Duration) {
	if p := program.current; p != nil && p.alive {
		w.end(p)
		w.after(length, func() { w.start(program) })
	}
}

func (w *World) planTermination() (name string, do func()) {
	program := w.anyProgram()
	return program.Name + " is terminated", func() {
		if p := program.current; p != nil && p.alive && program.scheduler {
			p.stop()
		}
	}
}

func (w *World) planStop() (name string, do func()) {
	program, length := w.anyProgram(), time.Duration(w.between(1, 45))*time.Second
	return fmt.Sprintf("%s is cut off for %s", program.Name, length), func() { program.held = time.Now().Add(length) }
}

func (w *World) planOutage() (name string, do func()) {
	length := time.Duration(w.between(1, 60)) * time.Second
	return fmt.Sprintf("the API server is away for %s", length), func() {
		w.outage = time.Now().Add(length)
		w.closeWatches(func(*process) bool { return true }, false)
	}
}

func (w *World) planCut() (name string, do func()) {
	program := w.anyProgram()
	return "the watches of " + program.Name + " are cut", func() {
		w.closeWatches(func(p *process) bool { return p.program == program }, false)
	}
}

func (w *World) planCompaction() (name string, do func()) {
	program := w.anyProgram()
	return "the revisions are compacted, and the watches of " + program.Name + " expire", func() {
		w.server.Compact()
		w.closeWatches(func(p *process) bool { return p.program == program }, true)
	}
}

// calm ends all that disturbs.
func (w *World) calm() {
	w.notef("calm")
	w.calmed, w.faulty, w.outage = true, false, time.Time{}
	for _, program := range w.programs {
		program.held = time.Time{}
		if program.current == nil || !program.current.alive {
			w.start(program)
		}
	}
	w.arriveNow()
	for site := range w.sites {
		name := siteName(site)
		for n := range 3 {
			if node := fmt.Sprintf("%s-node-%d", name, n); w.broken[node] {
				w.setReady(node, true)
			} else if n == 0 && w.nodes[node] == nil {
				w.addNode(node, name)
			}
		}
	}
}

// arriveNow ends the delay of all that is on its way.
func (w *World) arriveNow() {
	now := time.Now()
	for _, c := range w.calls {
		if c.due.After(now) {
			c.due = now
		}
	}
	for _, o := range w.streams {
		if o.due.After(now) {
			o.due = now
		}
	}
}
