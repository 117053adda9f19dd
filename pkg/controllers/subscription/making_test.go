// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package subscription_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/controllers/adviser"
	"berth.dev/berth/pkg/controllers/adviser/advisertest"
	"berth.dev/berth/pkg/controllers/internal/singleton"
	"berth.dev/berth/pkg/placement/promise"
	"berth.dev/berth/pkg/simulator"
)

// promised returns how many replicas are divided.
func (w *world) promised(name string) (total int32) {
	w.t.Helper()
	for _, f := range w.get(name).Status.Feeds {
		for _, c := range f.Clusters {
			total += c.Replicas
		}
	}
	return total
}

// Promises end that nobody comes for: what another Subscription waits for is free again.
func TestPromisesEnd(t *testing.T) {
	tests := map[string]struct {
		// happens is what happens to web, which wants 6 and has 2 pods, of which one runs in b.
		happens    func(w *world)
		after      time.Duration
		wantWeb    int32
		wantOther  int32
		wantReason string
	}{
		"its pods are on their way": {func(*world) {}, 0, 6, 2, "AllPlaced"},
		"it is scaled to 0":         {func(w *world) { w.deploy("web", 0); w.stop("web", "b", 1) }, 0, 0, 6, "AllPlaced"},
		"it is deleted": {func(w *world) {
			if err := w.client.Delete(w.t.Context(), &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "web"}}); err != nil {
				w.t.Fatal(err)
			}
			w.stop("web", "b", 1)
		}, 0, 0, 6, "FeedsUnknown"},
		"a quota forbids more": {func(*world) {}, 5 * time.Minute, 2, 6, "PodsNotMade"},
		"more are made, but not all": {func(w *world) {
			w.clock.Step(4 * time.Minute)
			w.pend("web", 1)
			w.pass()
		}, 4 * time.Minute, 6, 2, "AllPlaced"},
		"those that are made are gated": {func(w *world) {
			for range 4 {
				pod := w.newPod("web")
				pod.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "example.com/later"}}
				w.create(pod)
			}
		}, 5 * time.Minute, 2, 6, "PodsNotMade"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.site("a", 4)
			w.site("b", 4)
			w.deploy("web", 6)
			w.subscribe("shop", []string{"web"})
			w.pass()
			w.run("web", "b", 1)
			w.pend("web", 1)
			w.deploy("db", 6)
			w.pend("db", 6)
			w.subscribe("other", []string{"db"})
			w.pass()
			tc.happens(w)
			w.clock.Step(tc.after)
			w.pass()
			if got := w.promised("shop"); got != tc.wantWeb {
				t.Errorf("web has %d shares, want %d: %s", got, tc.wantWeb, w.told("shop"))
			}
			if got := w.promised("other"); got != tc.wantOther {
				t.Errorf("db has %d shares, want %d: %s", got, tc.wantOther, w.told("other"))
			}
			w.want("Scheduled", w.reason("shop", "Scheduled"), tc.wantReason)
		})
	}
}

// TestRoomComesFreeByItself has somebody wait for room that is kept for pods which never come.
// Nothing changes but the time: the controller looks again when it said that it would.
func TestRoomComesFreeByItself(t *testing.T) {
	tests := map[string]struct {
		// made is how many of the four pods there are, all of which run, and change what is divided.
		made    int
		change  change
		wantWeb string
		wantDB  string
	}{
		"the ReplicaSet controller is down":           {0, func(*berthv1alpha1.Subscription) {}, "web -4", "db a=3"},
		"a quota forbids more pods":                   {1, func(*berthv1alpha1.Subscription) {}, "web a=1 -3", "db a=3"},
		"the ReplicaSet controller is down, a bundle": {0, bundle, "web -4", "db a=3"},
		"a quota forbids more pods, a bundle":         {1, bundle, "web a=1 -3", "db a=3"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.site("a", 4)
			w.deploy("web", 4)
			w.subscribe("shop", []string{"web"}, tc.change)
			w.pass()
			w.run("web", "a", tc.made)
			w.pass()
			w.deploy("db", 3)
			w.pend("db", 3)
			w.subscribe("other", []string{"db"}, tc.change)
			begin := w.clock.Now()
			w.pass()
			w.want("what is kept for web", w.told("shop"), "web a=4")
			w.want("what db gets beside that", w.told("other"), "db -3")
			for passes := 0; w.told("other") != tc.wantDB; passes++ {
				result, err := w.r.Reconcile(t.Context(), singleton.Key{})
				if err != nil || result.RequeueAfter == 0 || passes > 100 || w.clock.Since(begin) > promise.DefaultLife {
					t.Fatalf("after %v and %d passes the next one is due in %v (%v), db has %q", w.clock.Since(begin), passes, result.RequeueAfter, err, w.told("other"))
				}
				w.clock.Step(result.RequeueAfter)
				w.pass()
			}
			w.want("what web keeps", w.told("shop"), tc.wantWeb)
		})
	}
}

func TestAPromiseThatHasEnded(t *testing.T) {
	w := newWorld(t)
	w.site("a", 9)
	w.deploy("web", 6)
	w.subscribe("shop", []string{"web"})
	w.pass()
	w.run("web", "a", 2)
	w.pass()
	if expires := w.get("shop").Status.Feeds[0].ExpirationTime; expires == nil || expires.Sub(w.clock.Now()) > 5*time.Minute {
		t.Errorf("room is kept until %v, want at most five minutes", expires)
	}
	w.clock.Step(3 * time.Minute)
	w.restart()
	w.pass()
	w.want("the status after a restart", w.told("shop"), "web a=6")
	w.clock.Step(2 * time.Minute)
	w.pass()
	w.want("the status", w.told("shop"), "web a=2 -4")
	message := "nobody has made 4 of the 6 pods of Deployment web for 5m0s, so no room is kept for them"
	w.want("Scheduled", w.message("shop", "Scheduled"), message)
	w.want("the message of the feed", w.get("shop").Status.Feeds[0].Message, message)
	w.want("Degraded", w.reason("shop", "Degraded"), "PlacesKept")
	w.restart()
	w.pass()
	w.want("the status after another restart", w.told("shop"), "web a=2 -4")
	w.pend("web", 4)
	w.pass()
	w.want("the status once there are pods", w.told("shop"), "web a=6")
	if expires := w.get("shop").Status.Feeds[0].ExpirationTime; expires != nil {
		t.Errorf("room is kept until %v, though all have a pod", expires)
	}
}

func TestABundleThatNobodyMakesHoldsNothing(t *testing.T) {
	w := newWorld(t)
	w.site("a", 6)
	w.deploy("web", 4)
	w.deploy("db", 4)
	w.subscribe("first", []string{"web"}, bundle)
	w.subscribe("second", []string{"db"}, bundle)
	w.pend("db", 4)
	w.pass()
	w.want("the first", w.told("first"), "web a=4")
	w.want("the second", w.told("second"), "db -4")
	w.clock.Step(5 * time.Minute)
	w.pass()
	w.want("the first without pods", w.told("first"), "web -4")
	w.want("why", w.message("first", "Scheduled"), "the bundle waits for Deployment web: 4 of 4 pods are not made")
	w.want("the second", w.told("second"), "db a=4")
	w.clock.Step(time.Hour)
	w.run("db", "a", 4)
	w.pend("web", 4)
	w.pass()
	w.want("the first once it has pods", w.message("first", "Scheduled"),
		"the bundle waits for room: 2 of 4 replicas of Deployment web find none (Cluster a: 0/1 nodes are available: 1 Insufficient cpu)")
}

func TestABundleThatWantedNothingIsAdmittedAnew(t *testing.T) {
	w := newWorld(t)
	w.site("a", 6)
	w.deploy("web", 4)
	w.subscribe("shop", []string{"web"}, bundle)
	w.pass()
	w.want("the status", w.told("shop"), "web a=4")
	w.deploy("web", 0)
	w.pass()
	w.want("the status of nothing", w.told("shop"), "web")
	w.deploy("web", 8)
	w.pass()
	w.want("the status of more than fits", w.told("shop"), "web -8")
	if w.get("shop").Status.Pledge != nil {
		t.Error("the bundle is still admitted")
	}
}

func TestWhatIsPromisedIsNotOfferedToOthers(t *testing.T) {
	w := newWorld(t)
	w.site("a", 6)
	w.deploy("web", 4)
	w.subscribe("shop", []string{"web"})
	w.pass()
	sample := w.newPod("other")
	room := func(a *adviser.Adviser) (copies int) {
		t.Helper()
		if err := a.Ask(t.Context(), nil, func(s *simulator.Snapshot) error {
			found, err := s.Room(context.Background(), "a", sample, 100)
			copies = found.Copies
			return err
		}); err != nil {
			t.Fatal(err)
		}
		return copies
	}
	if got := room(w.r.Adviser); got != 2 {
		t.Errorf("there is room for %d others, want 2", got)
	}
	// Somebody else's promise counts for the Subscription, but for one to its own workload.
	w.r.Adviser = advisertest.New(t, w.client)
	w.r.Adviser.Promise("mover", []adviser.Promise{{Cluster: "a", Pod: sample, Copies: 1}})
	w.deploy("web", 6)
	w.again()
	w.want("the status beside another promise", w.told("shop"), "web a=5 -1")
	s := w.get("shop")
	if err := w.client.Delete(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	w.again()
	if got := room(w.r.Adviser); got != 5 {
		t.Errorf("there is room for %d without the Subscription, want 5", got)
	}
}

// Somebody else asks while the Subscription is divided: whoever comes second gets what is left.
func TestRoomIsPromisedOnceAlthoughSomebodyAsksMeanwhile(t *testing.T) {
	const room, wanted, rounds = 6, 4, 20
	for round := range rounds {
		w := newWorld(t)
		w.site("a", room)
		w.deploy("web", wanted)
		w.subscribe("shop", []string{"web"})
		sample := w.newPod("other")
		w.r.Adviser = advisertest.New(t, w.client)
		var rival sync.WaitGroup
		got := 0
		rival.Go(func() {
			if err := w.r.Adviser.Reserve(t.Context(), "rival", nil, func(s *simulator.Snapshot) ([]adviser.Promise, error) {
				found, err := s.Room(t.Context(), "a", sample, wanted)
				got = found.Copies
				return []adviser.Promise{{Cluster: "a", Pod: sample, Copies: got}}, err
			}); err != nil {
				t.Error(err)
			}
		})
		w.again()
		rival.Wait()
		told := w.told("shop")
		first := told == fmt.Sprintf("web a=%d", wanted) && got == room-wanted
		second := told == fmt.Sprintf("web a=%d -%d", room-wanted, 2*wanted-room) && got == wanted
		if !first && !second {
			t.Fatalf("round %d: the Subscription is told %q, and somebody else gets room for %d of %d", round, told, got, room)
		}
	}
}
