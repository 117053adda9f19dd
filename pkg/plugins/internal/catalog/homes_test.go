// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// TestWhoStandsBack makes Schedulers that are said to run, said not to, or not spoken of yet.
func TestWhoStandsBack(t *testing.T) {
	scheduler := func(name string, ready metav1.ConditionStatus) *berthv1alpha1.Scheduler {
		s := &berthv1alpha1.Scheduler{ObjectMeta: metav1.ObjectMeta{Name: name}}
		if ready != "" {
			s.Status.Conditions = []metav1.Condition{{Type: berthv1alpha1.SchedulerReady, Status: ready}}
		}
		return s
	}
	commons := scheduler("a", metav1.ConditionFalse)
	commons.Status.Commons = &berthv1alpha1.Commons{Revision: 1}
	bound := &berthv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "c"}, Status: berthv1alpha1.ClusterStatus{HomeScheduler: "a"}}
	type list = []*berthv1alpha1.Scheduler
	tests := map[string]struct {
		self                       string
		schedulers                 list
		cluster                    *berthv1alpha1.Cluster
		shared, living, registered bool
		other                      string
	}{
		"without a name, there is none":                       {},
		"without a name, one runs":                            {schedulers: list{scheduler("a", metav1.ConditionTrue)}, shared: true, living: true, other: "a"},
		"without a name, one may have come":                   {schedulers: list{scheduler("a", "")}, shared: true, living: true, other: "a"},
		"without a name, one is an object alone":              {schedulers: list{scheduler("a", metav1.ConditionFalse)}, other: "a"},
		"without a name, one of two runs":                     {schedulers: list{scheduler("a", metav1.ConditionFalse), scheduler("b", metav1.ConditionTrue)}, shared: true, living: true, other: "b"},
		"without a name, one has died and has a cluster":      {schedulers: list{scheduler("a", metav1.ConditionFalse)}, cluster: bound, shared: true, other: "a"},
		"without a name, one has died and has the commons":    {schedulers: list{commons}, shared: true, other: "a"},
		"without a name, a cluster's home is gone altogether": {cluster: bound},
		"a itself is alone":                                   {self: "a", schedulers: list{scheduler("a", metav1.ConditionTrue)}, registered: true},
		"a itself has just come":                              {self: "a", schedulers: list{scheduler("a", "")}, registered: true},
		"a itself counts as dead":                             {self: "a", schedulers: list{scheduler("a", metav1.ConditionFalse)}},
		"a keeps to what is bound to it beside a dead one":    {self: "a", schedulers: list{scheduler("a", metav1.ConditionTrue), scheduler("b", metav1.ConditionFalse)}, shared: true, registered: true, other: "b"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var clusters []*berthv1alpha1.Cluster
			if tc.cluster != nil {
				clusters = append(clusters, tc.cluster)
			}
			h := buildHomes(tc.self, tc.schedulers, clusters)
			other := ""
			if h.Other != nil {
				other = h.Other.Name
			}
			got := []any{h.Shared, h.Living, h.Registered, other}
			if diff := cmp.Diff([]any{tc.shared, tc.living, tc.registered, tc.other}, got); diff != "" {
				t.Errorf("shared, living, registered, other mismatch (-want +got):\n%s", diff)
			}
		})
	}
}
