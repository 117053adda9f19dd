// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package preemption

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"

	"berth.dev/berth/pkg/placement/pool"
)

func withPriority(pod *corev1.Pod, priority int32) *corev1.Pod {
	pod.Spec.Priority = ptr.To(priority)
	return pod
}

func TestEarmarksKeepWhatIsGivenBackFromOthers(t *testing.T) {
	kept := []pool.Charge{{Resource: "matlab", Pool: "all"}}
	owed := func(*corev1.Pod, string) []pool.Charge { return []pool.Charge{{Resource: "worked out", Pool: "all"}} }
	owner := withPriority(named("owner"), 10)
	for name, tc := range map[string]struct {
		do    func(*Earmarks, *clocktesting.FakePassiveClock)
		other *corev1.Pod
		// want is what the other pod may not have, wantKept what is kept for the owner.
		want     [][]pool.Charge
		wantKept []pool.Charge
	}{
		"from one of lower priority": {
			other: withPriority(named("low"), 1), want: [][]pool.Charge{kept}, wantKept: kept,
		},
		"from one of the same": {
			other: withPriority(named("equal"), 10), want: [][]pool.Charge{kept}, wantKept: kept,
		},
		"not from one of higher": {other: withPriority(named("high"), 11), wantKept: kept},
		"not from the owner":     {other: owner, wantKept: kept},
		"not while the owner has it": {
			do:    func(e *Earmarks, _ *clocktesting.FakePassiveClock) { e.Suspend(owner.UID, true) },
			other: named("other"),
		},
		"again once the owner lost it": {
			do: func(e *Earmarks, _ *clocktesting.FakePassiveClock) {
				e.Suspend(owner.UID, true)
				e.Suspend(owner.UID, false)
			},
			other: named("other"), want: [][]pool.Charge{kept}, wantKept: kept,
		},
		"not once it is dropped": {
			do:    func(e *Earmarks, _ *clocktesting.FakePassiveClock) { e.Drop(owner.UID) },
			other: named("other"),
		},
		"until it has lasted too long": {
			do:    func(_ *Earmarks, clock *clocktesting.FakePassiveClock) { clock.SetTime(time.Unix(61, 0)) },
			other: named("other"),
		},
		"until then": {
			do:    func(_ *Earmarks, clock *clocktesting.FakePassiveClock) { clock.SetTime(time.Unix(59, 0)) },
			other: named("other"), want: [][]pool.Charge{kept}, wantKept: kept,
		},
		"what a nomination keeps is worked out": {
			do: func(e *Earmarks, _ *clocktesting.FakePassiveClock) {
				e.Drop(owner.UID)
				e.Nominate(owner, "node")
			},
			other: named("other"), want: [][]pool.Charge{owed(nil, "")}, wantKept: owed(nil, ""),
		},
	} {
		t.Run(name, func(t *testing.T) {
			clock := clocktesting.NewFakePassiveClock(time.Unix(0, 0))
			e := NewEarmarks(clock)
			e.put(owner, &plan{charges: kept}, time.Minute)
			if tc.do != nil {
				tc.do(e, clock)
			}
			if diff := cmp.Diff(tc.want, e.Against(tc.other, owed)); diff != "" {
				t.Errorf("kept from the pod (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.wantKept, keptFor(e, owner)); diff != "" {
				t.Errorf("kept for the owner (-want +got):\n%s", diff)
			}
		})
	}
}

// keptFor returns what is kept for a pod.
func keptFor(e *Earmarks, pod *corev1.Pod) []pool.Charge {
	for _, mark := range e.Kept() {
		if mark.Pod.UID == pod.UID {
			return mark.Charges
		}
	}
	return nil
}

func TestVictimsAreKnownWhileTheEarmarkLasts(t *testing.T) {
	e := NewEarmarks(clocktesting.NewFakePassiveClock(time.Unix(0, 0)))
	owner, victim := named("owner"), named("victim")
	e.put(owner, &plan{victims: []*corev1.Pod{victim}}, time.Minute)
	got := []bool{e.isVictim(victim.UID), e.isVictim(owner.UID)}
	e.Drop(owner.UID)
	got = append(got, e.isVictim(victim.UID))
	if diff := cmp.Diff([]bool{true, false, false}, got); diff != "" {
		t.Errorf("victim, owner, victim without an earmark (-want +got):\n%s", diff)
	}
}

func TestWhichNominationCounts(t *testing.T) {
	const pod types.UID = "pod"
	for name, tc := range map[string]struct {
		do   func(*Earmarks)
		want bool
	}{
		"of a pod that was never tried":    {do: func(*Earmarks) {}, want: true},
		"not after an attempt that failed": {do: func(e *Earmarks) { e.SetFailed(pod, true) }},
		"again once the next attempt has begun": {
			do: func(e *Earmarks) { e.SetFailed(pod, true); e.SetFailed(pod, false) }, want: true,
		},
		"not beside an earmark": {
			do: func(e *Earmarks) { e.put(named("x"), &plan{}, 0); e.byPod[pod] = &earmark{} },
		},
		"again once all is dropped": {
			do: func(e *Earmarks) { e.SetFailed(pod, true); e.Drop(pod) }, want: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			e := NewEarmarks(clocktesting.NewFakePassiveClock(time.Unix(0, 0)))
			tc.do(e)
			if got := e.NominationCounts(pod); got != tc.want {
				t.Errorf("the nomination counts: %t, want %t", got, tc.want)
			}
		})
	}
}
