// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package dispatch_test

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"pgregory.net/rapid"

	"berth.dev/berth/pkg/placement/dispatch"
)

// lonely is a pod for which nobody finds a node, round after round.
type lonely struct {
	schedulers []dispatch.Home
	names      sets.Set[string]
	// byTurn has a policy that does not know how many replicas are wanted.
	byTurn bool
	now    time.Time
	state  uint64
	home   string
	waits  map[types.UID]dispatch.Wait
}

// round plays a round ten seconds after the last one, and reports whether the pod moved. The home
// roomy has room for it.
func (l *lonely) round(t *rapid.T, roomy string) bool {
	l.now = l.now.Add(10 * time.Second)
	r := dispatch.NewRound(l.now, l.state, l.schedulers, l.waits)
	p, has := failing("p", l.home), sets.New[string]()
	if r.Count(p); roomy != "" {
		has.Insert(roomy)
	}
	rest := []*dispatch.Pod{p}
	if l.byTurn {
		share := &dispatch.Share{Order: twoToThree(t), Held: []int32{0, 0}, Homes: []string{"a", "b"}, Strict: true}
		if r.Fails(p) {
			share.Room = []bool{has.Has("a"), has.Has("b")}
		}
		rest = r.Seat(rest, dispatch.NewSeats(share))
	}
	for range rest {
		place(r, p, l.names.Clone(), nil, has, dispatch.Preference{})
	}
	to, moved := r.Moved(p)
	l.home, l.waits = to, r.Waits()
	return moved
}

// Whenever something changes, each home gets to try a pod that fits nowhere, and then nothing is
// written until something changes again. Room that there is somewhere is found at any time.
func TestAPodThatFitsNowhereIsTriedEverywhereOnce(t *testing.T) {
	const anHourAndAHalf = 540
	rapid.Check(t, func(t *rapid.T) {
		l := &lonely{names: sets.Set[string]{}, byTurn: rapid.Bool().Draw(t, "by turn"), now: now}
		most := 5
		if l.byTurn {
			most = 2
		}
		for _, name := range []string{"a", "b", "c", "d", "e"}[:rapid.IntRange(2, most).Draw(t, "schedulers")] {
			l.schedulers = append(l.schedulers, scheduler(name, 1))
			l.names.Insert(name)
		}
		anyone := rapid.SampledFrom(sets.List(l.names))
		l.home = anyone.Draw(t, "first home")
		for range rapid.IntRange(1, 3).Draw(t, "changes") {
			for range rapid.IntRange(0, 100).Draw(t, "rounds before the change") {
				l.round(t, "")
			}
			l.state++
			tried := sets.New(l.home)
			for range anHourAndAHalf {
				l.round(t, "")
				tried.Insert(l.home)
			}
			if !tried.Equal(l.names) {
				t.Fatalf("only %v have had the pod since something changed", sets.List(tried))
			}
			for range anHourAndAHalf {
				if l.round(t, "") {
					t.Fatalf("the pod went to %s although nothing had changed", l.home)
				}
			}
			roomy := anyone.Draw(t, "room")
			for range 2 {
				l.round(t, roomy)
			}
			if l.home != roomy {
				t.Fatalf("the pod is at %s, there is room at %s", l.home, roomy)
			}
		}
	})
}
