// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package subscription_test

import (
	"testing"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

func listingRelease(s *berthv1alpha1.Subscription) {
	s.Spec.Feeds = append(s.Spec.Feeds, berthv1alpha1.Feed{HelmRelease: "store"})
}

// releaseHas notes what a Helm release has, as the controller of FeedInventories does.
func (w *world) releaseHas(name string, deployments ...string) {
	w.t.Helper()
	s := w.get(name)
	release := berthv1alpha1.HelmRelease{Name: "store"}
	for _, d := range deployments {
		release.Objects = append(release.Objects, deployment(d))
	}
	s.Status.HelmReleases = []berthv1alpha1.HelmRelease{release}
	if err := w.client.Status().Update(w.t.Context(), s); err != nil {
		w.t.Fatal(err)
	}
}

// The objects of a Helm release are divided like feeds, and follow the release.
func TestHelmReleaseIsDivided(t *testing.T) {
	w := newWorld(t)
	w.site("a", 10)
	w.site("b", 10)
	for _, name := range []string{"cache", "web", "queue"} {
		w.deploy(name, 5)
	}
	w.subscribe("shop", []string{"cache"}, static(map[string]int32{"a": 2, "b": 3}), listingRelease)
	w.pass()
	w.want("what is told", w.told("shop"), "cache a=2 b=3, ")
	w.want("the message", w.message("shop", berthv1alpha1.SubscriptionScheduled),
		"Helm release store: it is not known yet which objects the Helm release has")

	w.releaseHas("shop", "web")
	w.pass()
	w.want("the reason", w.reason("shop", berthv1alpha1.SubscriptionScheduled), berthv1alpha1.ReasonAllPlaced)
	w.want("the policy", w.policy("shop", "web"), "*: a=2 b=3")
	w.want("the release of web", w.get("shop").Status.Feeds[1].HelmRelease, "store")
	if feeds := w.get("shop").Spec.Feeds; len(feeds) != 2 || feeds[1].HelmRelease != "store" {
		t.Errorf("the spec has become %v", feeds)
	}

	w.releaseHas("shop", "queue")
	w.pass()
	w.want("the policy of what the release has lost", w.policy("shop", "web"), "none")
	w.want("the policy of what it has got", w.policy("shop", "queue"), "*: a=2 b=3")

	w.releaseHas("shop")
	w.pass()
	w.want("the reason", w.reason("shop", berthv1alpha1.SubscriptionScheduled), berthv1alpha1.ReasonFeedsUnknown)
	w.want("the message", w.message("shop", berthv1alpha1.SubscriptionScheduled), "Helm release store: the Helm release has no object")
	w.want("the policy of the feed beside it", w.policy("shop", "cache"), "*: a=2 b=3")
}

// What one pass has written of a release does not come back with the next one, although the cache
// lags behind.
func TestHelmReleaseWithALateCache(t *testing.T) {
	w := newWorld(t)
	w.site("a", 10)
	w.deploy("web", 5)
	w.subscribe("shop", nil, static(map[string]int32{"a": 1}), listingRelease)
	w.releaseHas("shop", "web")
	w.stale = &berthv1alpha1.SubscriptionList{Items: []berthv1alpha1.Subscription{*w.get("shop")}}
	w.pass()
	w.again()
	if feeds := w.get("shop").Spec.Feeds; len(feeds) != 1 || feeds[0].Kind != "" {
		t.Errorf("the spec has become %v", feeds)
	}
	w.want("the reason", w.reason("shop", berthv1alpha1.SubscriptionScheduled), berthv1alpha1.ReasonAllPlaced)
	if w.statusWrites != 1 {
		t.Errorf("%d writes, want one", w.statusWrites)
	}
}
