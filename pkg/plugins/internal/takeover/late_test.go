// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package takeover

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"berth.dev/berth/pkg/plugins/internal/ledger"
)

func on(node string) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Spec.NodeName = node }
}

func version(v string) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.ResourceVersion = v }
}

func bare(p *corev1.Pod) { p.OwnerReferences = nil }

// inherited is what a list has shown: two pods that wait, one that the informer knows as bound, and
// one that it does not.
func inherited() *LateSeats {
	l := NewLate()
	l.Known = func(p *corev1.Pod) bool { return p.Name == "known" }
	l.Begin()
	l.Read(pod("p"), true)
	l.Read(pod("q"), true)
	l.Read(pod("known", on("a")), false)
	l.Read(pod("unknown", on("b")), false)
	l.Read(pod("bare", bare), true)
	l.Read(pod("ended", on("a"), func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed }), false)
	l.End()
	return l
}

func shownOn(shown ...string) func(ledger.PodRef, string) bool {
	return func(ref ledger.PodRef, _ string) bool {
		return slices.Contains(shown, ref.Name)
	}
}

func TestWhatIsLeftOfAWorkload(t *testing.T) {
	held := map[string]int32{"a": 1, "b": 1}
	for name, tc := range map[string]struct {
		news  func(*LateSeats)
		shown []string
		of    *corev1.Pod
		want  Rest
	}{
		"everything": {of: pod("new"), shown: []string{"known"}, want: Rest{Listed: true, Claimants: 2, Missing: 1, Held: held}},
		"a pod that the informer knows and the snapshot lacks": {of: pod("new"), want: Rest{Listed: true, Claimants: 2, Missing: 2, Held: held}},
		"not the pod itself": {of: pod("p"), shown: []string{"known"}, want: Rest{Listed: true, Claimants: 1, Missing: 1, Held: held}},
		"nothing that the snapshot shows": {
			of: pod("new"), shown: []string{"known", "unknown"}, want: Rest{Listed: true, Claimants: 2, Held: held},
		},
		"no pod that has changed": {
			news: func(l *LateSeats) { l.Changed(pod("p", version("8"))) }, of: pod("q"), shown: []string{"known", "unknown"},
			want: Rest{Listed: true, Held: held},
		},
		"a pod that is as it was": {
			news: func(l *LateSeats) { l.Changed(pod("p")) }, of: pod("q"), shown: []string{"known", "unknown"},
			want: Rest{Listed: true, Claimants: 1, Held: held},
		},
		"a pod that has been bound, until it is shown": {
			news: func(l *LateSeats) { l.Changed(pod("p", version("8"), on("a"))) }, of: pod("q"), shown: []string{"known", "unknown"},
			want: Rest{Listed: true, Missing: 1, Held: held},
		},
		"no pod that has gone": {
			news: func(l *LateSeats) { l.Gone("p"); l.Gone("unknown") }, of: pod("q"), shown: []string{"known"}, want: Rest{Listed: true, Held: held},
		},
		"no pod that was settled": {
			news: func(l *LateSeats) { l.settled("p", pod("p", version("9"))); l.settled("unknown", nil) }, of: pod("q"), shown: []string{"known"},
			want: Rest{Listed: true, Held: held},
		},
		"a pod that was found bound when it was settled": {
			news: func(l *LateSeats) { l.settled("p", pod("p", version("9"), on("a"))) }, of: pod("q"), shown: []string{"known", "unknown"},
			want: Rest{Listed: true, Missing: 1, Held: held},
		},
		"other pods without a controller": {
			of: pod("other", bare), want: Rest{Listed: true, Claimants: 1, Held: map[string]int32{}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := inherited()
			if tc.news != nil {
				tc.news(l)
			}
			if diff := cmp.Diff(tc.want, l.Rest(tc.of, shownOn(tc.shown...))); diff != "" {
				t.Errorf("left (-want +got):\n%s", diff)
			}
		})
	}
}

func TestNothingIsKnownBeforeTheList(t *testing.T) {
	l := NewLate()
	if rest := l.Rest(pod("p"), shownOn()); rest.Listed || l.Over() || !l.Pending.Load() {
		t.Errorf("%+v, over: %t, pending: %t", rest, l.Over(), l.Pending.Load())
	}
	l.Skip()
	if !l.Over() || l.Pending.Load() {
		t.Errorf("over: %t, pending: %t, without a predecessor", l.Over(), l.Pending.Load())
	}
}

// names returns those of pods.
func names(pods []openPod) map[string]bool {
	found := map[string]bool{}
	for i := range pods {
		found[pods[i].Name] = true
	}
	return found
}

func TestOnlyPodsAreSettledForWhichOthersWait(t *testing.T) {
	l := inherited()
	if claimants, _ := l.wanted(); len(claimants) > 0 {
		t.Errorf("%v are settled, though nobody waits", names(claimants))
	}
	l.TurnAway(pod("q"))
	claimants, missing := l.wanted()
	if diff := cmp.Diff([]map[string]bool{{"p": true, "q": true}, {"unknown": true}}, []map[string]bool{names(claimants), names(missing)}); diff != "" {
		t.Errorf("settled, and looked for (-want +got):\n%s", diff)
	}
	if l.Over() {
		t.Error("it is over while pods may be bound")
	}
	if claimants, _ = l.wanted(); len(claimants) != 3 {
		t.Errorf("%v are settled, though a cluster is to be given up", names(claimants))
	}
}

func TestWhoWasTurnedAwayIsWokenOnceNothingIsLeft(t *testing.T) {
	l := inherited()
	none, every := func(ledger.PodRef) bool { return false }, func(ledger.PodRef) bool { return true }
	l.TurnAway(pod("q"))
	if free := l.free(every); len(free) > 0 {
		t.Error("a pod is woken while a late binding may take its seat")
	}
	l.settled("p", pod("p", version("8"), on("a")))
	if free := l.free(none); len(free) > 0 {
		t.Error("a pod is woken before the informer knows of the others")
	}
	for range wakes {
		if free := l.free(every); len(free) != 1 || free[0].Name != "q" {
			t.Fatalf("woken: %v", free)
		}
	}
	if free := l.free(every); len(free) > 0 {
		t.Error("a pod is woken for ever")
	}
}

func TestItIsOverWhenNothingIsLeft(t *testing.T) {
	l := inherited()
	l.TurnAway(pod("q"))
	l.Rest(pod("q"), shownOn("known", "unknown"))
	for _, name := range []string{"p", "q", "bare"} {
		if l.Over() {
			t.Errorf("it is over while pod %s may be bound", name)
		}
		l.settled(pod(name).UID, pod(name))
	}
	if !l.Over() || !l.Pending.Load() {
		t.Error("it is not over, or nobody asks for the pod that was turned away")
	}
	if l.Passed("q"); l.Pending.Load() {
		t.Error("something is left")
	}
}
