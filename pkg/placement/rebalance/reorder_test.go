// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build !race

package rebalance_test

import (
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"berth.dev/berth/pkg/placement/apportion"
	"berth.dev/berth/pkg/placement/rebalance"
)

// misplaced are so many pods that have a place and should have another one.
func misplaced(n int) (pods []rebalance.Replica, places []rebalance.Place) {
	for i := range n {
		pods = append(pods, rebalance.Replica{Name: strconv.Itoa(i), Place: rebalance.Place(i), Age: time.Hour})
		places = append(places, rebalance.Place(i+1))
	}
	return pods, places
}

func TestThePodsThatGoFirstGetTheirPlacesFirst(t *testing.T) {
	pods, places := misplaced(rebalance.ReorderAtOnce)
	for i := range pods {
		pods[i].Place += 1_000_000
	}
	pods = append(pods, rebalance.Replica{Place: 7000}, rebalance.Replica{Place: 1000}, rebalance.Replica{Place: 8000}, rebalance.Replica{Place: 9000},
		rebalance.Replica{Place: rebalance.NoPlace}, rebalance.Replica{Place: 1, Fixed: true}, rebalance.Replica{Place: 2000})
	places = append(places, 7000, 6000, 500, rebalance.NoPlace, 3000, 9, 2500)
	var r rebalance.Reordering
	rest, wait := r.PutOff(pods, places, 1, now)
	if diff := cmp.Diff([]int{102, 101, 106}, rest); diff != "" || wait != rebalance.ReorderPause {
		t.Errorf("who waits, for %v (-want +got):\n%s", wait, diff)
	}
}

var now = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func TestWhatIsPutOff(t *testing.T) {
	type look struct {
		after    time.Duration
		wrong    int
		replicas int32
		// rest is how many are put off.
		rest int
	}
	const most, pause = rebalance.ReorderAtOnce, rebalance.ReorderPause
	tests := map[string]struct {
		ask   bool
		looks []look
	}{
		"few":                           {looks: []look{{0, most, 1, 0}, {0, most, 1, 0}}},
		"more, until the pause is over": {looks: []look{{0, most + 7, 1, 7}, {pause - 1, 7, 1, 7}, {1, 7, 1, 0}}},
		"more, until it is scaled":      {looks: []look{{0, most + 7, 1, 7}, {0, 7, 2, 0}}},
		"what somebody asks for":        {ask: true, looks: []look{{0, 2 * most, 1, 0}, {0, most, 1, 0}, {0, 0, 1, 0}, {0, most + 1, 1, 1}}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var r rebalance.Reordering
			if tc.ask {
				r.Ask()
			}
			now := now
			for i, l := range tc.looks {
				now = now.Add(l.after)
				pods, places := misplaced(l.wrong)
				rest, wait := r.PutOff(pods, places, l.replicas, now)
				if len(rest) != l.rest || wait > 0 != (l.rest > 0) {
					t.Errorf("look %d: %d wait for %v, want %d", i, len(rest), wait, l.rest)
				}
			}
		})
	}
}

func TestPodsThatComeMakeUpForOthers(t *testing.T) {
	var r rebalance.Reordering
	pods, places := misplaced(rebalance.ReorderAtOnce + 4)
	pods[2].Age = 0 // It was there when the others were put off.
	r.PutOff(pods, places, 1, now)
	pods, places = pods[:4], places[:4]
	pods[0].Age, pods[1].Age, pods[2].Age = time.Minute+time.Second-1, time.Minute+time.Second, time.Minute
	for look, want := range []int{3, 4} {
		if rest, _ := r.PutOff(pods, places, 1, now.Add(time.Minute)); len(rest) != want {
			t.Errorf("look %d: %d of 4 are put off although one has come since, want %d", look, len(rest), want)
		}
	}
}

// A site that joins one of several weighted groups, or leaves it, costs no more writes than twice
// its pods and a hundred, although the group stands in another order against the others then. What
// is put off comes about in time, and until then a workload that shrinks by less than a hundred
// lands on its shares.
func TestASiteInOneOfSeveralGroupsCostsFewWritesAtOnce(t *testing.T) {
	tests := map[string][]apportion.Group{
		"one of two, with 2,000 of 4,000 pods":    inGroups(100, 1, 1),
		"one of five, with 444 of 4,000 pods":     inGroups(40, 1, 2, 3, 2, 1),
		"one of five, with 1,333 pods behind 444": inGroups(40, 3, 2, 1, 2, 1),
		"a thousand sites":                        inGroups(200, 3, 2, 1, 2, 1),
	}
	for name, groups := range tests {
		t.Run(name, func(t *testing.T) {
			f := &fleet{tb: t, replicas: 4_000, groups: groups, paced: &rebalance.Reordering{}, now: now}
			f.settle()
			for _, what := range []string{"joins", "leaves"} {
				f.pass(time.Hour)
				f.changes(what)
				t.Logf("a site %s: %d pods come and go, %d get another place", what, f.moved, f.writes)
				if f.writes > f.moved+rebalance.ReorderAtOnce {
					t.Errorf("%d pods get another place as a site %s and %d come and go", f.writes, what, f.moved)
				}
				for range 3 {
					if f.scale(f.replicas - 50); f.astray > 0 {
						t.Errorf("%d pods are in the wrong clusters after the workload shrank by 50", f.astray)
					}
				}
				f.scale(4_000)
				f.writes = 0
				f.catchUp()
				t.Logf("%d get another place by and by", f.writes)
			}
		})
	}
}

// Whatever comes and goes in however many groups, no change costs more writes than twice the pods
// that come or go by it, and a hundred, and the order is right in the end.
func TestFewPodsGetAnotherPlaceAtOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := &fleet{tb: t, replicas: rapid.Int64Range(0, 500).Draw(t, "replicas"), paced: &rebalance.Reordering{}, now: now}
		weights := rapid.SliceOfN(rapid.Int64Range(1, 3), 2, 4).Draw(t, "weights")
		f.groups = inGroups(rapid.IntRange(1, 10).Draw(t, "sites"), weights...)
		f.settle()
		joined := 0
		limited := func(t *rapid.T, change func()) {
			f.moved, f.writes = 0, 0
			f.pass(rebalance.ReorderPause / 2)
			if change(); f.writes > 2*f.moved+rebalance.ReorderAtOnce {
				t.Fatalf("%d pods got another place although %d pods came or went", f.writes, f.moved)
			}
		}
		group := func(t *rapid.T) *apportion.Group {
			return &f.groups[rapid.IntRange(0, len(f.groups)-1).Draw(t, "group")]
		}
		t.Repeat(map[string]func(*rapid.T){
			"join": func(t *rapid.T) {
				joined++
				g := group(t)
				g.Clusters = append(g.Clusters, apportion.Cluster{Name: fmt.Sprint("new-", joined), Weight: 1, Precedence: rapid.Uint64().Draw(t, "rank")})
				limited(t, f.settle)
			},
			"leave": func(t *rapid.T) {
				g := group(t)
				if len(g.Clusters) < 2 {
					t.Skip()
				}
				i := rapid.IntRange(0, len(g.Clusters)-1).Draw(t, "cluster")
				g.Clusters = slices.Delete(g.Clusters, i, i+1)
				limited(t, f.settle)
			},
			"scale": func(t *rapid.T) {
				limited(t, func() { f.scale(rapid.Int64Range(0, 500).Draw(t, "to")) })
			},
			"catch up": func(*rapid.T) { f.catchUp() },
		})
		f.catchUp()
	})
}
