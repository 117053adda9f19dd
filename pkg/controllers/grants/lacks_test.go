// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package grants_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/controllers/adviser"
)

// runs is a pod that holds so many licences out of a grant.
func runs(units string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "runs", UID: "runs"},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
			berthv1alpha1.ClusterResourceDomain + "/licence": resource.MustParse(units),
		}}}}},
	}
}

// Pods of a scheduler that run are to move to the Cluster of b, whose node is n.
func TestWhatReplicasLackThatAreToMoveIsGranted(t *testing.T) {
	for name, tc := range map[string]struct {
		before []berthv1alpha1.PoolGrant
		a      *berthv1alpha1.Spending
		lack   adviser.Lack
		want   []string
	}{
		"out of what nobody was granted": {
			before: []berthv1alpha1.PoolGrant{grantOf("a", 4)}, a: &berthv1alpha1.Spending{},
			lack: adviser.Lack{Scheduler: "b", Pod: runs("1"), Copies: 2}, want: []string{"a=4", "b=2"},
		},
		"out of what another one does not need": {
			before: []berthv1alpha1.PoolGrant{grantOf("a", 10)}, a: &berthv1alpha1.Spending{},
			lack: adviser.Lack{Scheduler: "b", Pod: runs("2"), Copies: 3}, want: []string{"a=10->4"},
		},
		"not out of what another one's pods wait for": {
			before: []berthv1alpha1.PoolGrant{grantOf("a", 10)}, a: wants("5"),
			lack: adviser.Lack{Scheduler: "b", Pod: runs("1"), Copies: 2}, want: []string{"a=10"},
		},
		"after all pods that wait": {
			a: wants("9"), lack: adviser.Lack{Scheduler: "b", Pod: runs("1"), Copies: 2}, want: []string{"a=9", "b=1"},
		},
		"nothing where no pool has enough": {
			a: wants("9"), lack: adviser.Lack{Scheduler: "b", Pod: runs("11"), Copies: 1}, want: []string{"a=9"},
		},
		"nothing to a scheduler that is not known": {
			a: wants("3"), lack: adviser.Lack{Scheduler: "c", Pod: runs("1"), Copies: 2}, want: []string{"a=3"},
		},
		"all that there is for more than can be counted": {
			a: wants("3"), lack: adviser.Lack{Scheduler: "b", Pod: runs("9"), Copies: 1 << 62}, want: []string{"a=3"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t, shard("a", tc.a), shard("b", &berthv1alpha1.Spending{}), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}})
			if tc.before != nil {
				licence := h.object()
				licence.Status.Grants, licence.Status.GrantsRevision = tc.before, 1
				if err := h.api.Status().Update(t.Context(), licence); err != nil {
					t.Fatal(err)
				}
			}
			h.Adviser = &adviser.Adviser{}
			tc.lack.Nodes = []string{"gone", "n"}
			h.Adviser.Lack("somebody", []adviser.Lack{tc.lack})
			h.pass()
			if diff := cmp.Diff(tc.want, h.read()); diff != "" {
				t.Errorf("grants (-want +got):\n%s", diff)
			}
		})
	}
}

func grantOf(scheduler string, units int64) berthv1alpha1.PoolGrant {
	return berthv1alpha1.PoolGrant{Scheduler: scheduler, Pool: "all", Quantity: *resource.NewQuantity(units, resource.DecimalSI), Revision: 1}
}
