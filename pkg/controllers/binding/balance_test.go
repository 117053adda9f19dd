// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package binding

import (
	"fmt"
	"testing"

	"berth.dev/berth/pkg/placement/binding"
)

// Scheduler a has some clusters of a node each, b and c have one each; with equal weights a has too
// many from 11 on: 11/13 of all are more than 2/3 and two clusters.
func TestWhetherASchedulerHasTooMuch(t *testing.T) {
	tests := map[string]struct {
		// first is how many clusters a has when it has too much.
		first int
		// change is made to the sizes by cluster, to the clusters, of which the first two are those of b
		// and c, and to the schedulers.
		change func(now map[string]int, inputs []binding.BoundCluster, schedulers binding.Schedulers)
	}{
		"equal weights": {first: 11},
		"clusters without nodes count as one": {
			first:  11,
			change: func(now map[string]int, _ []binding.BoundCluster, _ binding.Schedulers) { clear(now) },
		},
		"a weight of 0 counts as 1": {
			first: 11,
			change: func(_ map[string]int, _ []binding.BoundCluster, schedulers binding.Schedulers) {
				for _, s := range schedulers {
					s.Weight = 0
				}
			},
		},
		"another one is to have more": {
			first: 7,
			change: func(_ map[string]int, _ []binding.BoundCluster, schedulers binding.Schedulers) {
				schedulers["b"].Weight = 2
			},
		},
		"it is to have more itself": {
			// Its share is more than half, and nobody can have more than twice that.
			change: func(_ map[string]int, _ []binding.BoundCluster, schedulers binding.Schedulers) {
				schedulers["a"].Weight = 4
			},
		},
		"one of the others has a large cluster": {
			first:  43,
			change: func(now map[string]int, inputs []binding.BoundCluster, _ binding.Schedulers) { now[inputs[0].Name] = 5 },
		},
		"what a user has pinned is nobody's fault": {
			first:  14,
			change: func(_ map[string]int, inputs []binding.BoundCluster, _ binding.Schedulers) { inputs[2].Pin = "a" },
		},
		"it has died, and gives everything up anyway": {
			change: func(_ map[string]int, _ []binding.BoundCluster, schedulers binding.Schedulers) {
				schedulers["a"].Alive = false
			},
		},
		"with one scheduler besides nobody can have twice the half": {
			change: func(_ map[string]int, _ []binding.BoundCluster, schedulers binding.Schedulers) {
				schedulers["b"].Alive = false
			},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := 0
			for count := 1; count < 60 && got == 0; count++ {
				if tooMuch(count, tc.change) {
					got = count
				}
			}
			if got != tc.first {
				t.Errorf("it has too much with %d clusters, want with %d (0 for never)", got, tc.first)
			}
		})
	}
}

func tooMuch(count int, change func(map[string]int, []binding.BoundCluster, binding.Schedulers)) bool {
	now, schedulers := map[string]int{}, binding.Schedulers{}
	inputs := make([]binding.BoundCluster, count+2)
	for i := range inputs {
		home := "a"
		if i < 2 {
			home = []string{"b", "c"}[i]
		}
		inputs[i] = binding.BoundCluster{Name: fmt.Sprint("c", i), Record: binding.Record{Home: home}}
		now[inputs[i].Name] = 1
	}
	for _, name := range []string{"a", "b", "c"} {
		schedulers[name] = &binding.Scheduler{Name: name, Weight: 1, Registered: true, Alive: true}
	}
	if change != nil {
		change(now, inputs, schedulers)
	}
	return unbalanced(now, inputs, schedulers)
}
