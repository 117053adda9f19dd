// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package preemption

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"

	"berth.dev/berth/pkg/placement/pool"
)

func TestANominationChangesNothingThatIsKept(t *testing.T) {
	kept := []pool.Charge{{Resource: "matlab", Pool: "all"}}
	e := NewEarmarks(clocktesting.NewFakePassiveClock(time.Unix(0, 0)))
	owner := withPriority(named("owner"), 10)
	e.put(owner, &plan{charges: kept}, time.Minute)
	e.Nominate(owner, "node")
	e.Against(named("other"), func(*corev1.Pod, string) []pool.Charge { return nil })
	if diff := cmp.Diff(kept, keptFor(e, owner)); diff != "" {
		t.Errorf("kept for the owner (-want +got):\n%s", diff)
	}
}

func TestWhatIsOnItsWayIsKeptForAsLongAsItTakes(t *testing.T) {
	clock := clocktesting.NewFakePassiveClock(time.Unix(0, 0))
	e := NewEarmarks(clock)
	owner := withPriority(named("owner"), 10)
	e.put(owner, &plan{charges: []pool.Charge{{Resource: "matlab", Pool: "all"}}}, time.Minute)
	clock.SetTime(time.Unix(50, 0))
	e.await(owner, nil, time.Minute)
	e.await(owner, nil, time.Second)
	got := []bool{}
	for _, now := range []int64{61, 109, 111} {
		clock.SetTime(time.Unix(now, 0))
		got = append(got, keptFor(e, owner) != nil)
	}
	if diff := cmp.Diff([]bool{true, true, false}, got); diff != "" {
		t.Errorf("kept beyond the first time, to the end of the second, after it (-want +got):\n%s", diff)
	}
}

func TestWhatIsKeptForAPodThatIsKeptOutOfTheQueueEnds(t *testing.T) {
	owner := named("owner")
	for name, tc := range map[string]struct {
		do func(*Earmarks)
		// out is whether it is kept out at second 0, 4 and 5.
		out  [3]bool
		want bool
	}{
		"after a while":                  {out: [3]bool{true, true, true}},
		"not if it was let in meanwhile": {out: [3]bool{true, false, true}, want: true},
		"not of one that is tried":       {want: true},
		"not while its victims are being deleted": {
			do: func(e *Earmarks) { e.byPod[owner.UID].evicting = true }, out: [3]bool{true, true, true}, want: true,
		},
		"not of one that is being bound": {
			do: func(e *Earmarks) { e.Suspend(owner.UID, true) }, out: [3]bool{true, true, true}, want: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			clock := clocktesting.NewFakePassiveClock(time.Unix(0, 0))
			e := NewEarmarks(clock)
			e.put(owner, &plan{}, time.Minute)
			e.evicted(owner.UID)
			if tc.do != nil {
				tc.do(e)
			}
			for i, second := range []int64{0, 4, 5} {
				clock.SetTime(time.Unix(second, 0))
				e.DropHeld(func(*corev1.Pod) bool { return tc.out[i] })
			}
			if got := e.has(owner.UID); got != tc.want {
				t.Errorf("kept: %t, want %t", got, tc.want)
			}
		})
	}
}

// has reports whether something is kept for the pod.
func (e *Earmarks) has(pod types.UID) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.byPod[pod] != nil
}

func TestWhatIsOnItsWayIsKeptFromLowerPriorities(t *testing.T) {
	charges := []pool.Charge{{Resource: "matlab", Pool: "all"}}
	for name, tc := range map[string]struct {
		priority int32
		charges  []pool.Charge
		// others are pods for which something is kept already.
		others int
		// want is the highest priority from which it is kept, nil if from none.
		want *int32
	}{
		"of an ordinary priority":           {priority: 10, charges: charges, want: ptr.To[int32](9)},
		"beside others":                     {priority: 10, charges: charges, others: maxAwaiting - 1, want: ptr.To[int32](9)},
		"beside too many":                   {priority: 10, charges: charges, others: maxAwaiting},
		"of the lowest but one":             {priority: math.MinInt32 + 1, charges: charges, want: ptr.To[int32](math.MinInt32)},
		"of the lowest, which nobody is of": {priority: math.MinInt32, charges: charges},
		"if it is nothing":                  {priority: 10},
	} {
		t.Run(name, func(t *testing.T) {
			e := NewEarmarks(clocktesting.NewFakePassiveClock(time.Unix(0, 0)))
			for i := range tc.others {
				e.Nominate(named(fmt.Sprint("other-", i)), "node")
			}
			owner := withPriority(named("owner"), tc.priority)
			e.await(owner, tc.charges, time.Minute)
			var got *int32
			for _, mark := range e.Kept() {
				if mark.Pod == owner {
					got = &mark.Priority
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("the highest priority from which it is kept (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWhatIsKeptIsToldInOrder(t *testing.T) {
	e := NewEarmarks(clocktesting.NewFakePassiveClock(time.Unix(0, 0)))
	want := []types.UID{"uid of c", "uid of a", "uid of b", "uid of e", "uid of d"}
	for name, priority := range map[string]int32{"a": 7, "b": 7, "c": 9, "d": 1, "e": 3} {
		e.put(withPriority(named(name), priority), &plan{}, time.Minute)
	}
	var got []types.UID
	for _, mark := range e.Kept() {
		got = append(got, mark.Pod.UID)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("pods for which something is kept (-want +got):\n%s", diff)
	}
}

func TestWhatHasLastedTooLongIsForgotten(t *testing.T) {
	clock := clocktesting.NewFakePassiveClock(time.Unix(0, 0))
	e := NewEarmarks(clock)
	owner, victim := named("owner"), named("victim")
	e.put(owner, &plan{victims: []*corev1.Pod{victim}}, time.Minute)
	clock.SetTime(time.Unix(61, 0))
	e.Against(named("other"), nil)
	if e.has(owner.UID) || e.isVictim(victim.UID) {
		t.Errorf("something is kept: %t, a pod makes way for it: %t", e.has(owner.UID), e.isVictim(victim.UID))
	}
}
