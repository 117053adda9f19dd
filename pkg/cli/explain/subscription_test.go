// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package explain_test

import (
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clienttesting "k8s.io/client-go/testing"

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

// leftShop is a Subscription that has left clusters.
func leftShop(t *testing.T) *clitest.World {
	t.Helper()
	at := metav1.NewTime(time.Date(2100, 1, 1, 12, 0, 0, 0, time.UTC))
	w := shop(t, func(s *berthv1alpha1.Subscription) {
		s.Spec.Failover = &berthv1alpha1.Failover{ReturnAfter: &metav1.Duration{Duration: time.Hour}}
		s.Status.Conditions = says("NoRoom", "no room for 1 of 3 replicas of Deployment web")
		s.Status.Feeds = []berthv1alpha1.FeedPlacement{{
			Feed: s.Spec.Feeds[0], Replicas: new(int32(3)), Unplaced: 1, Message: "no room",
			Clusters: []berthv1alpha1.FeedClusterReplicas{{Name: "beijing", Replicas: 2}},
		}}
		for _, name := range []string{"bonn", "gone", "hangzhou", "new"} {
			s.Status.FailedOver = append(s.Status.FailedOver, berthv1alpha1.FailedOverCluster{Cluster: name, Time: at})
		}
	})
	for name, online := range map[string]metav1.ConditionStatus{"bonn": metav1.ConditionTrue, "hangzhou": metav1.ConditionFalse} {
		c := &berthv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: name}}
		c.Status.Conditions = []metav1.Condition{
			{Type: berthv1alpha1.ClusterOnline, Status: online, LastTransitionTime: metav1.NewTime(at.Add(time.Minute))},
		}
		w.Berth = append(w.Berth, c)
	}
	w.Cluster("new", 1)
	return w
}

func explainSubscription(t *testing.T, w *clitest.World, args string) clitest.Result {
	t.Helper()
	return clitest.Run(t.Context(), w.Options(), append([]string{"explain", "subscription"}, strings.Fields(args)...)...)
}

// Which cluster was left, since when, and when it comes into question again.
func TestSubscriptionTellsWhatItHasLeft(t *testing.T) {
	w := leftShop(t)
	explainSubscription(t, w, "shop").CheckOutput(t, strings.TrimPrefix(`
Subscription: default/shop
Strategy:     Spread
Scheduled:    False (NoRoom), no room for 1 of 3 replicas of Deployment web

FEED             REPLICAS   CLUSTERS    UNPLACED   SAYS
deployment/web   3          beijing 2   1          no room

LEFT       SINCE                  RETURNS                SAYS
bonn       2100-01-01T12:00:00Z   2100-01-01T13:01:00Z   online since 2100-01-01T12:01:00Z, and comes into question again at 2100-01-01T13:01:00Z
gone       2100-01-01T12:00:00Z   -                      there is no such cluster any more
hangzhou   2100-01-01T12:00:00Z   -                      offline since 2100-01-01T12:01:00Z; it comes into question again once it has been online for 1h0m0s
new        2100-01-01T12:00:00Z   -                      nobody has said yet whether it is online; it comes into question again once it has been online for 1h0m0s
`, "\n"))
	got := explainSubscription(t, w, "subscription.berth.dev/shop -o json")
	want := `"failedOver":[{"cluster":"bonn","since":"2100-01-01T12:00:00Z","returns":"2100-01-01T13:01:00Z","message":"online since`
	if got.Code != 0 || !strings.Contains(got.Out, want) {
		t.Errorf("exit status %d, output %s, want %s in it", got.Code, got.Out, want)
	}
}

// A Helm release without objects has neither kind nor name.
func TestSubscriptionNamesTheReleaseThatHasNothing(t *testing.T) {
	w := shop(t, func(s *berthv1alpha1.Subscription) {
		missing := berthv1alpha1.Feed{HelmRelease: "store"}
		s.Spec.Feeds = append(s.Spec.Feeds, missing)
		s.Status.Feeds = []berthv1alpha1.FeedPlacement{{Feed: missing, Message: "the Helm release has no object"}}
	})
	explainSubscription(t, w, "shop").CheckOutput(t, strings.TrimPrefix(`
Subscription: default/shop
Strategy:     Spread

FEED                 REPLICAS   CLUSTERS   UNPLACED   SAYS
Helm release store   -          -          0          the Helm release has no object
`, "\n"))
}

// Who may not see clusters learns what was left all the same.
func TestSubscriptionForOneWhoSeesNoClusters(t *testing.T) {
	w := leftShop(t)
	w.Options()
	w.Clients.Berth.PrependReactor("list", "clusters", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewForbidden(schema.GroupResource{Resource: "clusters"}, "", nil)
	})
	got := explainSubscription(t, w, "shop")
	want := "you may not see clusters; it comes into question again once it has been online for 1h0m0s"
	if got.Code != 0 || strings.Count(got.Out, want) != 4 {
		t.Errorf("exit status %d, output %s%v, want %s in it four times", got.Code, got.Out, got.Err, want)
	}
}

func TestSubscriptionThatCannotBeExplained(t *testing.T) {
	for name, tc := range map[string]struct{ args, want string }{
		"there is none": {"other", `subscription "other" not found in namespace "default"`},
		"none is named": {"", "0 subscriptions named, name one"},
		"no name":       {"Shop!", `"Shop!" is no name of a subscription`},
	} {
		t.Run(name, func(t *testing.T) {
			explainSubscription(t, leftShop(t), tc.args).CheckFailed(t, tc.want)
		})
	}
}
