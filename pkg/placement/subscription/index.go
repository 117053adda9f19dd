// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package subscription is the one home of what a Subscription says: which Subscription places a
// workload, by what strategy it divides replicas, what its policies are called, and what keeps the
// pods of a feed from being scheduled. The controller that writes the policies, the scheduler that
// waits for them, and the CLI ask it.
package subscription

import (
	"cmp"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/placement/divide"
	"berth.dev/berth/pkg/placement/names"
)

// StrategyOf returns by what a Subscription divides.
func StrategyOf(spec *berthv1alpha1.SubscriptionSpec) divide.Strategy {
	dividing := spec.DividingScheduling
	switch spec.SchedulingStrategy {
	case berthv1alpha1.DynamicDividingStrategy:
	case berthv1alpha1.DividingStrategy:
		if dividing == nil || dividing.Type != berthv1alpha1.DynamicDividingType {
			return divide.Static
		}
	default:
		return divide.Replication
	}
	if dividing != nil && dividing.DynamicDividing != nil &&
		dividing.DynamicDividing.Strategy == berthv1alpha1.BinpackStrategy {
		return divide.Binpack
	}
	return divide.Spread
}

// ByRoom reports whether a Subscription divides by free capacity.
func ByRoom(spec *berthv1alpha1.SubscriptionSpec) bool {
	return StrategyOf(spec).ByRoom()
}

// Bundled reports whether the feeds of a Subscription are admitted all at once.
func Bundled(spec *berthv1alpha1.SubscriptionSpec) bool {
	return StrategyOf(spec) != divide.Replication && spec.DividingScheduling != nil &&
		spec.DividingScheduling.Admission == berthv1alpha1.BundleAdmission
}

// policyName is how the names of policies are made.
var policyName = names.Form{Keep: 200, Trim: "-.", Hash: names.FNV}

// PolicyName returns the name of the PropagationPolicy that a Subscription writes for a feed.
func PolicyName(subscription string, feed *berthv1alpha1.Feed) string {
	kind := schema.FromAPIVersionAndKind(feed.APIVersion, feed.Kind)
	identity := strings.Join([]string{subscription, kind.Group, kind.Kind, feed.Name, ""}, "\x00")
	return policyName.Hashed(subscription+"-"+feed.Name, identity)
}

// Compare orders Subscriptions that wait for room: larger priorities first, then the older ones,
// then by UID.
func Compare(a, b *berthv1alpha1.Subscription) int {
	return cmp.Or(
		-cmp.Compare(priority(a), priority(b)),
		a.CreationTimestamp.Compare(b.CreationTimestamp.Time),
		strings.Compare(string(a.UID), string(b.UID)),
	)
}

func priority(s *berthv1alpha1.Subscription) int32 {
	if s.Spec.Priority == nil {
		return 0
	}
	return *s.Spec.Priority
}

// key names a workload. The version does not count: the same object can be read in each version of
// its group.
type key struct {
	namespace string
	kind      schema.GroupKind
	name      string
}

// Index finds the Subscription of a workload. It is immutable and safe for concurrent use.
type Index struct {
	namespaces map[string]bool
	feeds      map[key]entry
	releases   map[release]bool
}

// release names a Helm release.
type release struct{ namespace, name string }

type entry struct {
	subscription *berthv1alpha1.Subscription
	feed         int
}

// NewIndex returns an index of the Subscriptions, which must not be changed afterwards. If several
// list a workload, the oldest places it, and among those of the same age the one with the smallest
// name. No Subscription places a feed of another namespace than its own. In place of Helm releases
// there are their objects, see Expand.
func NewIndex(subscriptions []*berthv1alpha1.Subscription) *Index {
	sorted := slices.Clone(subscriptions)
	slices.SortFunc(sorted, func(a, b *berthv1alpha1.Subscription) int {
		return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), strings.Compare(a.Name, b.Name))
	})
	x := &Index{namespaces: map[string]bool{}, feeds: map[key]entry{}, releases: map[release]bool{}}
	for _, s := range sorted {
		if s.DeletionTimestamp != nil {
			continue
		}
		x.namespaces[s.Namespace] = true
		for _, name := range Releases(s) {
			x.releases[release{s.Namespace, name}] = true
		}
		s, _ = Expand(s)
		for i := range s.Spec.Feeds {
			feed := &s.Spec.Feeds[i]
			if Foreign(s, feed) || isRelease(feed) {
				continue
			}
			k := keyOf(s.Namespace, feed)
			if _, taken := x.feeds[k]; !taken {
				x.feeds[k] = entry{s, i}
			}
		}
	}
	return x
}

// Foreign reports whether a feed names another namespace than that of its Subscription, which is
// not allowed.
func Foreign(s *berthv1alpha1.Subscription, feed *berthv1alpha1.Feed) bool {
	return feed.Namespace != "" && feed.Namespace != s.Namespace
}

func keyOf(namespace string, feed *berthv1alpha1.Feed) key {
	return key{namespace, schema.FromAPIVersionAndKind(feed.APIVersion, feed.Kind).GroupKind(), feed.Name}
}

// Any reports whether the namespace has a Subscription. It does not allocate.
func (x *Index) Any(namespace string) bool {
	return x.namespaces[namespace]
}

// ListsRelease reports whether a Subscription lists the Helm release that an object is part of. It
// does not allocate.
func (x *Index) ListsRelease(o metav1.Object) bool {
	if len(x.releases) == 0 {
		return false
	}
	name := ReleaseOf(o)
	return name != "" && x.releases[release{o.GetNamespace(), name}]
}

// Of returns the Subscription that places an object, as Expand makes it, and the index of the
// object among its feeds, nil if there is none.
func (x *Index) Of(namespace, apiVersion, kind, name string) (*berthv1alpha1.Subscription, int) {
	e := x.feeds[key{namespace, schema.FromAPIVersionAndKind(apiVersion, kind).GroupKind(), name}]
	return e.subscription, e.feed
}

// PlacementOf returns what the status of a Subscription records of a feed, nil if it records
// nothing.
func PlacementOf(s *berthv1alpha1.Subscription, feed *berthv1alpha1.Feed) *berthv1alpha1.FeedPlacement {
	for i := range s.Status.Feeds {
		if p := &s.Status.Feeds[i]; keyOf("", &p.Feed) == keyOf("", feed) {
			return p
		}
	}
	return nil
}

// Lists reports whether a Subscription lists an object of its namespace, by itself or as part of a
// Helm release.
func Lists(s *berthv1alpha1.Subscription, apiVersion, kind, name string) bool {
	s, _ = Expand(s)
	wanted := key{"", schema.FromAPIVersionAndKind(apiVersion, kind).GroupKind(), name}
	return slices.ContainsFunc(s.Spec.Feeds, func(feed berthv1alpha1.Feed) bool {
		return !Foreign(s, &feed) && keyOf("", &feed) == wanted
	})
}
