// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package dispatch_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"berth.dev/berth/pkg/placement/dispatch"
)

func TestHomeOfAPodWhoseHomeFails(t *testing.T) {
	// The seats are b a b a b: of five replicas three belong to cluster b, two to cluster a.
	long, moment := withHome("a", 10*time.Second, 9), withHome("a", 9*time.Second, 9)
	first, neverMoved := withHome("a", 10*time.Second, 0), withHome("a", 9*time.Second, 0)
	onlyA, onlyB, nowhere := []bool{true, false}, []bool{false, true}, []bool{false, false}
	tests := map[string]struct {
		unknown bool // how many replicas are wanted
		lax     bool
		held    []int32
		homes   []string
		room    []bool
		wait    dispatch.Wait
		more    []*dispatch.Pod
		pod     *dispatch.Pod

		want map[string]string // by pod, absent for those without a seat
	}{
		"a seat with room elsewhere":        {room: onlyB, wait: long, pod: failing("p", "a"), want: map[string]string{"p": "b"}},
		"a seat with room at home":          {room: onlyA, wait: long, pod: failing("p", "a"), want: map[string]string{"p": "a"}},
		"no room":                           {room: nowhere, wait: long, pod: failing("p", "a"), want: map[string]string{"p": "a"}},
		"nobody was asked":                  {wait: long, pod: failing("p", "a"), want: map[string]string{"p": "a"}},
		"it was not tried long enough":      {room: onlyB, wait: moment, pod: failing("p", "a"), want: map[string]string{"p": "a"}},
		"it was not tried":                  {room: onlyB, wait: long, pod: pod("p", "a"), want: map[string]string{"p": "a"}},
		"room where all seats are taken":    {held: []int32{0, 3}, room: onlyB, wait: long, pod: failing("p", "a"), want: map[string]string{"p": "a"}},
		"room in a cluster without a home":  {homes: []string{"a", ""}, room: onlyB, wait: long, pod: failing("p", "a"), want: map[string]string{"p": "a"}},
		"a numbered pod waits for its seat": {room: onlyB, wait: long, pod: numberedFailing("p", "a", 1), want: map[string]string{"p": "a"}},
		"as many as there are seats with room": {
			held: []int32{0, 2}, room: onlyB, wait: long, pod: failing("p", "a"), more: []*dispatch.Pod{pod("q", "b")},
			want: map[string]string{"p": "a", "q": "b"},
		},
		"one with room stands behind nobody": {
			held: []int32{0, 2}, room: onlyB, wait: long, pod: failing("p", "a"), more: []*dispatch.Pod{pod("q", "")},
			want: map[string]string{"p": "b", "q": "a"},
		},

		"by turn, room later in turn": {unknown: true, room: onlyA, wait: withHome("b", 10*time.Second, 9), pod: failing("p", "b"), want: map[string]string{"p": "a"}},
		"by turn, room at home":       {unknown: true, room: onlyA, wait: long, pod: failing("p", "a"), want: map[string]string{"p": "a"}},
		"by turn, the first of those with room": {
			unknown: true, room: []bool{true, true}, wait: withHome("gone", 10*time.Second, 9), pod: failing("p", "gone"),
			want: map[string]string{"p": "b"},
		},
		"by turn, for several": {
			unknown: true, room: onlyB, wait: long, pod: failing("p", "a"), more: []*dispatch.Pod{pod("q", "b")},
			want: map[string]string{"p": "b", "q": "b"},
		},

		"a seat with room, with ScheduleAnyway": {lax: true, room: onlyB, wait: long, pod: failing("p", "a"), want: map[string]string{"p": "b"}},
		"no seat with room, with ScheduleAnyway": {
			lax: true, room: nowhere, wait: long, pod: failing("p", "a"), want: map[string]string{},
		},
		"no seat with room for a pod that was never given a home, with ScheduleAnyway": {
			lax: true, room: nowhere, wait: first, pod: failing("p", "a"), want: map[string]string{},
		},
		"it was given its home for room beyond seats, with ScheduleAnyway": {
			lax: true, held: []int32{2, 0}, wait: moment, pod: failing("p", "a"), want: map[string]string{},
		},
		"it has its home by itself, with ScheduleAnyway": {
			lax: true, held: []int32{2, 0}, wait: neverMoved, pod: failing("p", "a"), want: map[string]string{"p": "b"},
		},
		"it was not tried where it was given, with ScheduleAnyway": {
			lax: true, held: []int32{2, 0}, wait: moment, pod: pod("p", "a"), want: map[string]string{"p": "b"},
		},
		"somebody has moved it, with ScheduleAnyway": {
			lax: true, held: []int32{2, 0}, wait: withHome("b", 9*time.Second, 9), pod: failing("p", "a"), want: map[string]string{"p": "b"},
		},
		"a numbered pod looks beyond its seat, with ScheduleAnyway": {
			lax: true, wait: long, pod: numberedFailing("p", "a", 1), want: map[string]string{},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			share := &dispatch.Share{
				Order: twoToThree(t), Held: []int32{0, 0}, Homes: []string{"a", "b"}, Room: tc.room, Strict: !tc.lax,
			}
			if !tc.unknown {
				share.Plan = share.Order.Plan(5)
			}
			if tc.homes != nil {
				share.Homes = tc.homes
			}
			copy(share.Held, tc.held)
			r := dispatch.NewRound(now, 0, schedulers(), map[types.UID]dispatch.Wait{"p": tc.wait})
			pods := append([]*dispatch.Pod{tc.pod}, tc.more...)
			r.Seat(pods, dispatch.NewSeats(share))
			expectHomes(t, r, pods, tc.want)
		})
	}
}

// numberedFailing is a pod with a fixed seat that its home found no node for.
func numberedFailing(name, home string, seat int32) *dispatch.Pod {
	p := failing(name, home)
	p.Seat = seat
	return p
}

func TestThePodsOfARevisionThatWereAskedForAreNotAskedForAgainSoon(t *testing.T) {
	share := &dispatch.Share{
		Order: twoToThree(t), Held: []int32{0, 0}, Homes: []string{"a", "b"}, Room: []bool{true, false}, Strict: true,
	}
	share.Plan = share.Order.Plan(5)
	r := dispatch.NewRound(now, 0, schedulers(), map[types.UID]dispatch.Wait{
		"p": withHome("a", 10*time.Second, 1), "q": withHome("a", 9*time.Second, 1),
	})
	r.Seat([]*dispatch.Pod{failing("p", "a"), failing("q", "a")}, dispatch.NewSeats(share))
	want := map[types.UID]dispatch.Wait{
		"p": {Home: "a", Since: now.Add(-10 * time.Second), Tries: 1, Asked: now}, "q": withHome("a", 9*time.Second, 1),
	}
	if diff := cmp.Diff(want, r.Waits()); diff != "" {
		t.Errorf("what is remembered (-want +got):\n%s", diff)
	}
}
