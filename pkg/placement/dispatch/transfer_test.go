// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package dispatch_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"berth.dev/berth/pkg/placement/apportion"
	"berth.dev/berth/pkg/placement/dispatch"
)

// handover is a workload whose pods wait for three schedulers while a cluster goes from one of them
// to another.
type handover struct {
	now   time.Time
	order *apportion.Order
	plan  *apportion.Plan
	held  []int32
	homes []string
	// opens is from when the home of each cluster places pods there.
	opens []time.Time
	// known is false if nobody says how many replicas there are to be.
	known   bool
	waiting []*dispatch.Pod
	waits   map[types.UID]dispatch.Wait
	moves   map[types.UID]int
	atOnce  int
}

func drawHandover(t *rapid.T) *handover {
	h := &handover{
		now: now, held: make([]int32, 4), opens: make([]time.Time, 4), known: rapid.Bool().Draw(t, "known"), moves: map[types.UID]int{},
		atOnce: rapid.IntRange(1, 20).Draw(t, "at once"),
	}
	clusters := make([]apportion.Cluster, len(h.held))
	for c := range clusters {
		clusters[c] = apportion.Cluster{Name: fmt.Sprint("c", c), Weight: rapid.Int64Range(1, 5).Draw(t, "weight")}
		h.homes = append(h.homes, rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "home"))
	}
	var err error
	if h.order, err = apportion.NewOrder(clusters); err != nil {
		t.Fatal(err)
	}
	replicas := rapid.Int64Range(1, 60).Draw(t, "replicas")
	h.plan = h.order.Plan(replicas)
	for i := range replicas {
		h.waiting = append(h.waiting, pod(fmt.Sprintf("p%02d", i), ""))
	}
	return h
}

// dispatch gives homes to all pods that wait, and counts those that get another one.
func (h *handover) dispatch() {
	share := &dispatch.Share{Order: h.order, Held: slices.Clone(h.held), Homes: h.homes, Strict: true}
	if h.known {
		share.Plan = h.plan
	}
	r := dispatch.NewRound(h.now, uint64(h.now.UnixNano()), []dispatch.Home{scheduler("a", 4), scheduler("b", 4), scheduler("c", 4)}, h.waits)
	for _, p := range h.waiting {
		r.Count(p)
		if r.Fails(p) {
			share.Room = []bool{true, true, true, true} // nodes have room, the pods wait for their scheduler
		}
	}
	seats := dispatch.NewSeats(share)
	for _, p := range r.Seat(h.waiting, seats) {
		place(r, p, seats.Homes(), nil, nil, dispatch.Preference{})
	}
	for _, p := range h.waiting {
		if to, moved := r.Moved(p); moved {
			if p.Label != "" {
				h.moves[p.UID]++
			}
			p.Label, p.Unschedulable = to, false
		}
	}
	h.waits = r.Waits()
}

// bind has each scheduler place some of its pods, in clusters that it has in hand.
func (h *handover) bind() {
	left := map[string]int{"a": h.atOnce, "b": h.atOnce, "c": h.atOnce}
	h.waiting = slices.DeleteFunc(h.waiting, func(p *dispatch.Pod) bool {
		if left[p.Label] == 0 {
			return false
		}
		left[p.Label]--
		for c, home := range h.homes {
			if home == p.Label && !h.now.Before(h.opens[c]) && int(h.held[c]) < h.plan.Share(c) {
				h.held[c]++
				return true
			}
		}
		p.Unschedulable = true
		return false
	})
}

// A cluster that goes from one scheduler to another takes pods with it that wait, each once: until
// the new one has it in hand they are not sent elsewhere, or back.
func TestPodsFollowAClusterToAnotherSchedulerOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := drawHandover(t)
		const step = 2 * time.Second
		for range rapid.IntRange(1, 3).Draw(t, "steps before") {
			h.dispatch()
			h.bind()
			h.now = h.now.Add(step)
		}
		c := rapid.IntRange(0, len(h.homes)-1).Draw(t, "cluster")
		h.homes[c] = rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "new home")
		h.opens[c] = h.now.Add(step * time.Duration(rapid.IntRange(0, 4).Draw(t, "handed over after")))
		clear(h.moves)
		for range 8 {
			h.dispatch()
			h.bind()
			h.now = h.now.Add(step)
		}
		for uid, n := range h.moves {
			if n > 1 {
				t.Errorf("pod %s was given another home %d times", uid, n)
			}
		}
	})
}
