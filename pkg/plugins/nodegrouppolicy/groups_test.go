// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package nodegrouppolicy_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/plugintest"
)

// tiers returns sites of two nodes each, which are Clusters with a label.
func tiers(tiers map[string]string) []runtime.Object {
	var all []runtime.Object
	for name, tier := range tiers {
		for _, object := range plugintest.Sites(2, name) {
			if c, ok := object.(*berthv1alpha1.Cluster); ok {
				c.Labels = map[string]string{"tier": tier}
			}
			all = append(all, object)
		}
	}
	return all
}

func TestGroupsShareReplicas(t *testing.T) {
	selecting := func(tier string) *metav1.LabelSelector {
		return &metav1.LabelSelector{MatchLabels: map[string]string{"tier": tier}}
	}
	policy := plugintest.MakePolicy("nginx").Deployment("nginx").Groups(
		berthv1alpha1.ClusterGroup{Name: "stores", ClusterSelector: selecting("store"), ReplicasPerCluster: new(int32(1))},
		berthv1alpha1.ClusterGroup{Name: "regions", ClusterSelector: selecting("region"), Weight: new(int64(3))},
	)
	sites := map[string]string{"s1": "store", "s2": "store", "r1": "region", "r2": "region", "other": "lab"}
	tests := map[string]struct {
		sites map[string]string
		want  map[string]int
	}{
		"stores first":         {sites: sites, want: map[string]int{"s1": 1, "s2": 1, "r1": 2, "r2": 2}},
		"no store yet":         {sites: map[string]string{"r1": "region", "other": "lab"}, want: map[string]int{"r1": 6}},
		"nothing in any group": {sites: map[string]string{"other": "lab"}, want: map[string]int{}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			d, rs := deployment("nginx", 6)
			s := plugintest.New(t, append(tiers(tc.sites), policy.Obj(), d, rs))
			if diff := cmp.Diff(tc.want, bySite(place(t, s, rs, 0, 6))); diff != "" {
				t.Errorf("replicas by site (-want +got):\n%s", diff)
			}
		})
	}
	t.Run("pods of an unknown number", func(t *testing.T) {
		bare := plugintest.MakePolicy("bare").Selects("v1", "Pod", "").Groups(policy.Spec.Placement.ClusterGroups...)
		s := plugintest.New(t, append(tiers(sites), bare.Obj()))
		var placed []*corev1.Pod
		for _, name := range []string{"a", "b", "c", "d"} {
			if pod, _ := s.Place(plugintest.MakePod(name).Obj()); pod != nil {
				placed = append(placed, pod)
			}
		}
		if diff := cmp.Diff(map[string]int{"s1": 1, "s2": 1, "r1": 1, "r2": 1}, bySite(placed)); diff != "" {
			t.Errorf("replicas by site (-want +got):\n%s", diff)
		}
	})
}
