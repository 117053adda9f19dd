// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package subscription

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// written remembers the status that was written last for each Subscription, until the cache knows
// it: what one pass promises the next one must not give away.
type written map[types.UID]note

type note struct {
	// stale are the versions in which the cache may still have it.
	stale []string
	after *berthv1alpha1.Subscription
}

// newest returns the newest state that is known of Subscriptions as the cache has them.
func (w written) newest(cached []berthv1alpha1.Subscription) []*berthv1alpha1.Subscription {
	list := make([]*berthv1alpha1.Subscription, len(cached))
	here := make(map[types.UID]bool, len(cached))
	for i := range cached {
		s := &cached[i]
		here[s.UID] = true
		if known, ok := w[s.UID]; ok {
			if slices.Contains(known.stale, s.ResourceVersion) {
				s = known.after
			} else {
				delete(w, s.UID)
			}
		}
		list[i] = s
	}
	for uid := range w {
		if !here[uid] {
			delete(w, uid)
		}
	}
	return list
}

// add remembers what was written on top of a version.
func (w written) add(before string, after *berthv1alpha1.Subscription) {
	w[after.UID] = note{stale: append(w[after.UID].stale, before), after: after}
}
