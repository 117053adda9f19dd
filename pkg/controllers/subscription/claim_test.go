// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package subscription_test

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/controllers/internal/singleton"
	rules "berth.dev/berth/pkg/placement/subscription"
)

func TestAPolicyOfAnotherOwnerIsLeftAlone(t *testing.T) {
	ref := deployment("web")
	name := rules.PolicyName("shop", &ref)
	weights := []berthv1alpha1.StaticClusterWeight{{ClusterNames: []string{"b"}, Weight: 7}}
	policy := func(selects, owner string) *berthv1alpha1.PropagationPolicy {
		p := &berthv1alpha1.PropagationPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
		p.Spec.ResourceSelectors = []berthv1alpha1.ResourceSelector{{APIVersion: "apps/v1", Kind: "Deployment", Name: selects}}
		p.Spec.Placement.StaticWeightList = weights
		if owner != "" {
			p.OwnerReferences = []metav1.OwnerReference{
				{APIVersion: "berth.dev/v1alpha1", Kind: "Subscription", Name: owner, UID: "other", Controller: new(true)},
			}
		}
		return p
	}
	tests := map[string]struct {
		policy      *berthv1alpha1.PropagationPolicy
		wantMessage string
	}{
		"of another controller": {
			policy("web", "other"),
			"Deployment web: there is a policy " + name + " already that belongs to Subscription other: " +
				"remove its owner reference or the policy",
		},
		"about something else": {
			policy("db", ""), "Deployment web: there is a policy " + name + " already that is about something else: remove it",
		},
		"of a Subscription of this name that was there before": {policy("web", "shop"), ""},
		"about the feed alone":                                 {policy("web", ""), ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.site("a", 9)
			w.deploy("web", 2)
			w.create(tc.policy)
			w.subscribe("shop", []string{"web"}, static(map[string]int32{"a": 1}))
			w.pass()
			wantPolicy, wantReason := "*: a=1", "AllPlaced"
			if tc.wantMessage != "" {
				wantPolicy, wantReason = ": b=7", "PolicyTaken"
				w.want("the message", w.message("shop", "Scheduled"), tc.wantMessage)
			}
			w.want("the policy", w.policy("shop", "web"), wantPolicy)
			w.want("Scheduled", w.reason("shop", "Scheduled"), wantReason)
		})
	}
}

// A cache that lags behind knows neither what somebody has made nor what somebody has taken.
func TestACopyIsWrittenOnlyAsItWasRead(t *testing.T) {
	users := func() *appsv1.Deployment {
		d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "web-b"}}
		d.Spec.Replicas = new(int32(7))
		d.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "users"}}
		return d
	}
	tests := map[string]struct {
		// meanwhile reports whether it is made right before the copy is applied, and not long before.
		meanwhile bool
	}{
		"the cache does not know what has the name": {false},
		"somebody makes something of the name":      {true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.site("a", 4)
			w.site("b", 4)
			w.deploy("web", 2)
			w.subscribe("shop", []string{"web"}, everywhere("a", "b"))
			w.hidden = "web-b"
			if tc.meanwhile {
				w.beforeApply = func() { w.create(users()) }
			} else {
				w.create(users())
			}
			w.tracker.Invalidate()
			// What the cache does not know is an error, which asks for another pass.
			_, _ = w.r.Reconcile(t.Context(), singleton.Key{})
			d := w.deployment("web-b")
			if *d.Spec.Replicas != 7 || len(d.OwnerReferences) > 0 || d.Spec.Selector.MatchLabels["app"] != "users" {
				t.Errorf("the Deployment of somebody else is changed: %v", d)
			}
			w.hidden = ""
			w.pass()
			w.want("Scheduled", w.reason("shop", "Scheduled"), "CopyMissing")
			w.want("the policy", w.policy("shop", "web-b"), "none")
		})
	}
}

func TestACopyThatIsTakenOverIsNotDeleted(t *testing.T) {
	w := newWorld(t)
	w.site("a", 4)
	w.site("b", 4)
	w.deploy("web", 2)
	w.subscribe("shop", []string{"web"}, everywhere("a", "b"))
	w.pass()
	w.beforeDelete = func() {
		d := w.deployment("web-b")
		d.OwnerReferences = nil
		if err := w.client.Update(t.Context(), d); err != nil {
			t.Fatal(err)
		}
	}
	w.change("shop", everywhere("a"))
	w.pass()
	if err := w.client.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "web-b"}, &appsv1.Deployment{}); err != nil {
		t.Errorf("the Deployment that was taken over: %v", err)
	}
}
