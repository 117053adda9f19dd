// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package dispatch_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/placement/dispatch"
)

func TestHomeOfAPodWithoutASeat(t *testing.T) {
	both, onlyA, onlyB := sets.New("a", "b"), sets.New("a"), sets.New("b")
	tests := map[string]struct {
		pod     *dispatch.Pod
		wait    dispatch.Wait
		others  []*dispatch.Pod // counted as load
		reached sets.Set[string]
		only    sets.Set[string]
		roomy   sets.Set[string]

		want string
	}{
		"the first by name":            {pod: pod("p", ""), reached: both, want: "a"},
		"the one with less to do":      {pod: pod("p", ""), others: []*dispatch.Pod{pod("x", "a")}, reached: both, want: "b"},
		"the only one with a node":     {pod: pod("p", ""), reached: onlyB, want: "b"},
		"a home is kept, however busy": {pod: pod("p", "a"), others: []*dispatch.Pod{pod("x", "a")}, reached: both, want: "a"},
		"a home without a node for it": {pod: pod("p", "a"), reached: onlyB, want: "b"},
		"a home that is gone":          {pod: pod("p", "gone"), reached: both, want: "a"},
		"no node anywhere":             {pod: pod("p", ""), reached: nil, want: "a"},
		"no node anywhere, at home":    {pod: pod("p", "b"), reached: nil, want: "b"},
		"the policy leaves one":        {pod: pod("p", ""), reached: both, only: onlyB, want: "b"},
		"the policy leaves one, where no node is": {
			pod: pod("p", "b"), reached: onlyA, only: onlyB, want: "b",
		},
		"with room in a pool":            {pod: pod("p", ""), reached: both, roomy: onlyB, want: "b"},
		"with room only where it cannot": {pod: pod("p", ""), reached: onlyA, roomy: onlyB, want: "a"},
		"a home without room is kept":    {pod: pod("p", "a"), reached: both, roomy: onlyB, want: "a"},
		"a home without room is left after ten seconds, however often others were tried": {
			pod: failing("p", "a"), wait: withHome("a", 10*time.Second, 1000), reached: both, roomy: onlyB, want: "b",
		},
		"a home without room has ten seconds": {
			pod: failing("p", "a"), wait: withHome("a", 9*time.Second, 1000), reached: both, roomy: onlyB, want: "a",
		},
		"a home without room is kept if nobody has any": {
			pod: failing("p", "a"), wait: withHome("a", 10*time.Second, 1000), reached: both, roomy: sets.Set[string]{}, want: "a",
		},
		"a home without room is kept if the others are out of reach": {
			pod: failing("p", "a"), wait: withHome("a", 10*time.Second, 1000), reached: both, only: onlyA, roomy: onlyB, want: "a",
		},
		"a home with room is kept": {
			pod: failing("p", "a"), wait: withHome("a", 10*time.Second, 1000), reached: both, roomy: both, want: "a",
		},
		"a home without room that does not fail is kept": {
			pod: pod("p", "a"), wait: withHome("a", 10*time.Second, 1000), reached: both, roomy: onlyB, want: "a",
		},
		"it was asked nine seconds ago": {
			pod:     failing("p", "a"),
			wait:    dispatch.Wait{Home: "a", Since: now.Add(-time.Minute), Tries: 1000, Asked: now.Add(-9 * time.Second)},
			reached: both, roomy: onlyB, want: "a",
		},
		"it was asked ten seconds ago": {
			pod:     failing("p", "a"),
			wait:    dispatch.Wait{Home: "a", Since: now.Add(-time.Minute), Tries: 1000, Asked: now.Add(-10 * time.Second)},
			reached: both, roomy: onlyB, want: "b",
		},
		"in vain": {
			pod: failing("p", "a"), wait: withHome("a", 10*time.Second, 0), reached: both, want: "b",
		},
		"in vain, and the other one has no room": {
			pod: failing("p", "a"), wait: withHome("a", 10*time.Second, 0), reached: both, roomy: onlyA, want: "b",
		},
		"in vain at the only one": {
			pod: failing("p", "a"), wait: withHome("a", 10*time.Second, 0), reached: onlyA, want: "a",
		},
		"not long enough": {
			pod: failing("p", "a"), wait: withHome("a", 9*time.Second, 0), reached: both, want: "a",
		},
		"long enough, but it was not tried": {
			pod: pod("p", "a"), wait: withHome("a", time.Hour, 0), reached: both, want: "a",
		},
		"tried, but never seen there before": {pod: failing("p", "a"), reached: both, want: "a"},
		"tried, after it was with another": {
			pod: failing("p", "a"), wait: withHome("b", time.Hour, 1), reached: both, want: "a",
		},
		"twice the time after a home in vain": {
			pod: failing("p", "a"), wait: withHome("a", 19*time.Second, 1), reached: both, want: "a",
		},
		"twice the time is over": {
			pod: failing("p", "a"), wait: withHome("a", 20*time.Second, 1), reached: both, want: "b",
		},
		"the time is bounded": {
			pod: failing("p", "a"), wait: withHome("a", 5*time.Minute, 1000), reached: both, want: "b",
		},
		"what was written a moment ago counts": {
			pod: pod("p", "b"), wait: withHome("a", time.Second, 1), reached: both, want: "a",
		},
		"what was written long ago and does not show has been changed": {
			pod: pod("p", "b"), wait: withHome("a", 2*time.Second, 1), reached: both, want: "b",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			waits := map[types.UID]dispatch.Wait{}
			if tc.wait.Home != "" {
				waits["p"] = tc.wait
			}
			r := dispatch.NewRound(now, 0, schedulers(), waits)
			for _, p := range append(tc.others, tc.pod) {
				r.Count(p)
			}
			place(r, tc.pod, tc.reached.Clone(), tc.only, tc.roomy, dispatch.Preference{})
			if got, _ := r.Moved(tc.pod); got != tc.want {
				t.Errorf("home %q, want %q", got, tc.want)
			}
		})
	}
}

func TestAPodGoesWhereItsWishIsMet(t *testing.T) {
	far := scheduler("far", 1)
	far.Union.GeoLocations = []berthv1alpha1.GeoLocation{{Country: "DE"}}
	r := dispatch.NewRound(now, 0, append(schedulers(), far), nil)
	p := pod("p", "")
	place(r, p, r.WithNodes(), nil, nil, dispatch.Preference{Geo: berthv1alpha1.GeoLocation{Country: "DE"}})
	expectHomes(t, r, []*dispatch.Pod{p}, map[string]string{"p": "far"})
}

func TestEachDecisionCountsInTheNext(t *testing.T) {
	large := []dispatch.Home{scheduler("a", 1), scheduler("b", 3)}
	r := dispatch.NewRound(now, 0, large, nil)
	homes := map[string]int{}
	for _, name := range []string{"1", "2", "3", "4", "5", "6", "7", "8"} {
		p := pod(name, "")
		r.Count(p)
		place(r, p, sets.New("a", "b"), nil, nil, dispatch.Preference{})
		to, _ := r.Moved(p)
		homes[to]++
	}
	if diff := cmp.Diff(map[string]int{"a": 2, "b": 6}, homes); diff != "" {
		t.Errorf("pods by home (-want +got):\n%s", diff)
	}
}

func TestAPodThatMovesIsNoLongerLoadOfItsHome(t *testing.T) {
	r := dispatch.NewRound(now, 0, schedulers(), map[types.UID]dispatch.Wait{"1": withHome("b", time.Minute, 0)})
	pods := []*dispatch.Pod{failing("1", "b"), pod("2", "")}
	for _, p := range pods {
		r.Count(p)
	}
	for _, p := range pods {
		place(r, p, sets.New("a", "b"), nil, nil, dispatch.Preference{})
	}
	expectHomes(t, r, pods, map[string]string{"1": "a", "2": "b"})
}

func TestAGangFollowsItsFirstMember(t *testing.T) {
	r := dispatch.NewRound(now, 0, schedulers(), nil)
	pods := []*dispatch.Pod{pod("1", "b"), pod("2", "a"), pod("3", ""), pod("4", "")}
	for _, p := range pods[:3] {
		p.Gang = "ns/g"
	}
	for _, p := range pods {
		place(r, p, sets.New("a", "b"), nil, nil, dispatch.Preference{})
	}
	expectHomes(t, r, pods, map[string]string{"1": "b", "2": "b", "3": "b", "4": "a"})
}

func TestWithNodes(t *testing.T) {
	commons := scheduler("commons", 0)
	commons.Commons = true
	r := dispatch.NewRound(now, 0, []dispatch.Home{scheduler("none", 0), scheduler("some", 1), commons}, nil)
	if diff := cmp.Diff(sets.New("commons", "some"), r.WithNodes()); diff != "" {
		t.Errorf("schedulers with nodes (-want +got):\n%s", diff)
	}
}

func TestWaits(t *testing.T) {
	tests := map[string]struct {
		pod     *dispatch.Pod
		wait    dispatch.Wait
		reached sets.Set[string]
		roomy   sets.Set[string]

		want      dispatch.Wait
		wantMoved bool
	}{
		"a first home": {
			pod: pod("p", ""), reached: sets.New("a"), want: withHome("a", 0, 1), wantMoved: true,
		},
		"the first sight of a pod with a home": {
			pod: pod("p", "a"), reached: sets.New("a"), want: withHome("a", 0, 0),
		},
		"it stays": {
			pod: pod("p", "a"), wait: withHome("a", time.Minute, 3), reached: sets.New("a"), want: withHome("a", time.Minute, 3),
		},
		"it moves": {
			pod: pod("p", "a"), wait: withHome("a", time.Minute, 3), reached: sets.New("b"), want: withHome("b", 0, 4), wantMoved: true,
		},
		"it was asked who has room": {
			pod: failing("p", "a"), wait: withHome("a", 10*time.Second, 3), reached: sets.New("a", "b"), roomy: sets.New("a"),
			want: dispatch.Wait{Home: "a", Since: now.Add(-10 * time.Second), Tries: 3, Asked: now},
		},
		"it was not asked who has room, because its home does not fail": {
			pod: pod("p", "a"), wait: withHome("a", 10*time.Second, 3), reached: sets.New("a", "b"), roomy: sets.New("a"),
			want: withHome("a", 10*time.Second, 3),
		},
		"somebody else moved it": {
			pod: pod("p", "b"), wait: withHome("a", time.Minute, 3), reached: sets.New("b"), want: withHome("b", 0, 0),
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			r := dispatch.NewRound(now, 0, schedulers(), map[types.UID]dispatch.Wait{"p": tc.wait})
			place(r, tc.pod, tc.reached, nil, tc.roomy, dispatch.Preference{})
			if diff := cmp.Diff(map[types.UID]dispatch.Wait{"p": tc.want}, r.Waits()); diff != "" {
				t.Errorf("what is remembered (-want +got):\n%s", diff)
			}
			if _, moved := r.Moved(tc.pod); moved != tc.wantMoved {
				t.Errorf("moved: %t, want %t", moved, tc.wantMoved)
			}
		})
	}
}
