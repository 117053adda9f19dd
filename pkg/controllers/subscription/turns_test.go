// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package subscription_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/controllers/adviser/advisertest"
	"berth.dev/berth/pkg/controllers/internal/singleton"
)

// listed makes a Subscription of a namespace that lists what nobody has.
func (w *world) listed(namespace, name string) {
	w.t.Helper()
	w.create(&berthv1alpha1.Subscription{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: name, UID: types.UID(namespace + name), Generation: 1,
			CreationTimestamp: metav1.NewTime(w.clock.Now()),
		},
		Spec: berthv1alpha1.SubscriptionSpec{
			SchedulingStrategy: berthv1alpha1.ReplicationStrategy,
			Subscribers:        []berthv1alpha1.Subscriber{{}}, Feeds: []berthv1alpha1.Feed{deployment("web")},
		},
	})
}

// turn makes one pass after the pause of namespaces that have had their turns, and returns how many
// writes were tried and when the next pass is due.
func (w *world) turn() (writes int, next time.Duration) {
	w.t.Helper()
	w.clock.Step(time.Second)
	w.tracker.Invalidate()
	before := w.statusWrites
	w.r.Later(func(pause time.Duration) { next = pause })
	result, err := w.r.Reconcile(w.t.Context(), singleton.Key{})
	if failed := w.refuse != nil; (err != nil) != failed {
		w.t.Fatalf("error %v, want one: %t", err, failed)
	}
	return w.statusWrites - before, max(next, result.RequeueAfter)
}

// fullTurns makes passes in which as much is written as may be: a namespace that has rested has its
// turns at once, and then a few a second. The next pass is due after a pause.
func (w *world) fullTurns(n int) {
	w.t.Helper()
	want := atOnce
	for range n {
		if writes, next := w.turn(); writes != want || next < 100*time.Millisecond {
			w.t.Errorf("%d writes, and the next pass after %v; want %d, and a pause", writes, next, want)
		}
		want = perSecond
	}
}

// carriedOut reports whether a Subscription has had its turn.
func (w *world) carriedOut(namespace, name string) bool {
	w.t.Helper()
	s := &berthv1alpha1.Subscription{}
	if err := w.client.Get(w.t.Context(), client.ObjectKey{Namespace: namespace, Name: name}, s); err != nil {
		w.t.Fatal(err)
	}
	return len(s.Status.Conditions) > 0
}

// These are how many Subscriptions of a namespace are written when it has rested, and then.
const atOnce, perSecond = 100, 10

// Many Subscriptions of one namespace hold up that of another one by a hundred at most,
// also if it comes while they are written.
func TestManySubscriptionsOfOneNamespaceDoNotHoldUpAnother(t *testing.T) {
	const many = 500
	w := newWorld(t)
	w.site("a", 10)
	for i := range many {
		w.listed("loud", strconv.Itoa(i))
	}
	w.r.Adviser = advisertest.New(w.t, w.client)
	if writes, next := w.turn(); writes != atOnce || next != time.Second {
		t.Errorf("%d writes in the first pass, and the next one after %v; want %d, and a second", writes, next, atOnce)
	}
	w.listed("quiet", "early")
	w.clock.Step(-time.Second)
	if writes, next := w.turn(); writes != 1 || next != time.Second {
		t.Errorf("%d writes while the loud one rests, and the next pass after %v; want one, and a second", writes, next)
	}
	w.listed("quiet", "late")
	if writes, _ := w.turn(); writes != perSecond+1 {
		t.Errorf("%d writes in the pass, want %d and one", writes, perSecond)
	}
	if !w.carriedOut("quiet", "late") {
		t.Error("the Subscription of the other namespace waits")
	}
	w.clock.Step(time.Hour)
	if writes, next := w.turn(); writes != atOnce || next != time.Second {
		t.Errorf("%d writes after a rest, and the next pass after %v; want %d, and a second", writes, next, atOnce)
	}
}

// Subscriptions that cannot be written hold up the others of their namespace by one turn, and have
// turns themselves.
func TestThoseThatFailDoNotHoldUpTheRest(t *testing.T) {
	const failing = atOnce + 3*perSecond - 1
	w := newWorld(t)
	w.site("a", 10)
	for i := range failing {
		w.listed("loud", "fails-"+strconv.Itoa(i))
	}
	w.clock.Step(time.Second)
	w.listed("loud", "works")
	tried := map[string]bool{}
	w.refuse = func(o client.Object) bool {
		tried[o.GetName()] = true
		return strings.HasPrefix(o.GetName(), "fails-")
	}
	w.r.Adviser = advisertest.New(w.t, w.client)
	w.fullTurns(4)
	if !w.carriedOut("loud", "works") {
		t.Error("a Subscription waits for those that fail")
	}
	if len(tried) != failing+1 {
		t.Errorf("%d Subscriptions have had a turn, want %d", len(tried), failing+1)
	}
	clear(tried)
	w.clock.Step(time.Hour)
	w.fullTurns(4)
	if len(tried) != failing {
		t.Errorf("%d Subscriptions are tried again, want all %d", len(tried), failing)
	}
	w.refuse = nil
	w.clock.Step(time.Hour)
	for range 4 {
		w.turn()
	}
	if writes, next := w.turn(); writes != 0 || next != 0 {
		t.Errorf("%d writes, and the next pass after %v, when all are written", writes, next)
	}
}

// A Subscription that has never been written has its turn although others of its namespace, which
// come before it, change all the time.
func TestThoseThatChangeAllTheTimeDoNotHoldUpTheRest(t *testing.T) {
	w := newWorld(t)
	w.site("a", 10)
	changing := make([]string, perSecond)
	for i := range changing {
		changing[i] = "changes-" + strconv.Itoa(i)
		w.listed("loud", changing[i])
	}
	w.clock.Step(time.Second)
	for i := range atOnce {
		w.listed("loud", "z-"+strconv.Itoa(i))
	}
	w.r.Adviser = advisertest.New(w.t, w.client)
	w.turn()
	for range 2 {
		for _, name := range changing {
			w.relist("loud", name)
		}
		w.turn()
	}
	for i := range atOnce {
		if name := "z-" + strconv.Itoa(i); !w.carriedOut("loud", name) {
			t.Fatalf("%s waits for those that change all the time", name)
		}
	}
}

// relist lets a Subscription list something else.
func (w *world) relist(namespace, name string) {
	w.t.Helper()
	s := &berthv1alpha1.Subscription{}
	if err := w.client.Get(w.t.Context(), client.ObjectKey{Namespace: namespace, Name: name}, s); err != nil {
		w.t.Fatal(err)
	}
	s.Generation++
	s.Spec.Feeds = []berthv1alpha1.Feed{deployment("web-" + strconv.FormatInt(s.Generation, 10))}
	if err := w.client.Update(w.t.Context(), s); err != nil {
		w.t.Fatal(err)
	}
}

// The events of pods that wait are read for some feeds of a namespace in one pass, and for the rest
// later.
func TestReadsOfEventsAreBounded(t *testing.T) {
	const feeds, most = 50, 20
	w := newWorld(t)
	w.site("b", 110)
	names := make([]string, feeds)
	for i := range names {
		names[i] = "web" + strconv.Itoa(i)
		w.deploy(names[i], 1)
	}
	w.subscribe("shop", names)
	w.pass()
	for _, name := range names {
		w.wait(name+"-x", ofDeployment(name))
	}
	w.pass()
	w.clock.Step(30 * time.Second)
	for _, want := range []int{most, 2 * most, feeds} {
		w.pass()
		if w.eventReads != want {
			t.Errorf("events of %d pods are read by now, want %d", w.eventReads, want)
		}
	}
}
