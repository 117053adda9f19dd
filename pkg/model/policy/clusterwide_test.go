// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/policy"
)

func TestNamespaces(t *testing.T) {
	tests := map[string]struct {
		selector *metav1.LabelSelector
		// wantShop and wantPlain are whether the namespaces with the label team=shop and without
		// labels are selected.
		wantShop, wantPlain, wantErr bool
	}{
		"all if there is none":     {wantShop: true, wantPlain: true},
		"those with a label":       {selector: &metav1.LabelSelector{MatchLabels: map[string]string{"team": "shop"}}, wantShop: true},
		"one that nobody can read": {selector: &metav1.LabelSelector{MatchLabels: map[string]string{"a b": "c"}}, wantErr: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			object := &berthv1alpha1.ClusterPropagationPolicy{}
			object.Spec.NamespaceSelector = tc.selector
			selector, err := policy.Namespaces(object)
			if (err != nil) != tc.wantErr {
				t.Fatalf("error %v, want one: %t", err, tc.wantErr)
			}
			if err != nil {
				return
			}
			if shop, plain := selector.Matches(labels.Set{"team": "shop"}), selector.Matches(labels.Set{}); shop != tc.wantShop || plain != tc.wantPlain {
				t.Errorf("selects team=shop: %t, no labels: %t; want %t and %t", shop, plain, tc.wantShop, tc.wantPlain)
			}
		})
	}
}

func TestInNamespace(t *testing.T) {
	object := &berthv1alpha1.ClusterPropagationPolicy{ObjectMeta: metav1.ObjectMeta{Name: "web", UID: "uid"}}
	object.Spec.ResourceSelectors = []berthv1alpha1.ResourceSelector{{Kind: "Job"}, {Kind: "Pod", Namespace: "shop"}, {Kind: "Deployment", Namespace: "bank"}}
	tests := map[string]struct {
		selectors []berthv1alpha1.ResourceSelector
		want      []string // kinds
	}{
		"its own and those of all":   {selectors: object.Spec.ResourceSelectors, want: []string{"Job", "Pod"}},
		"none of its own nor of all": {selectors: object.Spec.ResourceSelectors[2:]},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			object := object.DeepCopy()
			object.Spec.ResourceSelectors = tc.selectors
			made := policy.InNamespace(object, "shop")
			if (made == nil) != (tc.want == nil) {
				t.Fatalf("made %v, want selectors %v", made, tc.want)
			}
			if made == nil {
				return
			}
			var kinds []string
			for _, s := range made.Spec.ResourceSelectors {
				kinds = append(kinds, s.Kind)
			}
			if diff := cmp.Diff(tc.want, kinds); diff != "" {
				t.Errorf("kinds that it selects (-want +got):\n%s", diff)
			}
			if made.Name != "cluster-web" || made.Namespace != "shop" || !metav1.IsControlledBy(made, object) {
				t.Errorf("it is %s/%s, owned by %v", made.Namespace, made.Name, made.OwnerReferences)
			}
			if len(object.Spec.ResourceSelectors) != len(tc.selectors) {
				t.Error("the ClusterPropagationPolicy is changed")
			}
		})
	}
}
