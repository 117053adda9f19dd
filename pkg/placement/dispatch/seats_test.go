// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package dispatch_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"pgregory.net/rapid"

	"berth.dev/berth/pkg/placement/admit"
	"berth.dev/berth/pkg/placement/apportion"
	"berth.dev/berth/pkg/placement/dispatch"
)

// unknown stands for a number of replicas that nobody knows.
const unknown = -1

// numbered is a pod with a fixed seat.
func numbered(name, home string, seat int32) *dispatch.Pod {
	p := pod(name, home)
	p.Seat = seat
	return p
}

func TestHomeOfAPodWithAPolicy(t *testing.T) {
	// Scheduler a looks after cluster a of weight 2, b after cluster b of weight 3. The seats are b
	// a b a b, and again.
	tests := map[string]struct {
		replicas int64
		held     []int32
		homes    []string
		admitted []bool
		waits    map[types.UID]dispatch.Wait
		pods     []*dispatch.Pod

		want     map[string]string // by pod, absent for those without a seat
		wantOnly []string          // homes of the policy
	}{
		"each to a free seat": {
			replicas: 5, pods: []*dispatch.Pod{pod("1", ""), pod("2", ""), pod("3", ""), pod("4", ""), pod("5", "")},
			want:     map[string]string{"1": "b", "2": "a", "3": "b", "4": "a", "5": "b"},
			wantOnly: []string{"a", "b"},
		},
		"bound pods hold seats": {
			replicas: 5, held: []int32{2, 2}, pods: []*dispatch.Pod{pod("1", "")}, want: map[string]string{"1": "b"},
			wantOnly: []string{"a", "b"},
		},
		"more than a share takes nothing from the others": {
			replicas: 5, held: []int32{4, 1}, pods: []*dispatch.Pod{pod("1", ""), pod("2", ""), pod("3", "")},
			want: map[string]string{"1": "b", "2": "b"}, wantOnly: []string{"a", "b"},
		},
		"who has a home with a free seat keeps it": {
			replicas: 1, pods: []*dispatch.Pod{pod("1", ""), pod("2", "b")}, want: map[string]string{"2": "b"},
			wantOnly: []string{"a", "b"},
		},
		"a seat at home is kept although it was in vain": {
			replicas: 2, pods: []*dispatch.Pod{failing("1", "b")}, waits: map[types.UID]dispatch.Wait{"1": withHome("b", time.Hour, 0)},
			want: map[string]string{"1": "b"}, wantOnly: []string{"a", "b"},
		},
		"who has a home with one free seat keeps it although another has more": {
			replicas: 5, held: []int32{1, 0}, pods: []*dispatch.Pod{pod("1", "a")}, want: map[string]string{"1": "a"},
			wantOnly: []string{"a", "b"},
		},
		"who has a home without a free seat leaves it": {
			replicas: 1, pods: []*dispatch.Pod{pod("1", "a")}, want: map[string]string{"1": "b"}, wantOnly: []string{"a", "b"},
		},
		"no seat is free": {
			replicas: 5, held: []int32{2, 3}, pods: []*dispatch.Pod{pod("1", "a")}, want: map[string]string{},
			wantOnly: []string{"a", "b"},
		},
		"a cluster without a scheduler": {
			replicas: 5, homes: []string{"a", ""}, pods: []*dispatch.Pod{pod("1", ""), pod("2", ""), pod("3", "")},
			want: map[string]string{"1": "a", "2": "a"}, wantOnly: []string{"a"},
		},
		"a cluster that meets no constraint": {
			replicas: 5, admitted: []bool{true, false}, pods: []*dispatch.Pod{pod("1", "b"), pod("2", ""), pod("3", "")},
			want: map[string]string{"1": "a", "2": "a"}, wantOnly: []string{"a"},
		},
		"both clusters with one scheduler": {
			replicas: 3, homes: []string{"b", "b"}, pods: []*dispatch.Pod{pod("1", ""), pod("2", "a"), pod("3", ""), pod("4", "")},
			want: map[string]string{"1": "b", "2": "b", "3": "b"}, wantOnly: []string{"b"},
		},

		"fixed seats": {
			replicas: 5, pods: []*dispatch.Pod{numbered("1", "", 1), numbered("2", "a", 2), numbered("9", "", 9)},
			want: map[string]string{"1": "a", "2": "b", "9": "b"}, wantOnly: []string{"a", "b"},
		},
		"a fixed seat of a cluster without a scheduler": {
			replicas: 5, homes: []string{"a", ""}, pods: []*dispatch.Pod{numbered("0", "a", 0)}, want: map[string]string{},
			wantOnly: []string{"a"},
		},
		"a fixed seat that no plan has": {
			replicas: 5, pods: []*dispatch.Pod{numbered("1", "", apportion.MaxSeats)}, want: map[string]string{},
			wantOnly: []string{"a", "b"},
		},

		"by turn": {
			replicas: unknown, pods: []*dispatch.Pod{pod("1", ""), pod("2", "")}, want: map[string]string{"1": "b", "2": "b"},
			wantOnly: []string{"a", "b"},
		},
		"by turn, the second": {
			replicas: unknown, held: []int32{0, 1}, pods: []*dispatch.Pod{pod("1", "")}, want: map[string]string{"1": "a"},
			wantOnly: []string{"a", "b"},
		},
		"by turn, a home of the policy is kept": {
			replicas: unknown, pods: []*dispatch.Pod{pod("1", "a")}, want: map[string]string{"1": "a"}, wantOnly: []string{"a", "b"},
		},
		"by turn, in vain elsewhere": {
			replicas: unknown, pods: []*dispatch.Pod{failing("1", "a")}, waits: map[types.UID]dispatch.Wait{"1": withHome("a", time.Hour, 0)},
			want: map[string]string{"1": "b"}, wantOnly: []string{"a", "b"},
		},
		"by turn, in vain where it is the turn": {
			replicas: unknown, pods: []*dispatch.Pod{failing("1", "b")}, waits: map[types.UID]dispatch.Wait{"1": withHome("b", time.Hour, 0)},
			want: map[string]string{}, wantOnly: []string{"a", "b"},
		},
		"by turn, the first has no scheduler": {
			replicas: unknown, homes: []string{"a", ""}, pods: []*dispatch.Pod{pod("1", "")}, want: map[string]string{"1": "a"},
			wantOnly: []string{"a"},
		},
		"by turn, the first meets no constraint": {
			replicas: unknown, admitted: []bool{true, false}, pods: []*dispatch.Pod{pod("1", "")}, want: map[string]string{"1": "a"},
			wantOnly: []string{"a"},
		},
		"by turn, no cluster has a scheduler": {
			replicas: unknown, homes: []string{"", ""}, pods: []*dispatch.Pod{pod("1", "")}, want: map[string]string{},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			share := &dispatch.Share{Order: twoToThree(t), Held: []int32{0, 0}, Homes: []string{"a", "b"}, Admitted: tc.admitted, Strict: true}
			if tc.replicas != unknown {
				share.Plan = share.Order.Plan(tc.replicas)
			}
			if tc.homes != nil {
				share.Homes = tc.homes
			}
			copy(share.Held, tc.held)
			r := dispatch.NewRound(now, 0, schedulers(), tc.waits)
			seats := dispatch.NewSeats(share)
			rest := r.Seat(tc.pods, seats)
			expectHomes(t, r, tc.pods, tc.want)
			if got, want := len(rest), len(tc.pods)-len(tc.want); got != want {
				t.Errorf("%d pods are left without a seat, want %d", got, want)
			}
			if diff := cmp.Diff(sets.New(tc.wantOnly...), seats.Homes()); diff != "" {
				t.Errorf("homes of the policy (-want +got):\n%s", diff)
			}
		})
	}
}

// As many pods get a seat as there are free seats at schedulers, and never more at one scheduler
// than it has.
func TestNoSeatIsTakenTwiceAndNoneStaysFreeWhileAPodWaits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		clusters := make([]apportion.Cluster, rapid.IntRange(1, 5).Draw(t, "clusters"))
		for i := range clusters {
			clusters[i] = apportion.Cluster{Name: string(rune('a' + i)), Weight: rapid.Int64Range(0, 4).Draw(t, "weight")}
		}
		order, err := apportion.NewOrder(clusters)
		if err != nil {
			t.Fatal(err)
		}
		share := &dispatch.Share{Order: order, Plan: order.Plan(rapid.Int64Range(0, 12).Draw(t, "replicas")), Strict: true}
		free := map[string]int{}
		for i := range clusters {
			h := rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "home")
			held := rapid.Int32Range(0, 3).Draw(t, "held")
			share.Homes, share.Held = append(share.Homes, h), append(share.Held, held)
			if h != "" {
				free[h] += max(0, share.Plan.Share(i)-int(held))
			}
		}
		var pods []*dispatch.Pod
		for i := range rapid.IntRange(0, 12).Draw(t, "pods") {
			pods = append(pods, pod(string(rune('A'+i)), rapid.SampledFrom([]string{"", "a", "b", "gone"}).Draw(t, "present")))
		}
		r := dispatch.NewRound(now, 0, schedulers(), nil)
		rest := r.Seat(pods, dispatch.NewSeats(share))
		taken := map[string]int{}
		for _, p := range pods {
			if to, _ := r.Moved(p); r.Decided(p) {
				taken[to]++
			}
		}
		for h, n := range taken {
			if n > free[h] {
				t.Fatalf("%d pods go to %s, which has %d free seats", n, h, free[h])
			}
		}
		if want := max(0, len(pods)-free["a"]-free["b"]); len(rest) != want {
			t.Fatalf("%d of %d pods get no seat, and %v are free: want %d", len(rest), len(pods), free, want)
		}
	})
}

// A pod that the rules of a policy admit to one cluster only goes to the scheduler of that cluster.
func TestThePodAndTheSchedulerAgreeOnTheTurn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		order, err := apportion.NewOrder([]apportion.Cluster{
			{Name: "x", Weight: rapid.Int64Range(1, 4).Draw(t, "x")}, {Name: "y", Weight: rapid.Int64Range(1, 4).Draw(t, "y")},
		})
		if err != nil {
			t.Fatal(err)
		}
		held := []int32{rapid.Int32Range(0, 5).Draw(t, "held x"), rapid.Int32Range(0, 5).Draw(t, "held y")}
		admission := admit.Answer(&admit.Question{Order: order, Seat: admit.NoSeat, Held: append([]int32{}, held...), Strict: true})
		first := int32(0)
		if admission.Prefers(1, 0) {
			first = 1
		}
		admission.Resolve(first)
		r, p := dispatch.NewRound(now, 0, schedulers(), nil), pod("p", "")
		homes := []string{"a", "b"}
		r.Seat([]*dispatch.Pod{p}, dispatch.NewSeats(&dispatch.Share{Order: order, Held: held, Homes: homes, Strict: true}))
		if to, _ := r.Moved(p); to != homes[admission.Only] {
			t.Fatalf("the pod goes to %s, and the policy admits it to the cluster of %s", to, homes[admission.Only])
		}
	})
}
