// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package grants_test

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"berth.dev/berth/pkg/placement/grants"
)

// model is a pool and the schedulers that share it. Each of them sees the record late, and is seen
// late.
type model struct {
	allocatable int64
	record      map[string]grants.Grant
	revision    int64
	nodes       map[string]*process
	// orphans is what pods hold out of nobody's grant.
	orphans map[string]int64
}

// process is a scheduler. It charges by what it saw, and reports in two steps: it makes a promise
// and then it is read.
type process struct {
	seen     grants.Grant
	promised grants.Report
	held     int64
	waiting  []request
	since    int64
	settled  bool
	leaving  bool
	// idle is set while it reports, and places nothing.
	idle bool
}

// request is what a pod asks for that waits.
type request struct {
	units    int64
	priority int32
}

func (p *process) cap() int64 {
	return p.seen.Ceiling()
}

func (p *process) charge(units int64) bool {
	if p.settled || units > p.cap()-p.held {
		return false
	}
	p.held += units
	return true
}

// report says what the process would write now. Whoever holds more than it was granted says so, and
// who is asked acknowledges.
func (p *process) report() grants.Report {
	r := grants.Report{Revision: p.seen.Revision}
	if p.seen.Shrinking || p.held > p.seen.Quantity {
		r.Acknowledges, r.Limit = true, max(p.cap(), p.held)
	}
	byPriority := map[int32]*grants.Demand{}
	for _, pod := range p.waiting {
		d := byPriority[pod.priority]
		if d == nil {
			d = &grants.Demand{Least: pod.units, Priority: pod.priority, Since: p.since}
			byPriority[pod.priority] = d
		}
		d.Wanted += pod.units
		d.Least = min(d.Least, pod.units)
	}
	for _, priority := range slices.Sorted(maps.Keys(byPriority)) {
		r.Demands = append(r.Demands, *byPriority[priority])
	}
	return r
}

func (m *model) pool(exact bool) grants.SharedPool {
	p := grants.SharedPool{
		Allocatable: m.allocatable, Grants: m.record, Held: map[string]int64{}, Reports: map[string]grants.Report{},
	}
	maps.Copy(p.Held, m.orphans)
	for name, process := range m.nodes {
		// What the controller has seen may be behind, but not of who charges nothing any more.
		p.Held[name] = process.held
		if !exact && !process.settled {
			p.Held[name] = 0
		}
		if !process.settled {
			p.Reports[name] = process.promised
		}
	}
	return p
}

func (m *model) schedulers() map[string]grants.Grantee {
	all := map[string]grants.Grantee{}
	for name, process := range m.nodes {
		all[name] = grants.Grantee{Takes: !process.settled && !process.leaving, Leaving: process.leaving, Settled: process.settled}
	}
	return all
}

func (m *model) step(exact bool) bool {
	before := m.record
	m.revision++
	m.record = grants.Next(m.pool(exact), m.schedulers(), m.revision)
	return !maps.Equal(before, m.record)
}

func (m *model) held() int64 {
	var sum int64
	for _, held := range m.orphans {
		sum += held
	}
	for _, process := range m.nodes {
		sum += process.held
	}
	return sum
}

func (m *model) granted() int64 {
	var sum int64
	for _, g := range m.record {
		sum += g.Quantity
	}
	return sum
}

// committed is what is granted or, if that is more, held or said to be held.
func (m *model) committed() int64 {
	var sum int64
	for name, p := range m.nodes {
		said := p.promised.Limit
		if p.settled {
			said = 0
		}
		sum += max(m.record[name].Quantity, p.held, said)
	}
	return sum
}

func (m *model) look(name string) {
	m.nodes[name].seen = m.record[name]
}

func (m *model) tell(name string) {
	m.nodes[name].promised = m.nodes[name].report()
}

// serveWaiting lets a process place what it can.
func (p *process) serveWaiting() (served bool) {
	slices.SortStableFunc(p.waiting, func(a, b request) int { return cmp.Compare(b.priority, a.priority) })
	p.waiting = slices.DeleteFunc(p.waiting, func(pod request) bool {
		ok := p.charge(pod.units)
		served = served || ok
		return ok
	})
	return served
}

// settle makes steps until nothing changes any more.
func (m *model) settle(t *rapid.T) {
	for range 200 {
		changed := false
		for _, name := range slices.Sorted(maps.Keys(m.nodes)) {
			process := m.nodes[name]
			m.look(name)
			if !process.settled && !process.idle && process.serveWaiting() {
				changed = true
			}
			before := process.promised
			m.tell(name)
			changed = changed || !gocmp.Equal(before, process.promised)
		}
		if m.step(true) {
			changed = true
		}
		if !changed {
			return
		}
	}
	t.Fatalf("the grants do not settle: %+v", m.record)
}

func newModel(t *rapid.T) *model {
	m := &model{allocatable: rapid.Int64Range(0, 12).Draw(t, "allocatable"), nodes: map[string]*process{}, orphans: map[string]int64{}}
	for i := range rapid.IntRange(1, 4).Draw(t, "schedulers") {
		m.nodes[fmt.Sprint("s", i)] = &process{since: int64(i)}
	}
	// The first one was alone, and gave out what it liked.
	m.nodes["s0"].held = rapid.Int64Range(0, m.allocatable).Draw(t, "held")
	m.tell("s0")
	return m
}

func (m *model) some(t *rapid.T) string {
	return rapid.SampledFrom(slices.Sorted(maps.Keys(m.nodes))).Draw(t, "scheduler")
}

func (m *model) actions() map[string]func(*rapid.T) {
	return map[string]func(*rapid.T){
		"look": func(t *rapid.T) { m.look(m.some(t)) },
		"tell": func(t *rapid.T) {
			if name := m.some(t); !m.nodes[name].settled {
				m.tell(name)
			}
		},
		"step":      func(*rapid.T) { m.step(false) },
		"exactStep": func(*rapid.T) { m.step(true) },
		"pods": func(t *rapid.T) {
			p := m.nodes[m.some(t)]
			p.waiting = append(p.waiting, request{rapid.Int64Range(1, 5).Draw(t, "units"), rapid.Int32Range(0, 2).Draw(t, "priority")})
		},
		"place": func(t *rapid.T) { m.nodes[m.some(t)].serveWaiting() },
		"release": func(t *rapid.T) {
			p := m.nodes[m.some(t)]
			p.held -= rapid.Int64Range(0, p.held).Draw(t, "released")
		},
		"die": func(t *rapid.T) { m.nodes[m.some(t)].settled = true },
		"comeBack": func(t *rapid.T) {
			// A new process reads what is recorded before it charges anything.
			name := m.some(t)
			if p := m.nodes[name]; p.settled {
				p.settled, p.leaving, p.waiting = false, false, nil
				m.look(name)
				m.tell(name)
			}
		},
		"leave": func(t *rapid.T) { m.nodes[m.some(t)].leaving = true },
		"stay":  func(t *rapid.T) { m.nodes[m.some(t)].leaving = false },
	}
}

func TestGrantsAreNeverMoreThanThereIs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := newModel(t)
		actions := m.actions()
		actions[""] = func(t *rapid.T) {
			if held := m.held(); held > m.allocatable {
				t.Fatalf("pods hold %d of %d", held, m.allocatable)
			}
			if granted := m.granted(); granted > m.allocatable {
				t.Fatalf("%d of %d are granted: %+v", granted, m.allocatable, m.record)
			}
			for name, p := range m.nodes {
				if !p.settled && p.held > m.record[name].Quantity && m.record[name].Revision != 0 {
					t.Fatalf("%s holds %d, and is granted %+v", name, p.held, m.record[name])
				}
			}
		}
		t.Repeat(actions)
	})
}

func TestDemandIsServedWhileAnythingIsLeft(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := newModel(t)
		t.Repeat(m.actions())
		for _, p := range m.nodes {
			p.leaving = false
		}
		m.settle(t)
		left := m.allocatable - m.held()
		for name, p := range m.nodes {
			for _, pod := range p.waiting {
				if !p.settled && pod.units <= left {
					t.Fatalf("a pod of %s waits for %d of %d units that are left: %+v", name, pod.units, left, m.record)
				}
			}
		}
	})
}

// Pods that ask for one unit each wait, and one unit after the other becomes free. Whoever it is
// granted to has the highest priority of all that wait anywhere.
func TestEveryUnitGoesToTheHighestPriority(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := newModel(t)
		m.settle(t)
		for range rapid.IntRange(1, 12).Draw(t, "pods") {
			p := m.nodes[m.some(t)]
			p.waiting = append(p.waiting, request{1, rapid.Int32Range(0, 3).Draw(t, "priority")})
		}
		m.settle(t)
		for range 6 {
			p := m.nodes[m.some(t)]
			if p.held == 0 {
				continue
			}
			highest, before := int32(-1), m.waitingOf()
			for priority := range before {
				highest = max(highest, priority)
			}
			p.held--
			p.idle = true
			m.settle(t)
			p.idle = false
			m.settle(t)
			after := m.waitingOf()
			if highest >= 0 && after[highest] != before[highest]-1 {
				t.Fatalf("of the pods that waited by priority, %v, these are left: %v", before, after)
			}
		}
	})
}

// waitingOf counts the pods that wait by priority.
func (m *model) waitingOf() map[int32]int {
	found := map[int32]int{}
	for _, p := range m.nodes {
		for _, pod := range p.waiting {
			found[pod.priority]++
		}
	}
	return found
}

func TestNothingMoreIsGrantedOfAPoolThatWasMadeSmaller(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := newModel(t)
		t.Repeat(m.actions())
		m.settle(t)
		m.allocatable = rapid.Int64Range(0, m.allocatable).Draw(t, "less")
		bound := max(m.allocatable, m.committed())
		check := func(t *rapid.T) {
			if granted := m.committed(); granted > bound {
				t.Fatalf("%d are granted, after %d", granted, bound)
			}
			bound = max(m.allocatable, m.committed())
		}
		actions := m.actions()
		actions[""] = check
		t.Repeat(actions)
		m.settle(t)
		if granted := m.granted(); granted > max(m.allocatable, m.held()) {
			t.Fatalf("%d are granted of %d, pods hold %d", granted, m.allocatable, m.held())
		}
	})
}

func TestWhoLeavesKeepsOnlyWhatItsPodsHold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := newModel(t)
		t.Repeat(m.actions())
		name := m.some(t)
		p := m.nodes[name]
		p.leaving = true
		m.settle(t)
		if got := m.record[name].Quantity; !p.settled && got != p.held {
			t.Fatalf("%s is granted %d and holds %d", name, got, p.held)
		}
	})
}

func TestTheResultDependsOnNothingElse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := newModel(t)
		t.Repeat(m.actions())
		before := maps.Clone(m.record)
		first := grants.Next(m.pool(true), m.schedulers(), 1000)
		for range 5 {
			if diff := gocmp.Diff(first, grants.Next(m.pool(true), m.schedulers(), 1000)); diff != "" {
				t.Fatalf("another result (-first +next):\n%s", diff)
			}
		}
		if diff := gocmp.Diff(before, m.record); diff != "" {
			t.Fatalf("what was recorded has been changed:\n%s", diff)
		}
	})
}
