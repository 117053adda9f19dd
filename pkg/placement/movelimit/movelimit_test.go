// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package movelimit_test

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"

	"berth.dev/berth/pkg/placement/movelimit"
)

var begin = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// began returns how many of so many claims begin at once.
func began(b *movelimit.Budget, claims int, cluster string) (count int) {
	for i := range claims {
		if b.Take(movelimit.Claim{Key: fmt.Sprint(cluster, i), Cluster: cluster}, begin) == 0 {
			count++
		}
	}
	return count
}

func TestWhatMayBeginAtOnce(t *testing.T) {
	tests := map[string]struct {
		limits       movelimit.Limits
		first, other int
	}{
		"no limit":                          {movelimit.Limits{}, 100, 100},
		"a limit in all":                    {movelimit.Limits{PerMinute: 600}, 50, 0},
		"a limit for each cluster":          {movelimit.Limits{PerCluster: 120}, 10, 10},
		"both":                              {movelimit.Limits{PerMinute: 180, PerCluster: 120}, 10, 5},
		"less than one in five seconds":     {movelimit.Limits{PerMinute: 1}, 1, 0},
		"for each cluster, less than that":  {movelimit.Limits{PerCluster: 2}, 1, 1},
		"the limit of all is what is short": {movelimit.Limits{PerMinute: 12, PerCluster: 120}, 1, 0},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			b := movelimit.New(tc.limits)
			if first, other := began(b, 100, "a"), began(b, 100, "b"); first != tc.first || other != tc.other {
				t.Errorf("%d and %d begin, want %d and %d", first, other, tc.first, tc.other)
			}
		})
	}
}

func TestWhatMovesAsAWholeCountsWithAllItsPods(t *testing.T) {
	b := movelimit.New(movelimit.Limits{PerMinute: 60})
	if wait := b.Take(movelimit.Claim{Key: "large", Pods: 30}, begin); wait != 0 {
		t.Fatalf("it waits %v, want it to begin", wait)
	}
	small := movelimit.Claim{Key: "small", Pods: 1}
	if wait, want := b.Take(small, begin.Add(10*time.Second)), 15*time.Second; wait != want {
		t.Errorf("the next one is to ask after %v, want %v", wait, want)
	}
	if wait, want := b.Take(small, begin.Add(25*time.Second)), time.Second; wait != want {
		t.Errorf("then it is to ask after %v, want %v", wait, want)
	}
	if wait := b.Take(small, begin.Add(26*time.Second-1)); wait == 0 {
		t.Error("it begins a moment before the limit allows it")
	}
	if wait := b.Take(small, begin.Add(26*time.Second)); wait != 0 {
		t.Errorf("26 s later it is to ask after %v, want it to begin", wait)
	}
}

func TestWhoBeginsFirst(t *testing.T) {
	full := func() *movelimit.Budget {
		b := movelimit.New(movelimit.Limits{PerMinute: 12, PerCluster: 6})
		b.Take(movelimit.Claim{Key: "before", Cluster: "full"}, begin)
		return b
	}
	tests := map[string]struct {
		waiting movelimit.Claim
		then    movelimit.Claim
		// later is when the second one asks, after the first one was told to wait.
		later time.Duration
		want  bool
	}{
		"the first that came":               {movelimit.Claim{Key: "z"}, movelimit.Claim{Key: "a"}, 5 * time.Second, false},
		"a higher priority":                 {movelimit.Claim{Key: "z"}, movelimit.Claim{Key: "a", Priority: 1}, 5 * time.Second, true},
		"a lower priority":                  {movelimit.Claim{Key: "z"}, movelimit.Claim{Key: "a", Priority: -1}, 5 * time.Second, false},
		"who does not come loses its place": {movelimit.Claim{Key: "z"}, movelimit.Claim{Key: "a"}, 16 * time.Second, true},
		"who only its cluster holds back":   {movelimit.Claim{Key: "z", Cluster: "full"}, movelimit.Claim{Key: "a"}, 5 * time.Second, true},
		"who only its cluster holds back, for a moment more": {
			movelimit.Claim{Key: "z", Cluster: "full"}, movelimit.Claim{Key: "a"}, 10*time.Second - 1, true,
		},
		"who comes again keeps its place": {movelimit.Claim{Key: "z"}, movelimit.Claim{Key: "z"}, 5 * time.Second, true},
		"who waits for the same full cluster": {
			movelimit.Claim{Key: "z", Cluster: "full"}, movelimit.Claim{Key: "a", Cluster: "full"}, 10 * time.Second, false,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			b := full()
			if b.Take(tc.waiting, begin) == 0 {
				t.Fatal("the first one does not wait")
			}
			if got := b.Take(tc.then, begin.Add(tc.later)) == 0; got != tc.want {
				t.Errorf("the second one begins: %t, want %t", got, tc.want)
			}
		})
	}
}

// TestTheOrderOfThoseThatWait has a limit of one pod a second, of which eight have begun at once,
// and wants to know after how many seconds those that ask then are to ask again.
func TestTheOrderOfThoseThatWait(t *testing.T) {
	type ask struct {
		key     string
		at, has int
	}
	for name, asks := range map[string][]ask{
		"those behind come later":             {{"a", 0, 4}, {"b", 0, 5}, {"c", 0, 6}},
		"who asks again keeps its place":      {{"z", 0, 4}, {"a", 1, 4}, {"z", 2, 2}, {"a", 4, 1}, {"z", 4, 0}},
		"who has begun is in nobody's way":    {{"z", 0, 4}, {"z", 4, 0}, {"a", 5, 0}},
		"who has begun may come with another": {{"z", 0, 4}, {"z", 4, 0}, {"z", 4, 1}, {"z", 5, 0}},
	} {
		t.Run(name, func(t *testing.T) {
			b := movelimit.New(movelimit.Limits{PerMinute: 60})
			b.Take(movelimit.Claim{Key: "before", Pods: 8}, begin)
			for i, a := range asks {
				want := time.Duration(a.has) * time.Second
				if got := b.Take(movelimit.Claim{Key: a.key}, begin.Add(time.Duration(a.at)*time.Second)); got != want {
					t.Errorf("ask %d, by %s: %v, want %v", i, a.key, got, want)
				}
			}
		})
	}
}

// drawn are claims that ask whenever they were told to, until they have begun.
type drawn struct {
	movelimit.Claim
	asks time.Time
}

func TestNoMoreBeginThanTheLimitsAllowAndNobodyIsForgotten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limits := movelimit.Limits{PerMinute: rapid.IntRange(10, 600).Draw(t, "minute"), PerCluster: rapid.IntRange(10, 600).Draw(t, "cluster")}
		b := movelimit.New(limits)
		var open []drawn
		for i := range rapid.IntRange(1, 15).Draw(t, "claims") {
			open = append(open, drawn{Claim: movelimit.Claim{
				Key: strconv.Itoa(i), Cluster: rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "to"),
				Pods: rapid.Int64Range(1, 10).Draw(t, "pods"), Priority: rapid.Int32Range(0, 2).Draw(t, "priority"),
			}, asks: begin.Add(time.Duration(rapid.IntRange(0, 60_000).Draw(t, "ms")) * time.Millisecond)})
		}
		begun := map[string]int64{}
		for steps := 0; len(open) > 0; steps++ {
			if steps > 100_000 {
				t.Fatalf("%d still wait", len(open))
			}
			next := 0
			for i := range open {
				if open[i].asks.Before(open[next].asks) {
					next = i
				}
			}
			c := &open[next]
			wait := b.Take(c.Claim, c.asks)
			if wait > 0 {
				c.asks = c.asks.Add(wait)
				continue
			}
			for name, limit := range map[string]int{"": limits.PerMinute, c.Cluster: limits.PerCluster} {
				allowed := c.asks.Sub(begin).Minutes()*float64(limit) + max(1, float64(limit)/12)
				if float64(begun[name]+1) > allowed+0.001 {
					t.Fatalf("%d pods have begun after %v, and one more does, want at most %v", begun[name], c.asks.Sub(begin), allowed)
				}
				begun[name] += c.Pods
			}
			open = append(open[:next], open[next+1:]...)
		}
	})
}
