// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package subscription_test

import (
	"strconv"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/controllers/adviser/advisertest"
	"berth.dev/berth/pkg/controllers/internal/singleton"
)

// Thousands of Subscriptions of one namespace hold up that of another one by a hundred at most.
func TestManySubscriptionsOfOneNamespaceDoNotHoldUpAnother(t *testing.T) {
	const many, turn = 2000, 100
	w := newWorld(t)
	w.site("a", 10)
	add := func(namespace, name string) {
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
	for i := range many {
		add("loud", strconv.Itoa(i))
	}
	w.clock.Step(time.Second)
	add("quiet", "late")
	pass := func() (before int) {
		w.tracker.Invalidate()
		before = w.statusWrites
		result, err := w.r.Reconcile(t.Context(), singleton.Key{})
		if err != nil {
			t.Fatal(err)
		}
		if result.RequeueAfter == 0 {
			t.Error("no pass is due for what is left")
		}
		return before
	}
	w.r.Adviser = advisertest.New(w.t, w.client)
	pass()
	if got := w.statusWrites; got != turn+1 {
		t.Errorf("%d writes in the pass, want %d and one", got, turn)
	}
	quiet := &berthv1alpha1.Subscription{}
	if err := w.client.Get(t.Context(), client.ObjectKey{Namespace: "quiet", Name: "late"}, quiet); err != nil {
		t.Fatal(err)
	}
	if len(quiet.Status.Conditions) == 0 {
		t.Error("the Subscription of the other namespace waits")
	}
	if before := pass(); w.statusWrites-before != turn {
		t.Errorf("%d writes in the next pass, want %d", w.statusWrites-before, turn)
	}
}
