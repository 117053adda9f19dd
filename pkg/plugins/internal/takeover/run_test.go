// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package takeover

import (
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	kubefake "k8s.io/client-go/kubernetes/fake"
	"k8s.io/utils/clock"
)

// informer is what an informer knows, and who was woken.
type informer struct {
	mu     sync.Mutex
	known  map[string]*corev1.Pod
	woken  []string
	wakeUp int
}

func (i *informer) pod(_, name string) *corev1.Pod {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.known[name]
}

func (i *informer) learn(pods ...*corev1.Pod) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, p := range pods {
		i.known[p.Name] = p
	}
}

func (i *informer) wake(pods []*corev1.Pod) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.wakeUp++
	for _, p := range pods {
		i.woken = append(i.woken, p.Name)
	}
}

// expect compares who has been woken so far.
func (i *informer) expect(t *testing.T, when string, want ...string) {
	t.Helper()
	i.mu.Lock()
	defer i.mu.Unlock()
	if diff := cmp.Diff(want, i.woken); diff != "" || i.wakeUp != len(want) {
		t.Errorf("%s: woken %d times (-want +got):\n%s", when, i.wakeUp, diff)
	}
}

// The world behind inherited: nothing has been bound that the list does not show.
func behind() *kubefake.Clientset {
	return kubefake.NewClientset(pod("p"), pod("q"), pod("bare", bare), pod("known", on("a")), pod("unknown", on("b")))
}

func TestThePodsOfAPredecessorAreSettledAndWhoWaitsIsWoken(t *testing.T) {
	for name, tc := range map[string]struct {
		// unknown is what becomes known of the pod that the informer lacks.
		unknown func(*informer, *kubefake.Clientset)
	}{
		"the informer learns of what was bound": {func(i *informer, _ *kubefake.Clientset) { i.learn(pod("unknown", on("b"))) }},
		"what was bound has gone": {func(_ *informer, api *kubefake.Clientset) {
			_ = api.Tracker().Delete(corev1.SchemeGroupVersion.WithResource("pods"), "default", "unknown")
		}},
		"what was bound has ended, as the informer knows": {func(i *informer, _ *kubefake.Clientset) {
			i.learn(pod("unknown", on("b"), func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed }))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l, api, news := inherited(), behind(), &informer{known: map[string]*corev1.Pod{}}
				// It has the name of one that was bound, and is another; one that waits is not bound.
				impostor := pod("unknown", on("b"))
				impostor.UID = "another"
				news.learn(impostor, pod("p"), pod("known", on("a")))
				done := make(chan struct{})
				var settled atomic.Bool
				go func() {
					defer close(done)
					l.Run(t.Context(), &Background{
						Client: api, Clock: clock.RealClock{}, Pod: news.pod, Wake: news.wake, Settled: func() { settled.Store(true) },
					})
				}()
				synctest.Wait()
				l.TurnAway(pod("q"))
				time.Sleep(3 * interval) //nolint:forbidigo // the time of the test is not the real one
				news.expect(t, "while a pod is bound that the informer lacks")
				tc.unknown(news, api)
				time.Sleep(5 * interval) //nolint:forbidigo // the time of the test is not the real one
				news.expect(t, "once it is known", "q", "q", "q")
				if settled.Load() || l.Over() {
					t.Error("it is over while the pod without a controller may be bound")
				}
				time.Sleep(interval) //nolint:forbidigo // the time of the test is not the real one
				if !settled.Load() || !l.Over() {
					t.Error("it is not over once everything has been settled")
				}
				l.Gone("unknown")
				time.Sleep(2 * freshPasses * interval) //nolint:forbidigo // the time of the test is not the real one
				select {
				case <-done:
				default:
					t.Error("it goes on though nothing is left")
				}
			})
		})
	}
}

// Nobody waits for the pods when a cluster is to be given up, which is asked for between two looks.
func TestAClusterThatIsToBeGivenUpIsNotWaitedForUntilTheNextLook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, news := inherited(), &informer{known: map[string]*corev1.Pod{}}
		news.learn(pod("p"), pod("q"), pod("known", on("a")), pod("bare", bare))
		go l.Run(t.Context(), &Background{
			Client: behind(), Clock: clock.RealClock{}, Pod: news.pod, Wake: news.wake, Settled: func() {},
		})
		synctest.Wait()
		if l.Over() {
			t.Fatal("it is over while pods may be bound")
		}
		began := time.Now()
		time.Sleep(interval / 2) //nolint:forbidigo // the time of the test is not the real one
		if !l.Over() {
			t.Errorf("it is not over %v after that was asked for", time.Since(began))
		}
	})
}

func TestTheListIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, news := NewLate(), &informer{known: map[string]*corev1.Pod{}}
		settled := 0
		go l.Run(t.Context(), &Background{
			Client: behind(), Clock: clock.RealClock{}, Pod: news.pod, Wake: news.wake, Settled: func() { settled++ },
		})
		l.TurnAway(pod("q"))
		time.Sleep(2 * freshPasses * interval) //nolint:forbidigo // the time of the test is not the real one
		news.expect(t, "before the list was read")
		if !l.Pending.Load() || settled > 0 {
			t.Error("nothing is left before the list was read")
		}
		l.Skip()
		if !l.Rest(pod("q"), shownOn()).Listed {
			t.Error("the list is waited for though there is none")
		}
	})
}

func TestSomethingIsLeftWhileAnyPodIs(t *testing.T) {
	for name, tc := range map[string]struct {
		turnedAway, open []string
	}{
		"one is turned away, one may be bound": {turnedAway: []string{"q"}, open: []string{"p"}},
		"one is turned away":                   {turnedAway: []string{"q"}},
		"one may be bound":                     {open: []string{"p"}},
	} {
		t.Run(name, func(t *testing.T) {
			l := NewLate()
			for _, name := range tc.open {
				l.Read(pod(name), true)
			}
			for _, name := range tc.turnedAway {
				l.TurnAway(pod(name))
			}
			l.End()
			names := slices.Concat(tc.open, tc.turnedAway)
			for i, name := range names {
				if l.Passed("somebody"); !l.Pending.Load() {
					t.Errorf("nothing is left, with %d pods to go", len(names)-i)
				}
				l.Gone(types.UID(name))
			}
			if l.Pending.Load() {
				t.Error("something is left of pods that have gone")
			}
		})
	}
}
