// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package subscription_test

import (
	"testing"
	"time"

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
