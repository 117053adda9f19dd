// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package history_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"
	"pgregory.net/rapid"

	"berth.dev/berth/pkg/history"
)

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func pod(name string) history.Object {
	return history.Object{Kind: "Pod", Namespace: "shop", Name: name, UID: types.UID("uid-" + name)}
}

func all(history.Object) bool { return true }

func waits(name, why string) history.Entry {
	return history.Entry{
		About: pod(name), Workload: &history.Object{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"},
		Decision: history.Unschedulable, Message: why,
	}
}

// messages returns what entries say, each with how often.
func messages(entries []history.Entry) []string {
	said := make([]string, len(entries))
	for i, e := range entries {
		said[i] = fmt.Sprintf("%s %s x%d", e.About.Name, e.Message, e.Times)
	}
	return said
}

func TestFind(t *testing.T) {
	deployment := history.Object{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"}
	gone := pod("a")
	gone.UID = ""
	for name, test := range map[string]struct {
		limits      history.Limits
		add         []history.Entry
		after       time.Duration
		about       history.Object
		want        []string
		wantDropped int
	}{
		"one of several pods": {
			add: []history.Entry{waits("a", "1"), waits("b", "2"), waits("a", "3")}, about: gone, want: []string{"a 1 x1", "a 3 x1"},
		},
		"the pods of a workload": {
			add: []history.Entry{waits("a", "1"), waits("b", "2")}, about: deployment, want: []string{"a 1 x1", "b 2 x1"},
		},
		"the same again counts": {
			add:   []history.Entry{waits("a", "1"), waits("b", "2"), waits("a", "1"), waits("a", "1")},
			about: deployment, want: []string{"a 1 x3", "b 2 x1"},
		},
		"what was said before something else is said anew": {
			add: []history.Entry{waits("a", "1"), waits("a", "2"), waits("a", "1")}, about: gone, want: []string{"a 1 x1", "a 2 x1", "a 1 x1"},
		},
		"more than there is room for": {
			limits: history.Limits{Entries: 2}, add: []history.Entry{waits("a", "1"), waits("b", "2"), waits("c", "3")},
			about: deployment, want: []string{"b 2 x1", "c 3 x1"}, wantDropped: 1,
		},
		"older than is kept": {
			limits: history.Limits{Age: time.Minute}, add: []history.Entry{waits("a", "1")}, after: time.Minute + 1,
			about: gone, want: []string{}, wantDropped: 1,
		},
		"as old as is kept": {
			limits: history.Limits{Age: time.Minute}, add: []history.Entry{waits("a", "1")}, after: time.Minute, about: gone, want: []string{"a 1 x1"},
		},
		"larger than everything may be": {
			limits: history.Limits{Bytes: 10}, add: []history.Entry{waits("a", "1")}, about: gone, want: []string{}, wantDropped: 1,
		},
		"a message that a user made long": {
			add: []history.Entry{waits("a", strings.Repeat("x", 1<<20))}, about: gone,
			want: []string{"a " + strings.Repeat("x", 1021) + "... x1"},
		},
		"nothing": {about: gone, want: []string{}},
	} {
		t.Run(name, func(t *testing.T) {
			limits := history.DefaultLimits()
			if test.limits.Entries > 0 {
				limits.Entries = test.limits.Entries
			}
			if test.limits.Age > 0 {
				limits.Age = test.limits.Age
			}
			if test.limits.Bytes > 0 {
				limits.Bytes = test.limits.Bytes
			}
			now := clocktesting.NewFakePassiveClock(start)
			ring := history.New(limits, now)
			for _, e := range test.add {
				ring.Add(e)
			}
			now.SetTime(start.Add(test.after))
			got := ring.Find(test.about, all)
			if diff := cmp.Diff(test.want, messages(got.Entries)); diff != "" {
				t.Errorf("found (-want +got):\n%s", diff)
			}
			if got.Dropped != test.wantDropped || !got.Since.Equal(start) {
				t.Errorf("dropped %d, since %v; want %d, since %v", got.Dropped, got.Since, test.wantDropped, start)
			}
		})
	}
}

func TestWhatMayNotBeToldIsNotFound(t *testing.T) {
	ring := history.New(history.DefaultLimits(), clocktesting.NewFakePassiveClock(start))
	ring.Add(waits("a", "1"))
	ring.Add(waits("b", "2"))
	deployment := *waits("a", "").Workload
	got := ring.Find(deployment, func(about history.Object) bool { return about.Name == "b" })
	if diff := cmp.Diff([]string{"b 2 x1"}, messages(got.Entries)); diff != "" {
		t.Errorf("found (-want +got):\n%s", diff)
	}
}

// A pod learns of whom it had preempted, and nobody of a pod that he may not get.
func TestWhoAskedForIt(t *testing.T) {
	asked := pod("urgent")
	ring := history.New(history.DefaultLimits(), clocktesting.NewFakePassiveClock(start))
	ring.Add(history.Entry{About: pod("victim"), Decision: history.Preempted, For: &asked})
	hidden := &history.Object{Kind: "Pod"}
	for name, test := range map[string]struct {
		of      string
		may     []string
		want    int
		wantFor *history.Object
	}{
		"the victim, by who may get both":         {of: "victim", may: []string{"victim", "urgent"}, want: 1, wantFor: &asked},
		"the victim, by who may get it alone":     {of: "victim", may: []string{"victim"}, want: 1, wantFor: hidden},
		"who asked, by who may get both":          {of: "urgent", may: []string{"victim", "urgent"}, want: 1, wantFor: &asked},
		"who asked, by who may get it alone":      {of: "urgent", may: []string{"urgent"}},
		"who asked, by who may get its victim":    {of: "urgent", may: []string{"victim"}},
		"the victim, by who may get who asked it": {of: "victim", may: []string{"urgent"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := ring.Find(pod(test.of), func(o history.Object) bool { return slices.Contains(test.may, o.Name) })
			if len(got.Entries) != test.want {
				t.Fatalf("found %v, want %d", got.Entries, test.want)
			}
			for _, e := range got.Entries {
				if diff := cmp.Diff(test.wantFor, e.For); diff != "" {
					t.Errorf("who asked (-want +got):\n%s", diff)
				}
			}
		})
	}
}

func TestAnAnswerIsBounded(t *testing.T) {
	ring := history.New(history.DefaultLimits(), clocktesting.NewFakePassiveClock(start))
	for i := range history.MaxFound + 3 {
		ring.Add(waits("a", strconv.Itoa(i)))
	}
	got := ring.Find(pod("a"), all)
	if len(got.Entries) != history.MaxFound || got.Older != 3 || got.Entries[0].Message != "3" {
		t.Errorf("found %d entries from %q on and %d older, want %d from 3 on and 3 older",
			len(got.Entries), got.Entries[0].Message, got.Older, history.MaxFound)
	}
}

func TestTimesOfWhatIsDecidedAgain(t *testing.T) {
	now := clocktesting.NewFakePassiveClock(start)
	ring := history.New(history.DefaultLimits(), now)
	ring.Add(waits("a", "1"))
	now.SetTime(start.Add(time.Minute))
	ring.Add(waits("a", "1"))
	got := ring.Find(pod("a"), all).Entries
	if len(got) != 1 || !got[0].Time.Equal(start) || !got[0].Last.Equal(start.Add(time.Minute)) {
		t.Errorf("found %+v, want one entry from %v to a minute later", got, start)
	}
}

// TestRingRemembersTheNewest compares a Ring with a list that keeps everything.
func TestRingRemembersTheNewest(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		limits := history.Limits{Entries: rapid.IntRange(1, 200).Draw(r, "entries"), Age: time.Hour, Bytes: rapid.IntRange(500, 40_000).Draw(r, "bytes")}
		now := clocktesting.NewFakePassiveClock(start)
		ring := history.New(limits, now)
		var made []string
		latest := map[string]string{}
		for i := range rapid.IntRange(0, 300).Draw(r, "adds") {
			name := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(r, "pod")
			text := strconv.Itoa(i) + strings.Repeat("x", rapid.IntRange(0, 50).Draw(r, "length"))
			if latest[name] == text {
				continue
			}
			latest[name] = text
			made = append(made, name+" "+text+" x1")
			ring.Add(waits(name, text))
		}
		got := ring.Find(*waits("a", "").Workload, all)
		kept := len(got.Entries)
		if kept > limits.Entries || kept+got.Dropped != len(made) {
			r.Fatalf("%d of %d entries are kept and %d dropped, at most %d may be kept", kept, len(made), got.Dropped, limits.Entries)
		}
		if diff := cmp.Diff(made[len(made)-kept:], messages(got.Entries), cmp.Transformer("nil", func(s []string) []string {
			return append([]string{}, s...)
		})); kept > 0 && diff != "" {
			r.Fatalf("kept (-want +got):\n%s", diff)
		}
	})
}

func TestRingIsSafeForConcurrentUse(t *testing.T) {
	ring := history.New(history.Limits{Entries: 10, Age: time.Hour, Bytes: 1 << 20}, clocktesting.NewFakePassiveClock(start))
	var running sync.WaitGroup
	for i := range 4 {
		running.Go(func() {
			for j := range 200 {
				ring.Add(waits("a", strconv.Itoa(i*1000+j)))
				ring.Find(pod("a"), all)
			}
		})
	}
	running.Wait()
	if got := ring.Find(pod("a"), all); len(got.Entries)+got.Dropped != 800 {
		t.Errorf("%d entries are kept and %d dropped of 800", len(got.Entries), got.Dropped)
	}
}

func TestNothingIsRememberedByNone(t *testing.T) {
	var ring *history.Ring
	entry := waits("a", "1")
	if allocations := testing.AllocsPerRun(100, func() { ring.Add(entry) }); allocations != 0 || history.NewBackground(ring).On() {
		t.Errorf("a Ring that is off is on (%t), or allocates %v times", history.NewBackground(ring).On(), allocations)
	}
	if got := ring.Find(pod("a"), all); len(got.Entries) != 0 {
		t.Errorf("a Ring that is off found %v", got.Entries)
	}
}

func BenchmarkAdd(b *testing.B) {
	for name, next := range map[string]func(i int) string{
		"new": strconv.Itoa, "again": func(int) string { return "the same" },
	} {
		b.Run(name, func(b *testing.B) {
			ring := history.New(history.DefaultLimits(), clocktesting.NewFakePassiveClock(start))
			entries := make([]history.Entry, 1000)
			for i := range entries {
				entries[i] = waits("a", next(i))
			}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				ring.Add(entries[i%len(entries)])
			}
		})
	}
}
