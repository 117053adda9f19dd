// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package binding_test

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"berth.dev/berth/pkg/placement/binding"
)

func ready(names ...string) binding.Schedulers {
	schedulers := binding.Schedulers{}
	for _, name := range names {
		schedulers[name] = &binding.Scheduler{Name: name, Weight: 1, Registered: true, Alive: true, Drained: map[string]int64{}}
	}
	return schedulers
}

func TestNext(t *testing.T) {
	bound := binding.Record{Home: "a", Revision: 7}
	draining := binding.Record{Home: "a", Moving: true, To: "b", Revision: 8}
	acknowledging := func(revision int64) binding.Schedulers {
		s := ready("a", "b")
		s["a"].Drained["c"] = revision
		return s
	}
	dead := func(fenced bool) binding.Schedulers {
		s := ready("a", "b")
		s["a"].Alive, s["a"].Fenced = false, fenced
		return s
	}
	alone := func(change func(a *binding.Scheduler)) binding.Schedulers {
		s := ready("a", "b")
		s["a"].Alone = true
		change(s["a"])
		return s
	}
	tests := map[string]struct {
		record     binding.Record
		desired    string
		schedulers binding.Schedulers
		wantStep   binding.Step
		want       binding.Record
	}{
		"a cluster without a home is bound at once": {
			desired: "a", schedulers: ready("a"), wantStep: binding.Bind, want: binding.Record{Home: "a", Revision: 1},
		},
		"without a scheduler it stays without a home": {wantStep: binding.Stay},
		"one that takes itself for the only scheduler uses it already": {
			desired: "b", schedulers: alone(func(*binding.Scheduler) {}), wantStep: binding.Stay,
		},
		"such a scheduler can be given it": {
			desired: "a", schedulers: alone(func(*binding.Scheduler) {}), wantStep: binding.Bind, want: binding.Record{Home: "a", Revision: 1},
		},
		"one that is dead uses nothing": {
			desired: "b", schedulers: alone(func(a *binding.Scheduler) { a.Alive = false }), wantStep: binding.Bind,
			want: binding.Record{Home: "b", Revision: 1},
		},
		"nor does one that is fenced": {
			desired: "b", schedulers: alone(func(a *binding.Scheduler) { a.Fenced = true }), wantStep: binding.Bind,
			want: binding.Record{Home: "b", Revision: 1},
		},
		"a cluster at home stays": {
			record: bound, desired: "a", schedulers: ready("a", "b"), wantStep: binding.Stay, want: bound,
		},
		"a living home is asked to drain": {
			record: bound, desired: "b", schedulers: ready("a", "b"), wantStep: binding.Drain, want: draining,
		},
		"nothing moves before the acknowledgement": {
			record: draining, desired: "b", schedulers: ready("a", "b"), wantStep: binding.Stay, want: draining,
		},
		"an acknowledgement of an earlier drain does not count": {
			record: draining, desired: "b", schedulers: acknowledging(6), wantStep: binding.Stay, want: draining,
		},
		"the acknowledgement moves the cluster": {
			record: draining, desired: "b", schedulers: acknowledging(8), wantStep: binding.Move,
			want: binding.Record{Home: "b", Revision: 9},
		},
		"another target asks for another acknowledgement": {
			record: draining, desired: "d", schedulers: acknowledging(8), wantStep: binding.Drain,
			want: binding.Record{Home: "a", Moving: true, To: "d", Revision: 9},
		},
		"a drain is taken back": {
			record: draining, desired: "a", schedulers: acknowledging(8), wantStep: binding.Cancel,
			want: binding.Record{Home: "a", Revision: 9},
		},
		"a dead home that may come back keeps the cluster": {
			record: draining, desired: "b", schedulers: dead(false), wantStep: binding.Stay, want: draining,
		},
		"a dead home that is fenced loses it": {
			record: bound, desired: "b", schedulers: dead(true), wantStep: binding.Seize,
			want: binding.Record{Home: "b", Revision: 8},
		},
		"a cluster that is being deleted is drained towards nobody": {
			record: bound, schedulers: ready("a"), wantStep: binding.Drain,
			want: binding.Record{Home: "a", Moving: true, Revision: 8},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, step := binding.Next("c", tc.record, tc.desired, tc.schedulers)
			if step != tc.wantStep {
				t.Errorf("step = %v, want %v", step, tc.wantStep)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("record mismatch (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDesired(t *testing.T) {
	leaving := ready("a", "b")
	leaving["a"].Leaving = true
	dead := ready("a")
	dead["a"].Alive = false
	gone := binding.Schedulers{"a": {Name: "a", Fenced: true}}
	tests := map[string]struct {
		cluster    binding.BoundCluster
		schedulers binding.Schedulers
		want       string
	}{
		"the pin wins":                              {binding.BoundCluster{Name: "c", Pin: "b"}, ready("a", "b", "d"), "b"},
		"a pin to nobody is passed over":            {binding.BoundCluster{Name: "c", Pin: "nobody"}, ready("a"), "a"},
		"a scheduler that leaves gets nothing":      {binding.BoundCluster{Name: "c", Pin: "a"}, leaving, "b"},
		"a cluster that is deleted has no home":     {binding.BoundCluster{Name: "c", Leaving: true}, ready("a"), ""},
		"while all are dead it has no home":         {binding.BoundCluster{Name: "c", Record: binding.Record{Home: "a"}}, dead, ""},
		"after the last one was deleted it is free": {binding.BoundCluster{Name: "c", Record: binding.Record{Home: "a"}}, gone, ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := binding.Desired([]binding.BoundCluster{tc.cluster}, tc.schedulers)
			if err != nil {
				t.Fatal(err)
			}
			if got[0] != tc.want {
				t.Errorf("home = %q, want %q", got[0], tc.want)
			}
		})
	}
}

func TestDrainsAreLimited(t *testing.T) {
	draining := binding.Record{Home: "a", Moving: true, To: "b", Revision: 8}
	tests := map[string]struct {
		clusters  []binding.BoundCluster
		desired   string
		fenced    bool
		budget    int
		wantSteps []binding.Step
	}{
		"what drains already counts": {
			clusters: []binding.BoundCluster{{Record: draining}, {Record: binding.Record{Home: "a"}}, {Record: binding.Record{Home: "a"}}},
			desired:  "b", budget: 2, wantSteps: []binding.Step{binding.Stay, binding.Drain, binding.Stay},
		},
		"the first home costs nothing": {
			clusters: []binding.BoundCluster{{}}, desired: "b", wantSteps: []binding.Step{binding.Bind},
		},
		"to seize costs nothing": {
			clusters: []binding.BoundCluster{{Record: binding.Record{Home: "a"}}}, desired: "b", fenced: true,
			wantSteps: []binding.Step{binding.Seize},
		},
		"another target costs nothing": {
			clusters: []binding.BoundCluster{{Record: draining}}, desired: "d", wantSteps: []binding.Step{binding.Drain},
		},
		"a cluster that is deleted waits for nobody": {
			clusters: []binding.BoundCluster{{Record: binding.Record{Home: "a"}, Leaving: true}}, wantSteps: []binding.Step{binding.Drain},
		},
		"without a budget nothing begins": {
			clusters: []binding.BoundCluster{{Record: binding.Record{Home: "a"}}}, desired: "b", wantSteps: []binding.Step{binding.Stay},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			desired := make([]string, len(tc.clusters))
			for i := range tc.clusters {
				tc.clusters[i].Name, desired[i] = strconv.Itoa(i), tc.desired
			}
			schedulers := ready("a", "b", "d")
			schedulers["a"].Fenced = tc.fenced
			records, steps := binding.Steps(tc.clusters, desired, schedulers, tc.budget)
			if diff := cmp.Diff(tc.wantSteps, steps); diff != "" {
				t.Errorf("steps mismatch (-want +got):\n%s", diff)
			}
			for i, step := range steps {
				if changed := records[i] != tc.clusters[i].Record; changed != (step != binding.Stay) {
					t.Errorf("cluster %d: the record changes: %t, with step %v", i, changed, step)
				}
			}
		})
	}
}

// world is what schedulers do with what they see, which may be an old state of the records.
type world struct {
	clusters   []binding.BoundCluster
	schedulers binding.Schedulers
	seen       map[string][]binding.Record // what a scheduler knows, by its name
	busy       map[string]map[int]bool     // clusters on which it has pods under way
}

func (w *world) mayPlace(name string, cluster int) bool {
	r := w.seen[name][cluster]
	return !w.schedulers[name].Fenced && r.Home == name && !r.Moving
}

// Whatever schedulers do, and however late they learn of changes, no two of them have pods under
// way on one cluster.
func TestNoTwoSchedulersPlaceOnOneCluster(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := []string{"a", "b", "c"}
		w := &world{schedulers: ready(names...), seen: map[string][]binding.Record{}, busy: map[string]map[int]bool{}}
		for i := range rapid.IntRange(1, 6).Draw(t, "clusters") {
			w.clusters = append(w.clusters, binding.BoundCluster{Name: fmt.Sprint("c", i)})
		}
		for _, name := range names {
			w.seen[name], w.busy[name] = make([]binding.Record, len(w.clusters)), map[int]bool{}
		}
		for range rapid.IntRange(1, 80).Draw(t, "events") {
			name := rapid.SampledFrom(names).Draw(t, "scheduler")
			cluster := rapid.IntRange(0, len(w.clusters)-1).Draw(t, "cluster")
			w.event(t, name, cluster)
			w.check(t)
		}
		w.converge(t)
	})
}

// event lets something happen.
func (w *world) event(t *rapid.T, name string, cluster int) {
	s := w.schedulers[name]
	switch rapid.IntRange(0, 6).Draw(t, "event") {
	case 0:
		w.seen[name][cluster] = w.clusters[cluster].Record
	case 1:
		if w.mayPlace(name, cluster) {
			w.busy[name][cluster] = true
		}
	case 2:
		w.busy[name][cluster] = false
	case 3:
		w.acknowledge(name, cluster)
	case 4:
		s.Leaving = !s.Leaving
	case 5:
		// A dead scheduler is fenced by taking its lease; what it had under way has ended by then.
		// One that comes back reads everything before it places anything.
		s.Alive, s.Fenced = s.Fenced, !s.Fenced
		clear(w.busy[name])
		for i := range w.clusters {
			w.seen[name][i] = w.clusters[i].Record
		}
	case 6:
		w.reconcile(t, 2)
	}
}

// acknowledge lets a scheduler say that a cluster is drained, if it is asked to and can.
func (w *world) acknowledge(name string, cluster int) {
	if r := w.seen[name][cluster]; r.Home == name && r.Moving && !w.busy[name][cluster] {
		w.schedulers[name].Drained[w.clusters[cluster].Name] = r.Revision
	}
}

// check fails if two schedulers have pods under way, or could have, on one cluster.
func (w *world) check(t *rapid.T) {
	for i := range w.clusters {
		var placing []string
		for _, name := range slices.Sorted(maps.Keys(w.schedulers)) {
			if w.busy[name][i] || w.mayPlace(name, i) {
				placing = append(placing, name)
			}
		}
		if len(placing) > 1 {
			t.Fatalf("%v place pods on cluster %s", placing, w.clusters[i].Name)
		}
	}
}

func (w *world) reconcile(t *rapid.T, budget int) []binding.Step {
	desired, err := binding.Desired(w.clusters, w.schedulers)
	if err != nil {
		t.Fatal(err)
	}
	records, steps := binding.Steps(w.clusters, desired, w.schedulers, budget)
	for i := range w.clusters {
		w.clusters[i].Record = records[i]
	}
	return steps
}

// converge lets everybody see and do everything, and checks that the records reach what is desired
// and then rest.
func (w *world) converge(t *rapid.T) {
	for range 4 * len(w.clusters) {
		w.reconcile(t, 1)
		for i := range w.clusters {
			r := w.clusters[i].Record
			if s := w.schedulers[r.Home]; s != nil && r.Moving && !s.Fenced {
				s.Drained[w.clusters[i].Name] = r.Revision
			}
		}
	}
	desired, err := binding.Desired(w.clusters, w.schedulers)
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range w.clusters {
		if c.Record.Home != desired[i] || c.Record.Moving {
			t.Fatalf("cluster %s ends with %+v, want home %q", c.Name, c.Record, desired[i])
		}
	}
	if steps := w.reconcile(t, 1); slices.ContainsFunc(steps, func(s binding.Step) bool { return s != binding.Stay }) {
		t.Fatal("the records do not come to rest")
	}
}
