// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package whatif_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/plugintest"
	"berth.dev/berth/pkg/simulator/whatif"
)

func TestOnePolicyForManyNamespaces(t *testing.T) {
	wide := &berthv1alpha1.ClusterPropagationPolicy{ObjectMeta: metav1.ObjectMeta{Name: "wide"}}
	wide.Spec.PropagationPolicySpec = plugintest.MakePolicy("p").Weight(1, "hangzhou").Deployment("x").Obj().Spec
	selecting := wide.DeepCopy()
	selecting.Spec.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"team": "shop"}}
	shop := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: plugintest.Namespace, Labels: map[string]string{"team": "shop"}}}
	own := plugintest.MakePolicy("own").Weight(1, "beijing").Deployment("x").Obj()
	tests := map[string]struct {
		objects []runtime.Object
		want    string
	}{
		"in all":                         {[]runtime.Object{wide}, "Deployment/x 4 hangzhou"},
		"in those with a label":          {[]runtime.Object{selecting, shop}, "Deployment/x 4 hangzhou"},
		"not in others":                  {[]runtime.Object{selecting}, "Deployment/x 2 beijing, 2 hangzhou"},
		"one of the namespace is better": {[]runtime.Object{wide, own}, "Deployment/x 4 beijing"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			objects := append(twoSites(), deployment("x", 4, "1"))
			got := brief(settled(t, simulation(t, append(objects, tc.objects...)...)))
			if diff := cmp.Diff([]string{tc.want}, got); diff != "" {
				t.Errorf("workloads (-want +got):\n%s", diff)
			}
		})
	}
}

// A policy for many namespaces is in none, whatever namespace a file is read for.
func TestAPolicyForManyNamespacesIsInNone(t *testing.T) {
	o, err := whatif.Decode([]byte(`{"apiVersion":"berth.dev/v1alpha1","kind":"ClusterPropagationPolicy","metadata":{"name":"wide"},"spec":{
		"resourceSelectors":[{"apiVersion":"apps/v1","kind":"Deployment"}],
		"placement":{"staticWeightList":[{"clusterNames":["hangzhou"],"weight":1}]}}}`), "shop")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := whatif.Identity(o), "ClusterPropagationPolicy wide"; got != want {
		t.Errorf("it is %s, want %s", got, want)
	}
}
