// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package subscription_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// What is known to go wrong in Clusternet's scheduler, and what shows that it does not here:
//
//   - A cluster without a fitting node, a full node or an estimate that fails make all clusters
//     fail: TestAClusterThatDoesNotFit. There is no predictor to be asked, switched off or
//     tolerated; its answers and its TLS have nothing that corresponds here.
//   - Affinity is ignored: TestAClusterThatDoesNotFit.
//   - Init containers of running pods are counted wrongly, zero quantities panic: room is counted
//     with the scheduler's own function, which package room tests.
//   - Binpack binds nothing: TestBinpackUsesFewClusters.
//   - Feeds without replicas bind nothing: TestABundleOfConfigMapsAlone.
//   - Large numbers overflow, static division is not monotone, ties are broken at random: the
//     properties of package divide.
//   - Weights that are all zero make full copies: TestWhatCannotBeDividedIsTold.
//   - What finds no room is told to nobody: TestSpreadPlacesTheDifference.
//   - Clusters that take no more keep replicas, and are never left: TestClustersComeAndGo,
//     TestAClusterThatIsRelabelledOrLeaves.
//   - Numbers of feeds that are none any more stay: TestWhatIsNotDividedAnyMoreIsForgotten.
//   - A hundred clusters are sampled: all are looked at.
//   - A cluster in two subgroups is bound twice, and minClusters 0 binds none:
//     TestSubgroupsLimitTheClusters.
//   - Clusters that join, leave, change or fail change nothing: TestClustersComeAndGo; and when all
//     fail at once for a moment, all is taken away: TestClustersThatAllFailKeepWhatTheyHave.

// When Clusternet schedules again is decided by hashes and sums; here each pass compares. Nothing
// changed and scaling down: TestSpreadPlacesTheDifference. A feed more or less:
// TestWhatIsNotDividedAnyMoreIsForgotten. Another cluster: TestClustersComeAndGo. No inventory, or
// one of other feeds: the feed waits, TestOneFeedThatIsNotKnownHoldsUpNoOther.

func TestAClusterThatDoesNotFit(t *testing.T) {
	w := newWorld(t)
	w.site("a", 4)
	w.site("full", 4)
	w.site("slow", 4)
	w.deploy("web", 3)
	label := func(name string, change func(*corev1.Node)) {
		t.Helper()
		node := &corev1.Node{}
		if err := w.client.Get(t.Context(), client.ObjectKey{Name: name}, node); err != nil {
			t.Fatal(err)
		}
		change(node)
		if err := w.client.Update(t.Context(), node); err != nil {
			t.Fatal(err)
		}
	}
	fast := func(n *corev1.Node) { n.Labels = map[string]string{"disk": "fast"} }
	label("a-1", fast)
	label("full-1", fast)
	// More is requested than there is, as on a node that was made smaller.
	w.create(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "large"}, Spec: corev1.PodSpec{
		NodeName: "full-1",
		Containers: []corev1.Container{{Name: "a", Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("9"), "example.com/zero": resource.MustParse("0")},
		}}},
	}})
	w.subscribe("shop", []string{"web"})
	inventory := &berthv1alpha1.FeedInventory{}
	if err := w.client.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "shop"}, inventory); err != nil {
		t.Fatal(err)
	}
	inventory.Spec.Feeds[0].ReplicaRequirements.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
			MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "disk", Operator: corev1.NodeSelectorOpIn, Values: []string{"fast"}}},
		}}},
	}}
	if err := w.client.Update(t.Context(), inventory); err != nil {
		t.Fatal(err)
	}
	w.pass()
	w.want("the status", w.told("shop"), "web a=3")
}

func TestABundleOfConfigMapsAlone(t *testing.T) {
	for name, strategy := range map[string]change{"by feed": func(*berthv1alpha1.Subscription) {}, "as a bundle": bundle} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.site("a", 4)
			w.subscribe("shop", nil, strategy, func(s *berthv1alpha1.Subscription) {
				s.Spec.Feeds = []berthv1alpha1.Feed{{APIVersion: "v1", Kind: "ConfigMap", Name: "settings"}}
			})
			w.whole("shop")
			w.pass()
			w.want("the status", w.told("shop"), "settings")
			w.want("Scheduled", w.reason("shop", "Scheduled"), "AllPlaced")
			w.want("Available", w.reason("shop", "Available"), "AllRunning")
		})
	}
}

// whole makes the first feed of an inventory one that is copied whole.
func (w *world) whole(name string) {
	w.t.Helper()
	inventory := &berthv1alpha1.FeedInventory{}
	if err := w.client.Get(w.t.Context(), client.ObjectKey{Namespace: namespace, Name: name}, inventory); err != nil {
		w.t.Fatal(err)
	}
	inventory.Spec.Feeds[0] = berthv1alpha1.FeedOrder{Feed: inventory.Spec.Feeds[0].Feed}
	if err := w.client.Update(w.t.Context(), inventory); err != nil {
		w.t.Fatal(err)
	}
}

func TestWhatIsNotDividedAnyMoreIsForgotten(t *testing.T) {
	w := newWorld(t)
	w.site("a", 9)
	w.deploy("web", 2)
	w.deploy("db", 1)
	w.subscribe("shop", []string{"web", "db"})
	w.pass()
	w.want("the status", w.told("shop"), "web a=2, db a=1")
	w.whole("shop")
	w.pass()
	w.want("the status without a number of web", w.told("shop"), "web, db a=1")
	w.want("the policy of web", w.policy("shop", "web"), "none")
	w.change("shop", func(s *berthv1alpha1.Subscription) { s.Spec.Feeds = s.Spec.Feeds[:1] })
	w.pass()
	w.want("the status without db", w.told("shop"), "web")
}

func TestClustersThatAllFailKeepWhatTheyHave(t *testing.T) {
	tests := map[string]struct {
		strategy change
		want     string
	}{
		"by room":     {func(*berthv1alpha1.Subscription) {}, "web a=2 b=2"},
		"by weight":   {static(map[string]int32{"a": 1, "b": 1}), "web a=2 b=2"},
		"replication": {everywhere("a", "b"), "web a=4 b=4"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.site("a", 9)
			w.site("b", 9)
			w.deploy("web", 4)
			w.subscribe("shop", []string{"web"}, tc.strategy)
			w.pass()
			w.runAsDivided("shop")
			w.pass()
			w.want("the status", w.told("shop"), tc.want)
			policy, deployments := w.policy("shop", "web"), w.deployments()
			for _, ready := range []corev1.ConditionStatus{corev1.ConditionUnknown, corev1.ConditionTrue} {
				for _, name := range []string{"a-1", "b-1"} {
					node := &corev1.Node{}
					if err := w.client.Get(t.Context(), client.ObjectKey{Name: name}, node); err != nil {
						t.Fatal(err)
					}
					node.Status.Conditions[0].Status = ready
					if err := w.client.Status().Update(t.Context(), node); err != nil {
						t.Fatal(err)
					}
				}
				w.pass()
				w.want("the status", w.told("shop"), tc.want)
				w.want("the Deployments", w.deployments(), deployments)
				w.want("Degraded", w.reason("shop", "Degraded"),
					map[corev1.ConditionStatus]string{corev1.ConditionUnknown: "ClusterLost", corev1.ConditionTrue: "PlacesKept"}[ready])
			}
			w.want("the policy", w.policy("shop", "web"), policy)
		})
	}
}
