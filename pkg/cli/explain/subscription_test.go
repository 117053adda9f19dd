// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package explain_test

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/cli/internal/clitest"
	"berth.dev/berth/pkg/placement/subscription"
)

// shop is a Deployment web of three replicas with a pod that waits, and a Subscription to it that
// divides by room.
func shop(t *testing.T, change func(*berthv1alpha1.Subscription)) *clitest.World {
	t.Helper()
	w := clitest.NewWorld(t)
	w.Cluster("beijing", 1)
	w.Deployment("web", 3).Pod("web-a")
	s := &berthv1alpha1.Subscription{
		ObjectMeta: metav1.ObjectMeta{Namespace: clitest.Namespace, Name: "shop"},
		Spec: berthv1alpha1.SubscriptionSpec{
			SchedulingStrategy: berthv1alpha1.DynamicDividingStrategy,
			Feeds:              []berthv1alpha1.Feed{{APIVersion: "apps/v1", Kind: "Deployment", Name: "web"}},
		},
	}
	change(s)
	w.Berth = append(w.Berth, s)
	return w
}

func says(reason, message string) []metav1.Condition {
	return []metav1.Condition{{Type: berthv1alpha1.SubscriptionScheduled, Status: metav1.ConditionFalse, Reason: reason, Message: message}}
}

func TestPodTellsWhatItsSubscriptionWaitsFor(t *testing.T) {
	divided := func(s *berthv1alpha1.Subscription, replicas int32) {
		s.Status.Feeds = []berthv1alpha1.FeedPlacement{{Feed: s.Spec.Feeds[0], Replicas: &replicas}}
	}
	tests := map[string]struct {
		change func(*berthv1alpha1.Subscription)
		policy bool
		want   []string
		not    string
	}{
		"a bundle that waits": {
			change: func(s *berthv1alpha1.Subscription) {
				s.Spec.DividingScheduling = &berthv1alpha1.DividingScheduling{Admission: berthv1alpha1.BundleAdmission}
				s.Status.Conditions = says("BundleWaits", "the bundle waits for room: 2 of 3 replicas of Deployment web find none")
			},
			want: []string{
				"Feed of:   subscription/shop",
				`Subscription "shop" holds it back: no pod of the bundle starts before all its feeds fit at once`,
				"the Subscription says: the bundle waits for room: 2 of 3 replicas of Deployment web find none",
			},
			not: "no scheduler has said anything",
		},
		"a feed that has not been divided": {
			change: func(s *berthv1alpha1.Subscription) {
				s.Status.Conditions = says("NoClusters", "the subscribers select no Cluster")
			},
			want: []string{
				`Subscription "shop" holds it back until it has been divided for its 3 replicas`,
				"the Subscription says: the subscribers select no Cluster",
			},
			not: "nothing limits where it goes",
		},
		"a feed that was divided for another number": {
			change: func(s *berthv1alpha1.Subscription) { divided(s, 2) },
			policy: true,
			want:   []string{"divided for its 3 replicas", "the Subscription says: see whether berth-controller-manager is running"},
		},
		"a feed without its policy": {
			change: func(s *berthv1alpha1.Subscription) { divided(s, 3) },
			want:   []string{"divided for its 3 replicas"},
		},
		"a feed that is divided and has no room": {
			change: func(s *berthv1alpha1.Subscription) {
				divided(s, 3)
				s.Status.Feeds[0].Message = "1 of 3 replicas find no room in the selected Clusters"
			},
			policy: true,
			want: []string{
				`Subscription "shop", which places it, says: 1 of 3 replicas find no room in the selected Clusters`,
				"Policy:    shop-web-",
			},
		},
		"a Subscription to something else": {
			change: func(s *berthv1alpha1.Subscription) { s.Spec.Feeds[0].Name = "db" },
			want:   []string{`no PropagationPolicy of namespace "default" selects deployment/web`},
			not:    "Subscription",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := shop(t, tc.change)
			if tc.policy {
				ref := berthv1alpha1.Feed{APIVersion: "apps/v1", Kind: "Deployment", Name: "web"}
				w.Policy(subscription.PolicyName("shop", &ref), "apps/v1", "Deployment", "web", map[string]int64{"beijing": 3})
			}
			got := explainPod(t, w, "web-a")
			for _, want := range tc.want {
				if !strings.Contains(got.Out, want) {
					t.Errorf("%q is missing in:\n%s%v", want, got.Out, got.Err)
				}
			}
			if tc.not != "" && strings.Contains(got.Out, tc.not) {
				t.Errorf("%q stands in:\n%s", tc.not, got.Out)
			}
		})
	}
}
