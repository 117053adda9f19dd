// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package world

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/test/internal/oracle"
)

var subscriptions = berthv1alpha1.SchemeGroupVersion.WithResource("subscriptions")

// subscription is a Subscription to Deployments that nobody else lists.
type subscription struct {
	name  string
	feeds []*workload
	// weights are those of the sites if the replicas are divided by weight, nil if by room.
	weights map[string]int64
	// bundle is true if no pod starts before all fit.
	bundle bool
	// out are the feeds that are taken out for now.
	out map[string]bool
}

// subscribe makes the Subscriptions that the seed wants, and plans what their users do. They are
// drawn by themselves, as Applications are.
func (w *World) subscribe(length time.Duration) {
	rng := rand.New(rand.NewPCG(w.seed, 3)) //nolint:gosec // it is to be the same every time
	between := func(low, high int) int { return low + rng.IntN(high-low+1) }
	weights := func() map[string]int64 {
		drawn := map[string]int64{}
		for site := range w.sites {
			drawn[siteName(site)] = int64(between(1, 5))
		}
		return drawn
	}
	for n := range rng.IntN(3) {
		s := &subscription{name: fmt.Sprintf("fed-%d", n), bundle: rng.IntN(2) == 0, out: map[string]bool{}}
		if rng.IntN(2) == 0 {
			s.weights = weights()
		}
		binpack, licences := rng.IntN(2) == 0, rng.IntN(3)/2
		for i := range between(1, 3) {
			s.feeds = append(s.feeds, &workload{name: fmt.Sprintf("%s-%d", s.name, i), replicas: int32(between(1, 5)), fed: s, licences: licences})
		}
		there := w.exists("subscription " + s.name)
		if there {
			w.create(subscriptions, s.object(binpack))
			for _, l := range s.feeds {
				w.addWorkload(l)
			}
			w.refeed(n, s, length)
		}
		for i := range between(0, 3) {
			l, replicas, at := s.feeds[rng.IntN(len(s.feeds))], int32(between(0, 8)), time.Duration(rng.Int64N(int64(length)))
			kind, what, do := "scale", fmt.Sprintf("%s is scaled to %d", l.name, replicas), func() { w.scale(l, replicas) }
			if changed := weights(); rng.IntN(3) == 0 && s.weights != nil {
				kind, what, do = "edit of a subscription", "the weights change", func() { w.reweigh(s, changed) }
			}
			if there {
				w.plan(at, kind, fmt.Sprintf("disturbance %d of %s: %s", i, s.name, what), do)
			}
		}
	}
}

func (s *subscription) object(binpack bool) *berthv1alpha1.Subscription {
	dividing := &berthv1alpha1.DividingScheduling{Type: berthv1alpha1.StaticDividingType}
	if s.weights == nil {
		dividing.Type, dividing.DynamicDividing = berthv1alpha1.DynamicDividingType, &berthv1alpha1.DynamicDividing{}
		if binpack {
			dividing.DynamicDividing.Strategy = berthv1alpha1.BinpackStrategy
		}
	}
	if s.bundle {
		dividing.Admission = berthv1alpha1.BundleAdmission
	}
	return &berthv1alpha1.Subscription{
		ObjectMeta: metav1.ObjectMeta{Name: s.name},
		Spec: berthv1alpha1.SubscriptionSpec{
			SchedulingStrategy: berthv1alpha1.DividingStrategy, DividingScheduling: dividing, Subscribers: s.subscribers(),
			Feeds: s.listed(),
		},
	}
}

// listed returns the feeds that are not taken out.
func (s *subscription) listed() []berthv1alpha1.Feed {
	var feeds []berthv1alpha1.Feed
	for _, l := range s.feeds {
		if !s.out[l.name] {
			feeds = append(feeds, berthv1alpha1.Feed{APIVersion: appsv1.SchemeGroupVersion.String(), Kind: "Deployment", Name: l.name})
		}
	}
	return feeds
}

func (s *subscription) subscribers() []berthv1alpha1.Subscriber {
	if s.weights == nil {
		return []berthv1alpha1.Subscriber{{}}
	}
	list := make([]berthv1alpha1.Subscriber, len(s.weights))
	for site := range list {
		list[site] = berthv1alpha1.Subscriber{
			ClusterAffinity: metav1.LabelSelector{MatchLabels: map[string]string{siteLabel: siteName(site)}},
			Weight:          int32(s.weights[siteName(site)]),
		}
	}
	return list
}

// sharesOfFeed returns how many replicas of a Deployment that a Subscription lists are to be at
// each site. If they are divided by room, nobody but Berth knows which shares are right: then they
// are those that it has written last, nil if there are none.
func (w *World) sharesOfFeed(l *workload) map[string]int {
	if l.fed.weights != nil {
		return oracle.Shares(l.fed.weights, int(l.replicas))
	}
	for _, policy := range w.policies {
		if owner := metav1.GetControllerOf(policy); !bySubscription(policy) || owner.Name != l.fed.name ||
			policy.Spec.ResourceSelectors[0].Name != l.name {
			continue
		}
		shares := map[string]int{}
		for _, entry := range policy.Spec.Placement.StaticWeightList {
			for _, site := range entry.ClusterNames {
				shares[site] = int(ptr.Deref(entry.Max, 0))
			}
		}
		return shares
	}
	return nil
}

// reweigh changes the weights of a Subscription.
func (w *World) reweigh(s *subscription, weights map[string]int64) {
	s.weights = weights
	w.noteSurplus()
	w.act("patch", subscriptions, s.name, "", object{"spec": object{"subscribers": s.subscribers()}})
}

// checkFeed says what must not be the case of a Deployment that a Subscription lists in the end:
// that its pods wait although they would fit, that the status lists other shares than it is to
// have, or that its pods are elsewhere.
func (w *World) checkFeed(l *workload, usage map[string]int64, say func(string, ...any)) {
	got, own := w.placed(l), w.of(l)
	bound := 0
	for _, n := range got {
		bound += n
	}
	if bound < len(own) && w.fitsFeed(l, usage) {
		say("%d pods of %s wait although there is room: %s", len(own)-bound, l.name, w.reasons(l))
	}
	found := &berthv1alpha1.Subscription{}
	if !w.server.Read(subscriptions, namespace, l.fed.name, found) {
		say("subscription %s is gone", l.fed.name)
		return
	}
	told, shares := toldOf(found, l.name), w.shares(l)
	if shares == nil || bound < len(own) || l.fed.bundle && w.short(l.fed, usage) {
		return
	}
	want := fmt.Sprint(nonzero(shares))
	if fmt.Sprint(told) != want {
		say("the status of subscription %s lists %v of %s, the shares are %s", l.fed.name, told, l.name, want)
	}
	// Where a site has no units left for its share, pods stay elsewhere.
	if l.licences == 0 && fmt.Sprint(got) != want {
		say("%s has %v, by subscription %s it is to have %s", l.name, got, l.fed.name, want)
	}
}

// short reports whether fewer units are left of a pool than the shares of a bundle lack of it, so
// that the bundle is held back. All its pods may run all the same, since before its feeds were put
// back.
func (w *World) short(s *subscription, usage map[string]int64) bool {
	lacking := map[string]int64{}
	for _, l := range s.feeds {
		got := w.placed(l)
		for site, share := range w.shares(l) {
			units := int64(max(0, share-got[site]) * l.licences)
			lacking[site] += units
			lacking["all"] += units
		}
	}
	for name, pool := range w.pools {
		if lacking[name] > max(0, pool.Capacity-usage[name]) {
			return true
		}
	}
	return false
}

// toldOf returns how many replicas of a feed each site has by the status of a Subscription.
func toldOf(s *berthv1alpha1.Subscription, name string) map[string]int {
	told := map[string]int{}
	for i := range s.Status.Feeds {
		if s.Status.Feeds[i].Name != name {
			continue
		}
		for _, entry := range s.Status.Feeds[i].Clusters {
			told[entry.Name] = int(entry.Replicas)
		}
	}
	return nonzero(told)
}

// fitsFeed reports whether pods of a feed that wait could be bound, as far as that is beyond doubt:
// they need no units, or one pool is for all sites and has enough left for all that waits.
func (w *World) fitsFeed(l *workload, usage map[string]int64) bool {
	if l.licences == 0 {
		return true
	}
	pool := w.pools["all"]
	return pool != nil && !w.sharing && pool.Capacity-usage["all"] >= w.wanting()
}

// wanting returns how many units all pods ask for that wait.
func (w *World) wanting() (sum int64) {
	for _, pod := range w.pods {
		if pod.Spec.NodeName == "" && stays(pod) {
			sum += int64(w.asks(pod))
		}
	}
	return sum
}

func nonzero(counts map[string]int) map[string]int {
	list := map[string]int{}
	for name, n := range counts {
		if n > 0 {
			list[name] = n
		}
	}
	return list
}

// bySubscription reports whether a policy is that of a Subscription, which Berth itself edits.
func bySubscription(policy *berthv1alpha1.PropagationPolicy) bool {
	owner := metav1.GetControllerOf(policy)
	return owner != nil && owner.Kind == "Subscription" && strings.HasPrefix(owner.APIVersion, berthv1alpha1.GroupName)
}
