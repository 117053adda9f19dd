// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package subscription_test

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/controllers/internal/singleton"
)

func failingOver(after berthv1alpha1.FailoverAfter) change {
	return func(s *berthv1alpha1.Subscription) { s.Spec.Failover = &berthv1alpha1.Failover{After: &after} }
}

// online lets the node of a Cluster, and with it the Cluster, come or go.
func (w *world) online(cluster string, status metav1.ConditionStatus) {
	w.t.Helper()
	c, node := &berthv1alpha1.Cluster{}, &corev1.Node{}
	for name, o := range map[string]client.Object{cluster: c, cluster + "-1": node} {
		if err := w.client.Get(w.t.Context(), client.ObjectKey{Name: name}, o); err != nil {
			w.t.Fatal(err)
		}
	}
	node.Status.Conditions[0].Status = corev1.ConditionStatus(status)
	apimeta.SetStatusCondition(&c.Status.Conditions, metav1.Condition{
		Type: berthv1alpha1.ClusterOnline, Status: status, Reason: "Test", LastTransitionTime: metav1.NewTime(w.clock.Now()),
	})
	if err := w.client.Update(w.t.Context(), c); err != nil {
		w.t.Fatal(err)
	}
	if err := w.client.Status().Update(w.t.Context(), node); err != nil {
		w.t.Fatal(err)
	}
}

// left names the Clusters that a Subscription has left.
func (w *world) left(name string) string {
	w.t.Helper()
	var names []string
	for _, l := range w.get(name).Status.FailedOver {
		names = append(names, l.Cluster)
	}
	return strings.Join(names, " ")
}

// nextPass makes a pass and returns when it asks for another one.
func (w *world) nextPass() time.Duration {
	w.t.Helper()
	w.tracker.Invalidate()
	result, err := w.r.Reconcile(w.t.Context(), singleton.Key{})
	if err != nil {
		w.t.Fatal(err)
	}
	return result.RequeueAfter
}

func TestSharesByRoomWaitForAClusterThatIsOffline(t *testing.T) {
	w := newWorld(t)
	for _, site := range []string{"a", "b", "c"} {
		w.site(site, 9)
		w.online(site, metav1.ConditionTrue)
	}
	w.deploy("web", 6)
	w.subscribe("shop", []string{"web"}, failingOver("5m"))
	w.pass()
	w.runAsDivided("shop")
	w.pass()
	w.want("the status", w.told("shop"), "web a=2 b=2 c=2")

	w.online("a", metav1.ConditionFalse)
	left := w.clock.Now().Add(5 * time.Minute)
	w.stop("web", "a", 2)
	w.pend("web", 2)
	w.pass()
	w.want("the status while it is offline", w.told("shop"), "web a=2 b=2 c=2")
	w.want("Degraded", w.message("shop", "Degraded"),
		"replicas are held by Clusters that take no more: a (offline, left at "+left.UTC().Format(time.RFC3339)+")")
	if again := w.nextPass(); again > left.Sub(w.clock.Now()) || again < 4*time.Minute {
		t.Errorf("another pass comes after %v, and the Cluster is left after %v", again, left.Sub(w.clock.Now()))
	}

	w.clock.SetTime(left)
	w.restart()
	w.pass()
	w.want("the status after five minutes", w.told("shop"), "web b=3 c=3")
	w.want("the policy after five minutes", w.policy("shop", "web"), "6: b=3/3 c=3/3")
	w.want("what was left", w.left("shop"), "a")
	since := w.get("shop").Status.FailedOver[0].Time

	w.clock.Step(time.Hour)
	w.online("a", metav1.ConditionTrue)
	w.deploy("web", 8)
	w.pass()
	w.want("the status once it is back", w.told("shop"), "web b=4 c=4")
	w.runAsDivided("shop")
	if now := w.get("shop").Status.FailedOver[0].Time; !now.Equal(&since) {
		t.Errorf("it was left at %v, and later it says %v", since, now)
	}

	w.clock.Step(30 * time.Minute)
	w.deploy("web", 12)
	w.pass()
	w.want("what is left after half an hour", w.left("shop"), "")
	w.want("the status after half an hour", w.told("shop"), "web a=2 b=5 c=5")
}

func TestWeightsOfAClusterThatIsOffline(t *testing.T) {
	w := newWorld(t)
	for _, site := range []string{"a", "b"} {
		w.site(site, 9)
		w.online(site, metav1.ConditionTrue)
	}
	w.deploy("web", 5)
	weights := static(map[string]int32{"a": 2, "b": 3})
	w.subscribe("shop", []string{"web"}, weights, failingOver(berthv1alpha1.FailoverNever))
	w.online("a", metav1.ConditionFalse)
	w.clock.Step(100 * time.Hour)
	w.pass()
	w.want("the status, with Never", w.told("shop"), "web a=2 b=3")
	w.want("Degraded, with Never", w.message("shop", "Degraded"),
		"replicas are held by Clusters that take no more: a (offline, and failover.after is Never)")

	w.change("shop", failingOver("1h"))
	w.pass()
	w.want("the policy", w.policy("shop", "web"), "*: b=3")
	w.want("what was left", w.left("shop"), "a")

	w.online("b", metav1.ConditionFalse)
	w.pass()
	w.want("the policy while b waits", w.policy("shop", "web"), "*: b=3")
	w.want("what was left while none is online", w.left("shop"), "a")

	w.clock.Step(time.Hour)
	w.pass()
	w.want("the policy when b would be left, too", w.policy("shop", "web"), "*: a=2 b=3")
	w.want("what was left when all would be", w.left("shop"), "")

	w.online("a", metav1.ConditionTrue)
	w.change("shop", func(s *berthv1alpha1.Subscription) { s.Spec.Failover = nil })
	w.pass()
	w.want("the policy without a failover", w.policy("shop", "web"), "*: a=2 b=3")
}
