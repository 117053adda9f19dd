// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package subscription_test

import (
	"testing"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/placement/subscription"
)

// divided makes a Subscription that divides web and db by room or by weight, at once or not, and
// what its status records of web; nil for nothing.
func divided(room, bundled bool, recorded *berthv1alpha1.FeedPlacement) *berthv1alpha1.Subscription {
	s := makeSubscription("shop", 0, deployment("db"), deployment("web"))
	s.Spec.SchedulingStrategy = berthv1alpha1.DividingStrategy
	s.Spec.DividingScheduling = &berthv1alpha1.DividingScheduling{Type: berthv1alpha1.StaticDividingType}
	if room {
		s.Spec.DividingScheduling.Type = berthv1alpha1.DynamicDividingType
	}
	if bundled {
		s.Spec.DividingScheduling.Admission = berthv1alpha1.BundleAdmission
	}
	s.Status.Feeds = []berthv1alpha1.FeedPlacement{{Feed: deployment("db"), Replicas: new(int32(9))}}
	if recorded != nil {
		recorded.Feed = deployment("web")
		s.Status.Feeds = append(s.Status.Feeds, *recorded)
	}
	return s
}

func TestHoldOf(t *testing.T) {
	type record = berthv1alpha1.FeedPlacement
	two, three := new(int32(2)), new(int32(3))
	tests := map[string]struct {
		room, bundled, pledged bool
		recorded               *record
		replicas               *int32
		want                   subscription.Hold
		wantWhole              bool
	}{
		"nobody has divided it":                {room: true, replicas: two, want: subscription.NotDivided},
		"nobody has divided it by weight":      {replicas: two, want: subscription.NotDivided},
		"it is divided":                        {room: true, recorded: &record{Replicas: two}, replicas: two},
		"it is divided for another number":     {room: true, recorded: &record{Replicas: two}, replicas: three, want: subscription.NotDivided},
		"nobody knows how many there are":      {room: true, recorded: &record{Replicas: two}},
		"by weight another number is the same": {recorded: &record{Replicas: two}, replicas: three},
		"it has no replicas":                   {room: true, recorded: &record{}, replicas: two, wantWhole: true},
		"it has no replicas, by weight":        {recorded: &record{}, replicas: two},
		"it could not be read": {
			room: true, recorded: &record{Message: "broken"}, replicas: two, want: subscription.NotDivided,
		},
		"some of it finds no room":     {room: true, recorded: &record{Replicas: two, Message: "no room"}, replicas: two},
		"a bundle that waits":          {room: true, bundled: true, recorded: &record{Replicas: two}, replicas: two, want: subscription.BundleWaits},
		"a bundle that is admitted":    {room: true, bundled: true, pledged: true, recorded: &record{Replicas: two}, replicas: two},
		"a bundle that is not divided": {bundled: true, pledged: true, want: subscription.NotDivided},
	}
	web := deployment("web")
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := divided(tc.room, tc.bundled, tc.recorded)
			if tc.pledged {
				s.Status.Pledge = &berthv1alpha1.Pledge{}
			}
			without := tc.want
			if without == subscription.NotHeld && !tc.wantWhole {
				without = subscription.NotDivided
			}
			for written, want := range map[bool]subscription.Hold{true: tc.want, false: without} {
				exists := func(policy string) bool { return written && policy == subscription.PolicyName(s.Name, &web) }
				if got := subscription.HoldOf(s, &web, tc.replicas, exists); got != want {
					t.Errorf("HoldOf = %q, want %q, with the policy: %t", got, want, written)
				}
			}
		})
	}
}

func TestBundled(t *testing.T) {
	s := divided(true, true, nil)
	if !subscription.Bundled(&s.Spec) {
		t.Error("feeds that are admitted all at once are no bundle")
	}
	s.Spec.SchedulingStrategy = berthv1alpha1.ReplicationStrategy
	if subscription.Bundled(&s.Spec) {
		t.Error("feeds that are copied are a bundle")
	}
	s = divided(true, false, nil)
	if subscription.Bundled(&s.Spec) {
		t.Error("feeds that are admitted one by one are a bundle")
	}
}
