// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package movelimit_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"berth.dev/berth/pkg/placement/movelimit"
)

// What Wait tells is what Take does then, however often it was asked before.
func TestToAskTakesNothing(t *testing.T) {
	b := movelimit.New(movelimit.Limits{PerMinute: 36, PerCluster: 24})
	claims := []movelimit.Claim{{Key: "a", Cluster: "a"}, {Key: "a", Cluster: "a"}, {Key: "b", Cluster: "b"}}
	for range 3 {
		if diff := cmp.Diff(make([]time.Duration, 3), b.Wait(claims, begin)); diff != "" {
			t.Fatalf("how long they are to wait (-want +got):\n%s", diff)
		}
	}
	if b.Take(movelimit.Claim{Key: "later", Cluster: "c"}, begin) != 0 {
		t.Error("another one waits for those that have not begun")
	}
	for i, want := range []bool{true, true, false} {
		if got := b.Take(claims[i], begin) == 0; got != want {
			t.Errorf("claim %d begins: %t, want %t", i, got, want)
		}
	}
}

// line is a budget of one pod a second, of which those before leave the first to begin after four.
type line struct {
	*testing.T
	*movelimit.Budget
}

func newLine(t *testing.T) *line {
	t.Helper()
	b := movelimit.New(movelimit.Limits{PerMinute: 60})
	b.Take(movelimit.Claim{Key: "before", Pods: 8}, begin)
	return &line{t, b}
}

// asks wants to know whether so many claims of a key may begin after some seconds, and takes none.
func (l *line) asks(c movelimit.Claim, second int, want ...bool) {
	l.Helper()
	waits := l.Wait(slices.Repeat([]movelimit.Claim{c}, len(want)), begin.Add(time.Duration(second)*time.Second))
	for i, wait := range waits {
		if wait == 0 != want[i] {
			l.Errorf("claim %d of %s is told to wait for %v after %d s, want it to begin: %t", i, c.Key, wait, second, want[i])
		}
	}
}

// takes wants a claim to begin, or not to, after some seconds.
func (l *line) takes(c movelimit.Claim, second int, want bool) {
	l.Helper()
	if wait := l.Take(c, begin.Add(time.Duration(second)*time.Second)); wait == 0 != want {
		l.Errorf("%s is told to wait for %v after %d s, want it to begin: %t", c.Key, wait, second, want)
	}
}

func TestTheLineOfThoseThatAsk(t *testing.T) {
	first, second, urgent := movelimit.Claim{Key: "a"}, movelimit.Claim{Key: "b"}, movelimit.Claim{Key: "urgent", Priority: 1000}
	for name, run := range map[string]func(l *line){
		"who waits in part stays in line": func(l *line) {
			l.asks(urgent, 5, true, true, false)
			l.takes(urgent, 5, true)
			l.takes(urgent, 5, true)
			l.takes(second, 6, false)
			l.asks(urgent, 6, true)
			l.takes(urgent, 6, true)
			l.takes(second, 7, true)
		},
		"who waits in part goes behind others of its priority once it has begun": func(l *line) {
			l.asks(first, 4, true, false)
			l.takes(second, 4, false)
			l.takes(first, 5, true)
			l.takes(first, 5, false)
			l.takes(second, 5, true)
		},
		"who was in line before it waits in part keeps its place": func(l *line) {
			l.asks(first, 0, false)
			l.takes(second, 1, false)
			l.asks(first, 4, true, false)
			l.takes(second, 4, false)
			l.takes(first, 4, true)
		},
		"who may begin keeps its place until it comes": func(l *line) {
			l.asks(first, 0, false)
			l.asks(first, 4, true)
			l.takes(second, 4, false)
			l.takes(first, 4, true)
			l.takes(second, 5, true)
		},
		"who may begin and does not come leaves": func(l *line) {
			l.asks(first, 0, false)
			l.asks(first, 4, true)
			l.Leave([]movelimit.Claim{first})
			l.takes(second, 4, true)
		},
		"who may begin in part and does not come leaves": func(l *line) {
			l.asks(urgent, 4, true, false)
			l.Leave([]movelimit.Claim{urgent})
			l.takes(second, 4, true)
		},
		"who has come for a part does not leave": func(l *line) {
			l.asks(urgent, 4, true, false)
			l.takes(urgent, 4, true)
			l.Leave([]movelimit.Claim{urgent})
			l.takes(second, 5, false)
		},
		"who was told to wait does not leave": func(l *line) {
			l.asks(first, 0, false)
			l.Leave([]movelimit.Claim{first})
			l.takes(second, 4, false)
		},
		"who may begin with all that is left is in nobody's way then": func(l *line) {
			l.asks(urgent, 4, true, false)
			l.takes(urgent, 4, true)
			l.asks(urgent, 5, true)
			l.takes(urgent, 5, true)
			l.takes(second, 6, true)
		},
	} {
		t.Run(name, func(t *testing.T) { run(newLine(t)) })
	}
}

// What waits with one key counts with each of its claims for those behind.
func TestHowLongThoseBehindSeveralAreToWait(t *testing.T) {
	first, second := movelimit.Claim{Key: "a"}, movelimit.Claim{Key: "b"}
	at := func(second int) time.Time { return begin.Add(time.Duration(second) * time.Second) }
	for name, tc := range map[string]struct {
		ahead int
		// asked is when they ask, after when the other one does, and want what that is told.
		asked, after, want int
	}{
		"one waits":                 {ahead: 1, want: 5},
		"all wait":                  {ahead: 6, want: 10},
		"all wait, and ask again":   {ahead: 6, after: 1, want: 9},
		"two may begin, four wait":  {ahead: 6, asked: 5, after: 5, want: 5},
		"all may begin, and do not": {ahead: 2, asked: 5, after: 5, want: 0},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLine(t)
			claims := slices.Repeat([]movelimit.Claim{first}, tc.ahead)
			l.Wait(claims, at(tc.asked))
			if tc.after > tc.asked {
				l.Wait(claims, at(tc.after))
			}
			if got, want := l.Take(second, at(tc.after)), time.Duration(tc.want)*time.Second; got != want {
				t.Errorf("the one behind is told to wait for %v, want %v", got, want)
			}
		})
	}
}

// Several that only their own cluster holds back are in nobody's way.
func TestNobodyWaitsForSeveralThatTheirClusterHoldsBack(t *testing.T) {
	b := movelimit.New(movelimit.Limits{PerMinute: 60, PerCluster: 12})
	full := movelimit.Claim{Key: "a", Cluster: "full"}
	if b.Take(full, begin) != 0 {
		t.Fatal("the first one waits")
	}
	b.Wait(slices.Repeat([]movelimit.Claim{full}, 10), begin)
	if wait := b.Take(movelimit.Claim{Key: "b", Cluster: "free"}, begin); wait != 0 {
		t.Errorf("one that moves elsewhere waits for %v", wait)
	}
}
