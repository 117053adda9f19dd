// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package subscription_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

func TestTwoBundlesThatOnlyFitAlone(t *testing.T) {
	w := newWorld(t)
	w.site("a", 4)
	w.site("b", 4)
	for _, name := range []string{"web", "db", "cache", "queue"} {
		w.deploy(name, 3)
	}
	w.subscribe("first", []string{"web", "db"}, bundle)
	w.subscribe("second", []string{"cache", "queue"}, bundle)
	w.pass()
	w.want("Scheduled of the first", w.reason("first", "Scheduled"), "AllPlaced")
	w.want("the second", w.told("second"), "cache -3, queue -3")
	w.want("Scheduled of the second", w.reason("second", "Scheduled"), "BundleWaits")
	w.want("a policy of the second", w.policy("second", "cache"), "none")
	if w.get("first").Status.Pledge == nil || w.get("second").Status.Pledge != nil {
		t.Fatalf("pledges are %v and %v", w.get("first").Status.Pledge, w.get("second").Status.Pledge)
	}

	w.restart()
	w.pass()
	w.want("the second after a restart", w.told("second"), "cache -3, queue -3")
	w.runAsDivided("first")
	w.pass()
	w.want("the second while the first runs", w.told("second"), "cache -3, queue -3")

	w.deploy("web", 0)
	w.deploy("db", 0)
	for _, f := range w.get("first").Status.Feeds {
		for _, c := range f.Clusters {
			w.stop(f.Name, c.Name, int(c.Replicas))
		}
	}
	w.pass()
	w.want("Scheduled of the second when there is room", w.reason("second", "Scheduled"), "AllPlaced")
}

func TestBundlesAreAdmittedByPriority(t *testing.T) {
	w := newWorld(t)
	w.site("a", 4)
	w.deploy("web", 3)
	w.deploy("db", 3)
	w.subscribe("old", []string{"web"}, bundle)
	w.subscribe("vip", []string{"db"}, bundle, func(s *berthv1alpha1.Subscription) { s.Spec.Priority = new(int32(1)) })
	w.pass()
	w.want("the one with priority", w.told("vip"), "db a=3")
	w.want("the older one", w.told("old"), "web -3")
}

func TestABundleWaitsForAllItsFeeds(t *testing.T) {
	w := newWorld(t)
	w.site("a", 9)
	w.deploy("web", 3)
	w.subscribe("shop", []string{"web", "ghost"}, bundle, static(map[string]int32{"a": 1}), func(s *berthv1alpha1.Subscription) {
		s.Spec.DividingScheduling.Admission = berthv1alpha1.BundleAdmission
		s.Spec.Feeds = s.Spec.Feeds[:1]
	})
	w.pass()
	w.want("a static bundle that fits", w.told("shop"), "web a=3")

	w.deploy("big", 99)
	w.subscribe("large", []string{"big"}, static(map[string]int32{"a": 1}), func(s *berthv1alpha1.Subscription) {
		s.Spec.DividingScheduling.Admission = berthv1alpha1.BundleAdmission
	})
	w.pass()
	w.want("a static bundle that does not fit", w.told("large"), "big -99")
	w.want("its policy", w.policy("large", "big"), "none")
}

func TestAnAdmissionLapsesIfNothingStarts(t *testing.T) {
	w := newWorld(t)
	w.site("a", 4)
	w.deploy("web", 3)
	w.deploy("db", 3)
	w.subscribe("first", []string{"web"}, bundle)
	w.subscribe("second", []string{"db"}, bundle, func(s *berthv1alpha1.Subscription) { s.Spec.Priority = new(int32(1)) })
	// The second has the higher priority, but comes when the first is admitted.
	second := w.get("second")
	if err := w.client.Delete(t.Context(), second); err != nil {
		t.Fatal(err)
	}
	w.pass()
	w.want("the first", w.told("first"), "web a=3")
	second.ResourceVersion = ""
	w.create(second)
	w.pass()
	w.want("the second", w.told("second"), "db -3")
	w.pend("web", 3)
	w.pend("db", 3)
	w.clock.Step(6 * time.Minute)
	w.pass()
	w.want("the second after the pledge to the first has ended", w.told("second"), "db a=3")
	w.want("the first after its pledge has ended", w.told("first"), "web -3")
	w.want("its policy", w.policy("first", "web"), "none")
	w.runAsDivided("second")
	w.clock.Step(time.Hour)
	w.pass()
	w.want("a bundle that runs", w.told("second"), "db a=3")
}

func TestABundleThatDoesNotFitLetsLaterOnesPass(t *testing.T) {
	w := newWorld(t)
	w.site("a", 4)
	for name, replicas := range map[string]int32{"web": 3, "db": 3, "cache": 4} {
		w.deploy(name, replicas)
	}
	w.subscribe("large", []string{"web", "db"}, bundle)
	w.subscribe("small", []string{"cache"}, bundle)
	w.pass()
	w.want("the large one", w.told("large"), "web -3, db -3")
	w.want("the small one", w.told("small"), "cache a=4")
}

func TestANodeLostAfterAdmissionIsTold(t *testing.T) {
	lose := func(w *world, name string) {
		t.Helper()
		node := &corev1.Node{}
		if err := w.client.Get(t.Context(), client.ObjectKey{Name: name}, node); err != nil {
			t.Fatal(err)
		}
		node.Status.Conditions[0].Status = corev1.ConditionFalse
		if err := w.client.Status().Update(t.Context(), node); err != nil {
			t.Fatal(err)
		}
		w.pass()
	}
	// Cluster a has two nodes: it stays open when one of them is lost.
	twoNodes := func(t *testing.T) *world {
		t.Helper()
		w := newWorld(t)
		w.site("b", 3)
		w.site("a", 2)
		c := &berthv1alpha1.Cluster{}
		if err := w.client.Get(t.Context(), client.ObjectKey{Name: "a"}, c); err != nil {
			t.Fatal(err)
		}
		c.Spec.Nodes = []string{"a-1", "b-1"}
		if err := w.client.Update(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		if err := w.client.Delete(t.Context(), &berthv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "b"}}); err != nil {
			t.Fatal(err)
		}
		w.deploy("web", 5)
		return w
	}
	tests := map[string]change{
		"by room": bundle,
		"by weight": func(s *berthv1alpha1.Subscription) {
			static(map[string]int32{"a": 1})(s)
			s.Spec.DividingScheduling.Admission = "Bundle"
		},
	}
	for name, strategy := range tests {
		t.Run(name, func(t *testing.T) {
			w := twoNodes(t)
			w.subscribe("shop", []string{"web"}, strategy)
			w.pass()
			w.want("the status", w.told("shop"), "web a=5")
			w.run("web", "a", 2)
			w.run("web", "b", 3)
			w.pass()
			w.want("Degraded while all runs", w.reason("shop", "Degraded"), "PlacesKept")
			lose(w, "b-1")
			w.want("Degraded while pods linger", w.reason("shop", "Degraded"), "NodeLost")
			w.stop("web", "b", 3)
			w.pass()
			w.want("Degraded without their pods", w.reason("shop", "Degraded"), "RoomLost")
			w.want("Scheduled without their pods", w.reason("shop", "Scheduled"), "NoRoom")
			w.site("c", 9)
			c := &berthv1alpha1.Cluster{}
			if err := w.client.Get(t.Context(), client.ObjectKey{Name: "a"}, c); err != nil {
				t.Fatal(err)
			}
			if err := w.client.Delete(t.Context(), &berthv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "c"}}); err != nil {
				t.Fatal(err)
			}
			c.Spec.Nodes = append(c.Spec.Nodes, "c-1")
			if err := w.client.Update(t.Context(), c); err != nil {
				t.Fatal(err)
			}
			w.pass()
			w.want("Degraded with another node", w.reason("shop", "Degraded"), "PlacesKept")
			w.want("Scheduled with another node", w.reason("shop", "Scheduled"), "AllPlaced")
		})
	}
}
