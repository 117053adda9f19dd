// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package subscription_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/placement/divide"
	"berth.dev/berth/pkg/placement/subscription"
)

func deployment(name string) berthv1alpha1.Feed {
	return berthv1alpha1.Feed{APIVersion: "apps/v1", Kind: "Deployment", Name: name}
}

func makeSubscription(name string, age int, feeds ...berthv1alpha1.Feed) *berthv1alpha1.Subscription {
	return &berthv1alpha1.Subscription{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "shop", Name: name, UID: "u",
			CreationTimestamp: metav1.NewTime(time.Date(2026, 1, 1, 0, 0, -age, 0, time.UTC)),
		},
		Spec: berthv1alpha1.SubscriptionSpec{Feeds: feeds},
	}
}

func TestStrategyOf(t *testing.T) {
	dynamic := func(s berthv1alpha1.DynamicStrategy) *berthv1alpha1.DividingScheduling {
		return &berthv1alpha1.DividingScheduling{
			Type: berthv1alpha1.DynamicDividingType, DynamicDividing: &berthv1alpha1.DynamicDividing{Strategy: s},
		}
	}
	tests := map[string]struct {
		strategy berthv1alpha1.SchedulingStrategy
		dividing *berthv1alpha1.DividingScheduling
		want     divide.Strategy
	}{
		"nothing is said":         {want: divide.Replication},
		"by weight":               {"Dividing", &berthv1alpha1.DividingScheduling{Type: "Static"}, divide.Static},
		"by room":                 {"Dividing", &berthv1alpha1.DividingScheduling{Type: "Dynamic"}, divide.Spread},
		"the short spelling":      {"DynamicDividing", nil, divide.Spread},
		"in few clusters":         {"Dividing", dynamic("Binpack"), divide.Binpack},
		"the short one in few":    {"DynamicDividing", dynamic("Binpack"), divide.Binpack},
		"replication all the way": {"Replication", dynamic("Binpack"), divide.Replication},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			spec := &berthv1alpha1.SubscriptionSpec{SchedulingStrategy: tc.strategy, DividingScheduling: tc.dividing}
			if got := subscription.StrategyOf(spec); got != tc.want {
				t.Errorf("StrategyOf = %s, want %s", got, tc.want)
			}
		})
	}
}

func TestPolicyNamesAreValidAndApart(t *testing.T) {
	long := strings.Repeat("a", 250)
	seen := map[string]bool{}
	for _, s := range []string{"a", "a-b", long, long[:199] + "."} {
		for _, f := range []berthv1alpha1.Feed{
			deployment("c"), deployment("b-c"), deployment(long), {APIVersion: "apps/v1", Kind: "StatefulSet", Name: "c"},
			{APIVersion: "example.com/v1", Kind: "Deployment", Name: "c"},
		} {
			name := subscription.PolicyName(s, &f)
			if wrong := validation.IsDNS1123Subdomain(name); len(wrong) > 0 {
				t.Errorf("%q: %v", name, wrong)
			}
			if seen[name] {
				t.Errorf("%q is given twice", name)
			}
			seen[name] = true
		}
	}
	other := deployment("c")
	other.APIVersion = "apps/v1beta1"
	same := deployment("c")
	if subscription.PolicyName("a", &other) != subscription.PolicyName("a", &same) {
		t.Error("the same object has two policies")
	}
}

// The names under which policies were stored by earlier versions.
func TestPolicyNamesStayAsTheyAreStored(t *testing.T) {
	long := strings.Repeat("a", 198)
	tests := map[string]struct{ subscription, feed, want string }{
		"short":                      {"shop", "web", "shop-web-cdac5bd6c0434334"},
		"as long as it can be":       {long, "x", long + "-x-34c8141b93e88a54"},
		"cut":                        {long + "a", "web", long + "a-0902e785894b17e1"},
		"cut, without dashes at end": {long, "-x", long + "-1dc72ddd30775263"},
		"cut, without dots at end":   {long + ".", "web", long + "-7566d1e8030dc55a"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			feed := deployment(tc.feed)
			if got := subscription.PolicyName(tc.subscription, &feed); got != tc.want {
				t.Errorf("PolicyName = %q, want %q", got, tc.want)
			}
		})
	}
}

func TestIndex(t *testing.T) {
	foreign := deployment("abroad")
	foreign.Namespace = "bank"
	gone := makeSubscription("gone", 99, deployment("web"))
	gone.DeletionTimestamp = &metav1.Time{}
	x := subscription.NewIndex([]*berthv1alpha1.Subscription{
		gone, makeSubscription("young", 1, deployment("web"), deployment("db")), makeSubscription("old", 9, foreign, deployment("web")),
	})
	for name, want := range map[string]string{"web": "old 1", "db": "young 1", "abroad": "none", "other": "none"} {
		got := "none"
		if s, i := x.Of("shop", "apps/v1", "Deployment", name); s != nil {
			got = s.Name + " " + string(rune('0'+i))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("who places %s (-want +got):\n%s", name, diff)
		}
	}
	if s, _ := x.Of("bank", "apps/v1", "Deployment", "abroad"); s != nil {
		t.Error("a Subscription places an object of another namespace")
	}
	if !x.Any("shop") || x.Any("bank") {
		t.Error("the wrong namespaces have Subscriptions")
	}
}

func TestCompare(t *testing.T) {
	vip := makeSubscription("vip", 1)
	vip.Spec.Priority = new(int32(5))
	list := []*berthv1alpha1.Subscription{makeSubscription("young", 1), vip, makeSubscription("old", 9)}
	slices.SortFunc(list, subscription.Compare)
	var got []string
	for _, s := range list {
		got = append(got, s.Name)
	}
	if diff := cmp.Diff([]string{"vip", "old", "young"}, got); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
}
