// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package cyclestate_test

import (
	"testing"

	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"berth.dev/berth/pkg/plugins/internal/cyclestate"
)

const key fwk.StateKey = "key"

type data struct {
	value int
	entry cyclestate.Entry
}

func (d *data) Clone() fwk.StateData { return &data{value: d.value + 100} }

func write(k *cyclestate.Kept, cycle fwk.CycleState, value int) {
	d := &data{value: value}
	k.Write(cycle, key, d, &d.entry)
}

func TestKept(t *testing.T) {
	var k cyclestate.Kept
	first, second := framework.NewCycleState(), framework.NewCycleState()
	read := func(cycle fwk.CycleState) int {
		t.Helper()
		d, _ := k.Read(cycle, key).(*data)
		if d == nil {
			return -1
		}
		return d.value
	}
	check := func(what string, cycle fwk.CycleState, want int) {
		t.Helper()
		if got := read(cycle); got != want {
			t.Errorf("%s reads %d, want %d", what, got, want)
		}
	}
	check("a cycle in which nothing was written", first, -1)
	write(&k, first, 1)
	check("the newest cycle", first, 1)
	check("a cycle in which nothing was written, after another", second, -1)
	check("a copy of the newest cycle", first.Clone(), 101)
	write(&k, second, 2)
	check("the newest cycle", second, 2)
	check("a cycle before the newest", first, 1)
	write(&k, second, 3)
	check("a cycle written to again", second, 3)
	if kept, err := second.Read(key); err != nil || kept != k.Read(second, key) {
		t.Errorf("the cycle state has %v (%v), want what is kept", kept, err)
	}
	if allocs := testing.AllocsPerRun(100, func() { read(second) }); allocs != 0 {
		t.Errorf("reading takes %v allocations, want 0", allocs)
	}
}
