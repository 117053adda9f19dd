// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package world is a cluster in virtual time: Berth's programs, a kubelet and the controllers of
// workloads, in one synctest bubble, against an API server in memory. One driver decides what
// happens next, by a seed: which request is carried out, which answer or event is delivered,
// whether time passes. Faults are named by the request that they happen to, and chosen by a hash of
// that name and the seed, so that they are the same in every run in which the request is sent.
package world

import (
	"fmt"
	"hash"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/types"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/test/internal/oracle"
	"berth.dev/berth/test/internal/record"
	"berth.dev/berth/test/simulation/apiserver"
)

// World is a simulated cluster. It must be made and run in a synctest bubble.
type World struct {
	// Counts are what has happened.
	Counts Counts
	// Writes are those that Berth's programs have sent, in their order.
	Writes []Write

	server *apiserver.Server
	// trace gets the history as it happens, history has the newest of it.
	trace   io.Writer
	history []string
	// injected are the faults, disturbances and objects that there were.
	injected []string

	seed   uint64
	digest hash.Hash64
	// extra decides about Applications, rng about everything else.
	rng, extra *rand.Rand
	began      time.Time
	// length is how long the world is disturbed.
	length time.Duration
	faulty bool
	// calmed is true once nobody disturbs any more.
	calmed bool
	rates  rates
	skip   map[string]bool
	// undisturbed is true if only users act, kill is the write at which a process is killed, or nil.
	undisturbed bool
	// fuzzed is true if anything may be there and be right.
	fuzzed bool
	kill   *Kill

	mu      sync.Mutex
	calls   []*call
	streams []*open
	// timers are in the order in which they are due.
	timers []*timer
	news   chan struct{}
	outage time.Time
	// traps wait for Bindings, in the order in which they were set.
	traps []*trap
	// orphaned are the pods whose Bindings are on their way from processes that are no more, by name,
	// and until when.
	orphaned map[string]time.Time

	programs []*program

	// What is the case, as those know who act in the world and who judge it.
	sites   int
	sharing bool
	// drawn are the workloads that the seed wants, workloads those that there are.
	drawn, workloads []*workload
	applications     []*application
	// fleet are the Applications of a week, nil in other worlds.
	fleet       *fleet
	generations map[string]int64
	pods        map[string]*corev1.Pod
	// staying are the pods of each owner that are not being deleted.
	staying   map[types.UID]map[string]*corev1.Pod
	nodes     map[string]*corev1.Node
	broken    map[string]bool
	policies  map[string]*berthv1alpha1.PropagationPolicy
	pools     map[string]*oracle.Pool
	status    berthv1alpha1.ClusterResourceStatus
	surplus   map[string]*surplus
	edited    map[string]time.Time
	bound     map[types.UID]time.Time
	violation error
	// shrinking is true while a ReplicaSet deletes pods that are too many.
	shrinking bool
	// acting is the request that is being carried out, nil for somebody who is no program of Berth.
	acting *call
	// handover and clusters are what is judged of how Schedulers hand on what they have.
	handover *oracle.Handover
	clusters map[string]*berthv1alpha1.Cluster
	// told is what was noted last of grants, by what it is about.
	told map[string]string
}

// Counts are how often things have happened.
type Counts struct {
	Requests, Events, Bound, Evictions int

	// Writes are those of Berth's programs, by what they do to what, and Others how many everybody
	// else has made.
	Writes record.Counts
	Others int
	// Faults are what has happened to requests, by what it was and the kind of the write, or reads.
	Faults record.Table
	// Disturbances are everything else that has happened, by kind.
	Disturbances record.Counts
}

// reads stands for all requests that write nothing.
const reads = "reads"

// timer is something that happens at a time.
type timer struct {
	due time.Time
	do  func()
}

// open is a watch and the stream by which it is delivered.
type open struct {
	call *call
	body *stream
	due  time.Time
}

// newWorld returns a world without nodes and programs.
func newWorld(seed uint64, definitions []*apiextensionsv1.CustomResourceDefinition) (*World, error) {
	server, err := apiserver.New(definitions)
	if err != nil {
		return nil, err
	}
	w := &World{
		server: server,
		Counts: Counts{Writes: record.Counts{}, Faults: record.Table{}, Disturbances: record.Counts{}},
		seed:   seed, digest: fnv.New64a(), rng: rand.New(rand.NewPCG(seed, 1)), //nolint:gosec // it is to be the same every time
		extra: rand.New(rand.NewPCG(seed, 2)), //nolint:gosec // as above
		began: time.Now(), news: make(chan struct{}, 1),
		generations: map[string]int64{}, pods: map[string]*corev1.Pod{}, staying: map[types.UID]map[string]*corev1.Pod{},
		nodes: map[string]*corev1.Node{}, broken: map[string]bool{},
		policies: map[string]*berthv1alpha1.PropagationPolicy{}, pools: map[string]*oracle.Pool{}, surplus: map[string]*surplus{},
		edited: map[string]time.Time{}, told: map[string]string{}, bound: map[types.UID]time.Time{}, orphaned: map[string]time.Time{},
		handover: oracle.NewHandover(), clusters: map[string]*berthv1alpha1.Cluster{},
	}
	server.Changed = w.saw
	return w, nil
}

// maxHistory is how many lines of the history are kept.
const maxHistory = 20_000

// notef adds a line to the history.
func (w *World) notef(format string, args ...any) {
	if len(w.history) >= maxHistory {
		w.history = w.history[maxHistory/2:]
	}
	line := fmt.Sprintf(format, args...)
	w.digest.Write([]byte(line))
	line = fmt.Sprintf("%9.3fs r%d %s", time.Since(w.began).Seconds(), w.server.Revision(), line)
	w.history = append(w.history, line)
	fmt.Fprintln(w.trace, line)
}

// after lets something happen once some time has passed. What is due at the same time happens in
// the order of the calls.
func (w *World) after(pause time.Duration, do func()) {
	due := time.Now().Add(pause)
	at, _ := slices.BinarySearchFunc(w.timers, due, func(t *timer, due time.Time) int {
		if t.due.After(due) {
			return 1
		}
		return -1
	})
	w.timers = slices.Insert(w.timers, at, &timer{due, do})
}

// send puts a request on its way. It returns nil for a process that is no more.
func (w *World) send(p *process, request *apiserver.Request) *call {
	w.mu.Lock()
	defer w.mu.Unlock()
	name := p.program.Name + ": " + request.String()
	p.program.sent[name]++
	c := &call{
		process: p, request: request, name: fmt.Sprintf("%s #%d", name, p.program.sent[name]), done: make(chan struct{}),
	}
	if !p.alive {
		return nil
	}
	if w.down() {
		c.err = errRefused
		close(c.done)
		return c
	}
	w.Counts.Requests++
	w.judgeSending(c)
	w.draw(c)
	c.due = w.arrival(c)
	w.calls = append(w.calls, c)
	select {
	case w.news <- struct{}{}:
	default:
	}
	return c
}

// Stop lets nobody send anything any more: those who try wait for good. What there is to tell of
// the world can be read then.
func (w *World) Stop() { w.mu.Lock() }

// down reports whether the API server is not reachable.
func (w *World) down() bool { return time.Now().Before(w.outage) }

// giveUp notes that a client does not wait for an answer any more. What it has sent may still
// arrive.
func (w *World) giveUp(c *call) {
	w.mu.Lock()
	defer w.mu.Unlock()
	c.givenUp = true
	if c.request.Writes() {
		w.notef("%s is not waited for any more", c.name)
	}
}

// cut ends the connection of a request. It may have arrived already, or arrive later.
func (w *World) cut(c *call) {
	if c.givenUp || isDone(c) {
		return
	}
	c.givenUp, c.err = true, errCut
	close(c.done)
}

// watching notes that a watch is open.
func (w *World) watching(c *call, body *stream) {
	w.streams = append(w.streams, &open{call: c, body: body, due: time.Now()})
}

// pass lets the world go on for some time, or until a promise is broken, which it reports.
func (w *World) pass(length time.Duration) error {
	end := time.Now().Add(length)
	for time.Now().Before(end) {
		synctest.Wait()
		w.mu.Lock()
		next := w.step(end)
		err := w.violation
		w.mu.Unlock()
		if err != nil {
			return err
		}
		if next.IsZero() {
			continue
		}
		select {
		case <-w.news:
		case <-time.After(time.Until(next)):
		}
	}
	return nil
}

// Digest tells histories apart: two that are the same have the same.
func (w *World) Digest() string { return fmt.Sprintf("%016x", w.digest.Sum64()) }

// Tail returns the last lines of the history.
func (w *World) Tail(lines int) string {
	return strings.Join(w.history[max(0, len(w.history)-lines):], "\n")
}
