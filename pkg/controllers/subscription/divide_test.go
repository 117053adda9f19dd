// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package subscription_test

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	rules "berth.dev/berth/pkg/placement/subscription"
)

func TestStaticDividesByWeight(t *testing.T) {
	w := newWorld(t)
	w.site("beijing", 0)
	w.site("hangzhou", 9)
	w.site("idle", 9)
	w.deploy("web", 5)
	w.subscribe("shop", []string{"web"}, static(map[string]int32{"beijing": 2, "hangzhou": 3, "idle": 0}))
	w.pass()
	w.want("the status", w.told("shop"), "web beijing=2 hangzhou=3")
	w.want("the policy", w.policy("shop", "web"), "*: beijing=2 hangzhou=3")
	w.want("Scheduled", w.reason("shop", "Scheduled"), "AllPlaced")

	w.deploy("web", 10)
	w.pass()
	w.want("the status after the Deployment has grown", w.told("shop"), "web beijing=4 hangzhou=6")
	if w.policyWrites != 1 {
		t.Errorf("%d writes of the policy, want 1: it serves any number of replicas", w.policyWrites)
	}
}

func TestSpreadPlacesTheDifference(t *testing.T) {
	w := newWorld(t)
	w.site("a", 6)
	w.site("b", 3)
	w.deploy("web", 6)
	w.subscribe("shop", []string{"web"})
	w.pass()
	w.want("the status", w.told("shop"), "web a=4 b=2")
	w.want("the policy", w.policy("shop", "web"), "6: a=4/4 b=2/2")
	w.runAsDivided("shop")
	w.pass()
	w.want("Available", w.reason("shop", "Available"), "AllRunning")

	statuses, policies := w.statusWrites, w.policyWrites
	w.pass()
	w.restart()
	w.pass()
	if w.statusWrites != statuses || w.policyWrites != policies {
		t.Errorf("%d writes of the status and %d of the policy while nothing changed", w.statusWrites-statuses, w.policyWrites-policies)
	}

	w.deploy("web", 8)
	w.pass()
	w.want("the policy after growing", w.policy("shop", "web"), "8: a=5/5 b=3/3")
	if w.statusWrites != statuses+1 {
		t.Errorf("%d writes of the status for one change", w.statusWrites-statuses)
	}
	w.runAsDivided("shop")
	w.deploy("web", 11)
	w.pass()
	w.want("the policy beyond the room", w.policy("shop", "web"), "11: a=6/6 b=3/3")
	w.want("the status beyond the room", w.told("shop"), "web a=6 b=3 -2")
	w.want("Scheduled", w.reason("shop", "Scheduled"), "NoRoom")
	w.want("Degraded", w.reason("shop", "Degraded"), "PlacesKept")

	// Seats of weights 6 and 3 begin a, a, b, a, as the deletion costs of the pods do.
	w.deploy("web", 4)
	w.pass()
	w.want("the policy after shrinking", w.policy("shop", "web"), "4: a=3/3 b=1/1")
}

func TestBinpackUsesFewClusters(t *testing.T) {
	w := newWorld(t)
	w.site("a", 4)
	w.site("b", 8)
	w.deploy("web", 6)
	w.subscribe("shop", []string{"web"}, func(s *berthv1alpha1.Subscription) {
		s.Spec.DividingScheduling = &berthv1alpha1.DividingScheduling{
			Type: "Dynamic", DynamicDividing: &berthv1alpha1.DynamicDividing{Strategy: berthv1alpha1.BinpackStrategy},
		}
	})
	w.pass()
	w.want("the status", w.told("shop"), "web b=6")
}

func TestPreferredClustersFillFirst(t *testing.T) {
	w := newWorld(t)
	w.site("a", 4)
	w.site("b", 8)
	w.deploy("web", 6)
	w.subscribe("shop", []string{"web"}, func(s *berthv1alpha1.Subscription) {
		s.Spec.DividingScheduling = &berthv1alpha1.DividingScheduling{Type: "Dynamic", DynamicDividing: &berthv1alpha1.DynamicDividing{
			PreferredClusters: []corev1.PreferredSchedulingTerm{{Weight: 9, Preference: corev1.NodeSelectorTerm{
				MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "site", Operator: corev1.NodeSelectorOpIn, Values: []string{"a"}}},
			}}},
		}}
	})
	w.pass()
	w.want("the status", w.told("shop"), "web a=4 b=2")
}

func TestPromisedRoomIsNotOfferedAgain(t *testing.T) {
	w := newWorld(t)
	w.site("a", 4)
	w.site("b", 4)
	w.deploy("web", 6)
	w.deploy("db", 4)
	w.subscribe("first", []string{"web"})
	w.pass()
	w.subscribe("second", []string{"db"})
	w.pass()
	w.want("the first", w.told("first"), "web a=3 b=3")
	w.want("the second", w.told("second"), "db a=1 b=1 -2")
	w.runAsDivided("first")
	w.restart()
	w.pass()
	w.want("the second after the first runs", w.told("second"), "db a=1 b=1 -2")
	w.deploy("web", 2)
	w.stop("web", "a", 2)
	w.stop("web", "b", 2)
	w.pass()
	w.want("the second after the first has shrunk", w.told("second"), "db a=2 b=2")
}

func TestClustersComeAndGo(t *testing.T) {
	w := newWorld(t)
	w.site("a", 4)
	w.site("b", 4)
	w.deploy("web", 6)
	w.subscribe("shop", []string{"web"})
	w.pass()
	w.runAsDivided("shop")

	node := &corev1.Node{}
	if err := w.client.Get(t.Context(), client.ObjectKey{Name: "b-1"}, node); err != nil {
		t.Fatal(err)
	}
	node.Status.Conditions[0].Status = corev1.ConditionFalse
	if err := w.client.Status().Update(t.Context(), node); err != nil {
		t.Fatal(err)
	}
	w.pass()
	w.want("the status while pods linger", w.told("shop"), "web a=3 b=3")
	w.want("Degraded while pods linger", w.reason("shop", "Degraded"), "ClusterLost")
	w.stop("web", "b", 3)
	w.pass()
	w.want("the status without b", w.told("shop"), "web a=4 -2")
	w.want("Degraded without b", w.reason("shop", "Degraded"), "RoomLost")
	w.site("c", 4)
	w.pass()
	w.want("the status with c", w.told("shop"), "web a=4 c=2")
	w.want("Degraded with c", w.reason("shop", "Degraded"), "PlacesKept")

	w.runAsDivided("shop")
	w.change("shop", func(s *berthv1alpha1.Subscription) {
		s.Spec.Subscribers[0].ClusterAffinity.MatchLabels = map[string]string{"site": "a"}
	})
	w.deploy("web", 5)
	w.pass()
	w.want("the status when c is not selected", w.told("shop"), "web a=4 c=1")
}

func TestClustersAreSelectedByWhereTheyLie(t *testing.T) {
	w := newWorld(t)
	w.site("a", 6)
	w.site("b", 6)
	w.deploy("web", 4)
	w.subscribe("shop", []string{"web"}, func(s *berthv1alpha1.Subscription) {
		s.Spec.Subscribers[0].ClusterAffinity.MatchLabels = map[string]string{"geoLocation.country": "US"}
	})
	w.pass()
	w.want("what is told of no cluster", w.reason("shop", "Scheduled"), "NoClusters")
	cluster := &berthv1alpha1.Cluster{}
	if err := w.client.Get(t.Context(), client.ObjectKey{Name: "b"}, cluster); err != nil {
		t.Fatal(err)
	}
	cluster.Spec.GeoLocation = &berthv1alpha1.GeoLocation{Country: "US"}
	if err := w.client.Update(t.Context(), cluster); err != nil {
		t.Fatal(err)
	}
	w.tracker.Invalidate()
	w.pass()
	w.want("the status with a cluster in the country", w.told("shop"), "web b=4")
}

func TestRebalanceIsDoneOnce(t *testing.T) {
	w := newWorld(t)
	w.site("a", 6)
	w.deploy("web", 6)
	w.subscribe("shop", []string{"web"})
	w.pass()
	w.runAsDivided("shop")
	w.site("b", 6)
	w.pass()
	w.want("the status with another cluster", w.told("shop"), "web a=6")
	ask := func(value string) change {
		return func(s *berthv1alpha1.Subscription) {
			s.Annotations = map[string]string{berthv1alpha1.RebalanceAnnotation: value}
		}
	}
	w.change("shop", ask("now"))
	w.pass()
	w.want("the status after a rebalance", w.told("shop"), "web a=3 b=3")
	w.want("the policy after a rebalance", w.policy("shop", "web"), "6: a=3/3 b=3/3")
	if got := w.get("shop").Status.ObservedRebalance; got != "now" {
		t.Errorf("the rebalance carried out is %q", got)
	}
	writes := w.policyWrites
	w.pass()
	if w.policyWrites != writes {
		t.Error("the rebalance is done again")
	}
}

func TestWhatRunsAlreadyStays(t *testing.T) {
	w := newWorld(t)
	w.site("a", 6)
	w.site("b", 6)
	w.deploy("web", 4)
	w.run("web", "b", 4)
	w.subscribe("shop", []string{"web"})
	w.pass()
	w.want("the status", w.told("shop"), "web b=4")
}

func TestWhatCannotBeDividedIsTold(t *testing.T) {
	foreign := deployment("web")
	foreign.Namespace = "bank"
	tests := map[string]struct {
		change     change
		want       string
		wantPolicy string
	}{
		"a feed that does not exist": {func(s *berthv1alpha1.Subscription) {
			static(map[string]int32{"a": 1})(s)
			s.Spec.Feeds[0].Name = "ghost"
		}, "FeedsUnknown", "none"},
		"a forbidden namespace":    {func(s *berthv1alpha1.Subscription) { s.Spec.Feeds[0] = foreign }, "OtherSubscriptionWins", "none"},
		"weights that sum to zero": {static(map[string]int32{"a": 0}), "NoWeight", "none"},
		"weights that are too large": {func(s *berthv1alpha1.Subscription) {
			static(map[string]int32{"a": 1 << 30})(s)
			s.Spec.Subscribers = append(s.Spec.Subscribers, s.Spec.Subscribers[0], s.Spec.Subscribers[0])
		}, "InvalidSubscriber", "none"},
		"a selector that means nothing": {func(s *berthv1alpha1.Subscription) {
			s.Spec.Subscribers[0].ClusterAffinity.MatchExpressions = []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Like"}}
		}, "InvalidSubscriber", "none"},
		"no cluster": {func(s *berthv1alpha1.Subscription) {
			s.Spec.Subscribers[0].ClusterAffinity.MatchLabels = map[string]string{"no": "where"}
		}, "NoClusters", "none"},
		"a feed that is listed twice": {func(s *berthv1alpha1.Subscription) {
			twice := s.Spec.Feeds[0]
			twice.APIVersion = "apps/v1beta1"
			s.Spec.Feeds = append(s.Spec.Feeds, twice)
		}, "OtherSubscriptionWins", "2: a=2/2"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.site("a", 4)
			w.deploy("web", 2)
			w.subscribe("shop", []string{"web"}, tc.change)
			w.pass()
			w.want("Scheduled", w.reason("shop", "Scheduled"), tc.want)
			w.want("the policy", w.policy("shop", "web"), tc.wantPolicy)
		})
	}
}

func TestOneFeedThatIsNotKnownHoldsUpNoOther(t *testing.T) {
	w := newWorld(t)
	w.site("a", 4)
	w.deploy("web", 2)
	w.subscribe("shop", []string{"ghost", "web"})
	inventory := &berthv1alpha1.FeedInventory{}
	if err := w.client.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "shop"}, inventory); err != nil {
		t.Fatal(err)
	}
	inventory.Status.Feeds = []berthv1alpha1.FeedStatus{{Feed: deployment("ghost")}, {Feed: deployment("web")}}
	apimeta.SetStatusCondition(&inventory.Status.Feeds[0].Conditions, metav1.Condition{
		Type: berthv1alpha1.FeedParsed, Status: metav1.ConditionFalse, Reason: "NotFound", Message: "the Deployment does not exist yet",
	})
	if err := w.client.Status().Update(t.Context(), inventory); err != nil {
		t.Fatal(err)
	}
	w.pass()
	w.want("the status", w.told("shop"), "ghost, web a=2")
	w.want("the message", w.get("shop").Status.Feeds[0].Message, "the Deployment does not exist yet")
	w.want("Scheduled", w.reason("shop", "Scheduled"), "FeedsUnknown")
}

func TestABundleWaitsForTheStatusOfItsInventory(t *testing.T) {
	w := newWorld(t)
	w.ownInventories = true
	w.restart()
	w.site("a", 4)
	w.deploy("web", 2)
	w.subscribe("shop", []string{"web"}, bundle)
	w.whole("shop")
	w.pass()
	w.want("Scheduled", w.reason("shop", "Scheduled"), "FeedsUnknown")
	inventory := &berthv1alpha1.FeedInventory{}
	if err := w.client.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "shop"}, inventory); err != nil {
		t.Fatal(err)
	}
	inventory.Status.ObservedGeneration = 1
	if err := w.client.Status().Update(t.Context(), inventory); err != nil {
		t.Fatal(err)
	}
	w.pass()
	w.want("Scheduled", w.reason("shop", "Scheduled"), "AllPlaced")
}

func TestOlderSubscriptionPlacesAFeed(t *testing.T) {
	w := newWorld(t)
	w.site("a", 4)
	w.deploy("web", 2)
	w.subscribe("old", []string{"web"})
	w.subscribe("young", []string{"web"})
	w.pass()
	w.want("the policy of the older", w.policy("old", "web"), "2: a=2/2")
	w.want("the policy of the younger", w.policy("young", "web"), "none")
	w.want("Scheduled of the younger", w.reason("young", "Scheduled"), "OtherSubscriptionWins")
	if err := w.client.Delete(t.Context(), w.get("old")); err != nil {
		t.Fatal(err)
	}
	w.pass()
	w.want("the policy of the younger when it is alone", w.policy("young", "web"), "2: a=2/2")
}

func TestPoliciesOfFormerFeedsAreRemovedAndEditsReverted(t *testing.T) {
	w := newWorld(t)
	w.site("a", 9)
	w.deploy("web", 2)
	w.deploy("db", 1)
	w.create(&berthv1alpha1.PropagationPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "mine", UID: types.UID("mine")}})
	w.subscribe("shop", []string{"web", "db"}, static(map[string]int32{"a": 1}))
	w.pass()
	w.want("the policy of db", w.policy("shop", "db"), "*: a=1")
	var list berthv1alpha1.PropagationPolicyList
	if err := w.client.List(t.Context(), &list); err != nil {
		t.Fatal(err)
	}
	for i := range list.Items {
		if p := &list.Items[i]; p.Name != "mine" {
			p.Spec.Placement.StaticWeightList = []berthv1alpha1.StaticClusterWeight{{ClusterNames: []string{"x"}, Weight: 7}}
			if err := w.client.Update(t.Context(), p); err != nil {
				t.Fatal(err)
			}
		}
	}
	w.change("shop", func(s *berthv1alpha1.Subscription) { s.Spec.Feeds = s.Spec.Feeds[:1] })
	w.pass()
	w.want("the policy of web after an edit", w.policy("shop", "web"), "*: a=1")
	w.want("the policy of a former feed", w.policy("shop", "db"), "none")
	if err := w.client.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "mine"}, &berthv1alpha1.PropagationPolicy{}); err != nil {
		t.Errorf("the policy of somebody else: %v", err)
	}
}

func TestAPolicyWhoseOwnerWasTakenAwayIsPutRight(t *testing.T) {
	w := newWorld(t)
	w.site("a", 9)
	w.deploy("web", 2)
	w.subscribe("shop", []string{"web"}, static(map[string]int32{"a": 1}))
	w.pass()
	ref := deployment("web")
	key := client.ObjectKey{Namespace: namespace, Name: rules.PolicyName("shop", &ref)}
	p := &berthv1alpha1.PropagationPolicy{}
	if err := w.client.Get(t.Context(), key, p); err != nil {
		t.Fatal(err)
	}
	other := metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: "mine", UID: "mine"}
	p.OwnerReferences, p.Annotations = []metav1.OwnerReference{other}, nil
	if err := w.client.Update(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	w.pass()
	if err := w.client.Get(t.Context(), key, p); err != nil {
		t.Fatal(err)
	}
	if !metav1.IsControlledBy(p, w.get("shop")) || len(p.OwnerReferences) != 2 {
		t.Errorf("the policy belongs to %v", p.OwnerReferences)
	}
	w.want("the policy", w.policy("shop", "web"), "*: a=1")
}

func TestWhatIsWrittenCountsBeforeTheCacheShowsIt(t *testing.T) {
	w := newWorld(t)
	w.site("a", 4)
	w.deploy("web", 3)
	w.subscribe("shop", []string{"web"}, bundle)
	stale := &berthv1alpha1.SubscriptionList{}
	if err := w.client.List(t.Context(), stale); err != nil {
		t.Fatal(err)
	}
	w.stale = stale
	w.pass()
	w.deploy("web", 4)
	w.pass()
	w.want("the status", w.told("shop"), "web a=4")
	w.pass()
	if w.statusWrites != 2 {
		t.Errorf("%d writes of the status for two changes", w.statusWrites)
	}
	w.stale = nil
	w.pass()
	w.want("the status when the cache has caught up", w.told("shop"), "web a=4")
	if w.statusWrites != 2 {
		t.Errorf("%d writes of the status when the cache has caught up", w.statusWrites)
	}
}

func TestFeedsOfKindsThatAreNotRead(t *testing.T) {
	ring := berthv1alpha1.Feed{APIVersion: "example.com/v1", Kind: "Ring", Name: "ring"}
	only := func(s *berthv1alpha1.Subscription) { s.Spec.Feeds = []berthv1alpha1.Feed{ring} }
	selected := func(w *world) string {
		var list berthv1alpha1.PropagationPolicyList
		if err := w.client.List(t.Context(), &list); err != nil || len(list.Items) != 1 {
			t.Fatalf("%d policies, %v", len(list.Items), err)
		}
		return list.Items[0].Spec.ResourceSelectors[0].Kind + " " + list.Items[0].Annotations[berthv1alpha1.DividedAnnotation]
	}
	t.Run("by room, as the inventory tells", func(t *testing.T) {
		w := newWorld(t)
		w.site("a", 4)
		w.subscribe("shop", nil, only)
		w.pass()
		w.want("the status", w.told("shop"), "ring a=1")
		w.want("the policy", selected(w), "Ring 1")
	})
	t.Run("by weight, for any number", func(t *testing.T) {
		w := newWorld(t)
		w.site("a", 4)
		w.subscribe("shop", nil, only, static(map[string]int32{"a": 1}))
		w.pass()
		w.want("the status", w.told("shop"), "ring")
		w.want("the policy", selected(w), "Ring *")
	})
}

func TestAClusterThatIsRelabelledOrLeaves(t *testing.T) {
	tests := map[string]func(*world) error{
		"relabelled": func(w *world) error {
			c := &berthv1alpha1.Cluster{}
			if err := w.client.Get(t.Context(), client.ObjectKey{Name: "b"}, c); err != nil {
				return err
			}
			c.Labels["site"] = "elsewhere"
			return w.client.Update(t.Context(), c)
		},
		"deleted": func(w *world) error {
			return w.client.Delete(t.Context(), &berthv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "b"}})
		},
	}
	for name, change := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.site("a", 6)
			w.site("b", 6)
			w.deploy("web", 6)
			w.subscribe("shop", []string{"web"}, func(s *berthv1alpha1.Subscription) {
				s.Spec.Subscribers[0].ClusterAffinity.MatchExpressions = []metav1.LabelSelectorRequirement{
					{Key: "site", Operator: metav1.LabelSelectorOpNotIn, Values: []string{"elsewhere"}},
				}
			})
			w.pass()
			w.runAsDivided("shop")
			w.want("the status", w.told("shop"), "web a=3 b=3")
			if err := change(w); err != nil {
				t.Fatal(err)
			}
			w.pass()
			w.deploy("web", 7)
			w.pass()
			if got := w.reason("shop", "Degraded"); name == "relabelled" && got != "ClusterLost" {
				t.Errorf("Degraded while pods linger is %s", got)
			}
			w.stop("web", "b", 3)
			w.pass()
			w.want("the status without b", w.told("shop"), "web a=6 -1")
		})
	}
}

func TestAStatefulSetStaysWhileItIsDividedByRoom(t *testing.T) {
	w := newWorld(t)
	w.site("a", 6)
	w.create(&appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "db", UID: "db"},
		Spec: appsv1.StatefulSetSpec{
			Replicas: new(int32(2)), Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "db"}},
		},
	})
	set := berthv1alpha1.Feed{APIVersion: "apps/v1", Kind: "StatefulSet", Name: "db"}
	w.subscribe("shop", nil, func(s *berthv1alpha1.Subscription) { s.Spec.Feeds = []berthv1alpha1.Feed{set} })
	mode := func() string {
		t.Helper()
		w.pass()
		p := &berthv1alpha1.PropagationPolicy{}
		if err := w.client.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: rules.PolicyName("shop", &set)}, p); err != nil {
			t.Fatal(err)
		}
		return string(p.Spec.Rebalance.Mode)
	}
	w.want("the mode by room", mode(), "Never")
	w.change("shop", func(s *berthv1alpha1.Subscription) { static(map[string]int32{"a": 1})(s) })
	w.want("the mode by weight", mode(), "")
	w.want("the mode of a second pass", mode(), "")
}
