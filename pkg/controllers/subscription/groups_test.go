// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package subscription_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// regions makes groups of sites; of each the Subscription is to use as many Clusters as it says.
func regions(n int32, groups ...[]string) change {
	return func(s *berthv1alpha1.Subscription) {
		s.Spec.SchedulingBySubGroup = new(true)
		s.Spec.Subscribers = nil
		for _, sites := range groups {
			s.Spec.Subscribers = append(s.Spec.Subscribers, berthv1alpha1.Subscriber{
				ClusterAffinity: metav1.LabelSelector{
					MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "site", Operator: metav1.LabelSelectorOpIn, Values: sites}},
				},
				Weight: 1, SubGroupStrategy: &berthv1alpha1.SubGroupStrategy{MinClusters: n},
			})
		}
	}
}

func TestSubgroupsLimitTheClusters(t *testing.T) {
	north, south := []string{"a", "b", "c"}, []string{"x", "y"}
	tests := map[string]struct {
		changes []change
		want    string
	}{
		"those with most room":       {[]change{regions(1, north, south)}, "web b=4 y=2"},
		"two of each":                {[]change{regions(2, north, south)}, "web b=3 c=1 x=1 y=1"},
		"0 stands for all":           {[]change{regions(0, south)}, "web x=2 y=4"},
		"one that two groups choose": {[]change{regions(1, north, []string{"b", "x"})}, "web b=6"},
		"copies": {[]change{regions(1, north, south), func(s *berthv1alpha1.Subscription) {
			s.Spec.SchedulingStrategy = berthv1alpha1.ReplicationStrategy
		}}, "web a=6 x=6"},
		"by weight": {[]change{regions(1, north, south), func(s *berthv1alpha1.Subscription) {
			s.Spec.SchedulingStrategy = berthv1alpha1.DividingStrategy
			s.Spec.DividingScheduling = &berthv1alpha1.DividingScheduling{Type: berthv1alpha1.StaticDividingType}
			s.Spec.Subscribers[0].Weight = 2
		}}, "web a=4 x=2"},
		"switched off": {[]change{regions(1, south), func(s *berthv1alpha1.Subscription) { s.Spec.SchedulingBySubGroup = new(false) }}, "web x=2 y=4"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			for site, cpus := range map[string]int{"a": 2, "b": 8, "c": 4, "x": 2, "y": 4} {
				w.site(site, cpus)
			}
			w.deploy("web", 6)
			w.subscribe("shop", []string{"web"}, tc.changes...)
			w.pass()
			w.want("the status", w.told("shop"), tc.want)
			w.restart()
			w.pass()
			w.want("the status after a restart", w.told("shop"), tc.want)
		})
	}
}

func TestASubgroupKeepsItsClustersUntilTheyFail(t *testing.T) {
	w := newWorld(t)
	w.site("a", 8)
	w.site("b", 9)
	w.deploy("web", 6)
	w.subscribe("shop", []string{"web"}, regions(1, []string{"a", "b", "c"}))
	w.pass()
	w.want("the status", w.told("shop"), "web b=6")
	w.runAsDivided("shop")
	w.site("c", 99)
	w.pass()
	w.want("the status with a larger Cluster", w.told("shop"), "web b=6")
	if err := w.client.Delete(t.Context(), &berthv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "b"}}, client.PropagationPolicy("Background")); err != nil {
		t.Fatal(err)
	}
	w.stop("web", "b", 6)
	w.pass()
	w.want("the status without its Cluster", w.told("shop"), "web c=6")
}
