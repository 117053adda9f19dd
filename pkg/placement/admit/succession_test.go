// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package admit_test

import (
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"berth.dev/berth/pkg/placement/admit"
	"berth.dev/berth/pkg/placement/apportion"
)

func TestContended(t *testing.T) {
	for name, tc := range map[string]struct {
		replicas   int64
		seat       int32
		succession admit.Succession
		eligible   []bool
		want       bool
	}{
		"seats were free, and others waited": {
			replicas: 5, seat: admit.NoSeat, succession: admit.Succession{Held: []int32{1, 1}, Claimants: 2}, want: true,
		},
		"seats were free in one cluster": {
			replicas: 5, seat: admit.NoSeat, succession: admit.Succession{Held: []int32{2, 2}, Claimants: 1}, want: true,
		},
		"seats were free in a cluster, though the other one held too many": {
			replicas: 5, seat: admit.NoSeat, succession: admit.Succession{Held: []int32{4, 1}, Claimants: 1}, want: true,
		},
		"nobody else waited": {replicas: 5, seat: admit.NoSeat, succession: admit.Succession{Held: []int32{1, 1}}},
		"all was full":       {replicas: 5, seat: admit.NoSeat, succession: admit.Succession{Held: []int32{2, 3}, Claimants: 9}},
		"it is full only where the scheduler places pods": {
			replicas: 5, seat: admit.NoSeat, succession: admit.Succession{Held: []int32{2, 0}, Claimants: 9}, eligible: []bool{true, false},
		},
		"the pod is numbered":          {replicas: 5, seat: 1, succession: admit.Succession{Held: []int32{0, 0}, Claimants: 3, Missing: 1}},
		"the pod has the first number": {replicas: 5, seat: 0, succession: admit.Succession{Held: []int32{0, 0}, Claimants: 3, Missing: 1}},
		"one of a full workload is not counted": {
			replicas: 5, seat: admit.NoSeat, succession: admit.Succession{Held: []int32{2, 3}, Missing: 1}, want: true,
		},
		"the replicas are not known": {
			replicas: unknown, seat: admit.NoSeat, succession: admit.Succession{Held: []int32{9, 9}, Claimants: 1}, want: true,
		},
		"the replicas are not known, and nobody else waited": {
			replicas: unknown, seat: admit.NoSeat, succession: admit.Succession{Held: []int32{9, 9}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			q := &admit.Question{Order: twoToThree(t), Seat: tc.seat, Eligible: tc.eligible}
			if tc.replicas != unknown {
				q.Plan = q.Order.Plan(tc.replicas)
			}
			if got := tc.succession.Contended(q); got != tc.want {
				t.Errorf("contended: %t, want %t", got, tc.want)
			}
		})
	}
}

// place is a seat of a cluster.
type place struct{ cluster, seat int }

// replica is a pod of a workload whose scheduler has been replaced.
type replica struct {
	at     *place // where it is bound
	sent   *place // where a late Binding would bind it
	listed bool   // it may be bound by one for all that is known
	shown  bool   // the snapshot shows it where it is bound
}

// heirs are the replicas and what the new scheduler knows of them.
type heirs struct {
	order  *apportion.Order
	plan   *apportion.Plan
	before []int32
	pods   map[int]*replica
	next   int
}

// held returns the seats that are held in a cluster, as far as the snapshot shows them.
func (h *heirs) held(cluster int) *apportion.Held {
	held := &apportion.Held{}
	for _, p := range h.pods {
		if p.at != nil && p.shown && p.at.cluster == cluster {
			held.Add(int64(p.at.seat))
		}
	}
	return held
}

// choose places a pod as the plugin does, nil if it has to wait.
func (h *heirs) choose(t *rapid.T) *place {
	q := &admit.Question{Order: h.order, Plan: h.plan, Seat: admit.NoSeat, Strict: true, Held: make([]int32, h.order.Len())}
	for cluster := range q.Held {
		q.Held[cluster] = int32(h.held(cluster).Len())
	}
	answer := admit.Answer(q)
	var admits []int
	for cluster := range h.order.Len() {
		if answer.Admits(int32(cluster)) {
			admits = append(admits, cluster)
		}
	}
	if len(admits) == 0 {
		return nil
	}
	cluster := rapid.SampledFrom(admits).Draw(t, "cluster")
	seat, free := h.plan.FirstFreeOf(cluster, h.held(cluster))
	if !free {
		return nil
	}
	return &place{cluster, seat}
}

// succession is what the new scheduler knows beside a pod.
func (h *heirs) succession(beside int) *admit.Succession {
	s := &admit.Succession{Held: h.before}
	for i, p := range h.pods {
		switch {
		case i == beside:
		case p.listed:
			s.Claimants++
		case p.at != nil && !p.shown:
			s.Missing++
		}
	}
	return s
}

func (h *heirs) add(p *replica) {
	h.pods[h.next] = p
	h.next++
}

// predecessor lets the scheduler before place pods. Some of its Bindings arrive.
func (h *heirs) predecessor(t *rapid.T) {
	for range rapid.IntRange(0, 8).Draw(t, "pods") {
		p := &replica{shown: true}
		if at := h.choose(t); at != nil && rapid.Bool().Draw(t, "placed") {
			p.at = at
		}
		h.add(p)
	}
	for _, i := range slices.Sorted(maps.Keys(h.pods)) {
		p := h.pods[i]
		if p.at != nil && rapid.Bool().Draw(t, "late") {
			p.sent, p.at = p.at, nil
		}
		if p.at != nil {
			h.before[p.at.cluster]++
		} else {
			p.listed = true
		}
		p.shown = p.at != nil && rapid.Bool().Draw(t, "shown")
	}
}

func (h *heirs) some(t *rapid.T) int {
	if len(h.pods) == 0 {
		t.Skip("no pod")
	}
	return rapid.SampledFrom(slices.Sorted(maps.Keys(h.pods))).Draw(t, "pod")
}

// check fails if a seat is held twice, or a cluster holds more than its share.
func (h *heirs) check(t *rapid.T) {
	holders, held := map[place]int{}, map[int]int{}
	for _, p := range h.pods {
		if p.at != nil {
			holders[*p.at]++
			held[p.at.cluster]++
		}
	}
	for at, n := range holders {
		if n > 1 || held[at.cluster] > h.plan.Share(at.cluster) {
			t.Fatalf("%d pods have seat %d of cluster %d, which holds %d of %d", n, at.seat, at.cluster, held[at.cluster],
				h.plan.Share(at.cluster))
		}
	}
}

// TestNoSeatIsGivenOutThatALateBindingMayTake lets Bindings of a predecessor arrive at any time
// after the take-over, or never, and the snapshot be behind.
func TestNoSeatIsGivenOutThatALateBindingMayTake(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		order, err := apportion.NewOrder([]apportion.Cluster{
			{Name: "a", Weight: rapid.Int64Range(1, 3).Draw(t, "a")}, {Name: "b", Weight: rapid.Int64Range(1, 3).Draw(t, "b")},
		})
		if err != nil {
			t.Fatal(err)
		}
		h := &heirs{
			order: order, plan: order.Plan(rapid.Int64Range(1, 8).Draw(t, "replicas")), before: make([]int32, 2), pods: map[int]*replica{},
		}
		h.predecessor(t)
		t.Repeat(map[string]func(*rapid.T){
			"a late Binding arrives": func(t *rapid.T) {
				if p := h.pods[h.some(t)]; p.sent != nil && p.at == nil {
					p.at, p.sent, p.shown = p.sent, nil, false
				}
			},
			"a pod is settled": func(t *rapid.T) {
				p := h.pods[h.some(t)]
				p.listed, p.sent = false, nil
			},
			"the snapshot shows a pod": func(t *rapid.T) {
				p := h.pods[h.some(t)]
				p.shown, p.listed = p.at != nil, p.listed && p.at == nil
			},
			"a pod ends": func(t *rapid.T) {
				if i := h.some(t); h.pods[i].at != nil && h.pods[i].shown {
					delete(h.pods, i)
				}
			},
			"a pod comes": func(*rapid.T) { h.add(&replica{}) },
			"a pod is placed": func(t *rapid.T) {
				i := h.some(t)
				q := &admit.Question{Order: h.order, Plan: h.plan, Seat: admit.NoSeat}
				p := h.pods[i]
				if p.at != nil || h.succession(i).Contended(q) {
					return
				}
				if at := h.choose(t); at != nil {
					p.at, p.sent, p.shown, p.listed = at, nil, true, false
				}
			},
			"": h.check,
		})
	})
}
