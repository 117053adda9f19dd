// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package clusterpolicy

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// One of somebody else may be in the way, so that to remove it is news.
func TestWhichPolicyIsLookedAtForOneInANamespace(t *testing.T) {
	stores := []reconcile.Request{{NamespacedName: types.NamespacedName{Name: "stores"}}}
	owned := []metav1.OwnerReference{{
		APIVersion: berthv1alpha1.SchemeGroupVersion.String(), Kind: "ClusterPropagationPolicy", Name: "stores", UID: "1", Controller: new(true),
	}}
	tests := map[string]struct {
		meta metav1.ObjectMeta
		want []reconcile.Request
	}{
		"one by which it is carried out":         {metav1.ObjectMeta{Name: "cluster-stores", OwnerReferences: owned}, stores},
		"one of somebody else that has its name": {metav1.ObjectMeta{Name: "cluster-stores"}, stores},
		"any other":                              {metav1.ObjectMeta{Name: "stores"}, nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := (&Reconciler{}).named(t.Context(), &berthv1alpha1.PropagationPolicy{ObjectMeta: tc.meta})
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("passes that are asked for (-want +got):\n%s", diff)
			}
		})
	}
}
