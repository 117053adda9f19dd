// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/policy"
	"berth.dev/berth/pkg/placement/grouping"
)

// manyLeft returns a policy over 300 clusters of which the first 280 were left.
func manyLeft() (clusters []*berthv1alpha1.Cluster, object *berthv1alpha1.PropagationPolicy, left map[string]metav1.Time) {
	for i := range 300 {
		clusters = append(clusters, &berthv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{
			Name: fmt.Sprintf("store-%03d", i), Labels: map[string]string{"tier": "store"},
		}})
	}
	object = &berthv1alpha1.PropagationPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "stores"}}
	object.Spec.Placement.ClusterGroups = []berthv1alpha1.ClusterGroup{{
		Name: "stores", ClusterSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"tier": "store"}},
	}}
	left = map[string]metav1.Time{}
	for i := range 280 {
		left[clusters[i].Name] = metav1.Unix(int64(i), 0)
	}
	policy.SetLeft(&object.Status, left)
	return clusters, object, left
}

// However many clusters were left, those have no seats, and the others have all.
func TestClustersThatTheStatusDoesNotNameAreLeft(t *testing.T) {
	clusters, object, left := manyLeft()
	if got, want := len(object.Status.FailedOver), 50; got != want {
		t.Errorf("%d clusters are named, want %d", got, want)
	}
	compiled := policy.Compile(object, grouping.NewSites(clusters, nil))
	if compiled.Err != nil {
		t.Fatal(compiled.Err)
	}
	plan := compiled.Plan(40)
	for i, cluster := range clusters {
		want := 0
		if i >= 280 {
			want = 2
		}
		if index, named := compiled.Order.Index(cluster.Name); named && plan.Share(index) != want || !named && want > 0 {
			t.Errorf("share of %s is not %d", cluster.Name, want)
		}
	}
	if since, told := policy.LeftBy(&object.Status).Since("store-007"); !told || since != left["store-007"] {
		t.Errorf("store-007 was left at %v, want %v", since, left["store-007"])
	}
}

func TestAnotherClusterThatTheStatusDoesNotNameMakesADifference(t *testing.T) {
	_, object, left := manyLeft()
	other := object.DeepCopy()
	if !policy.SameMeaning(object, other) {
		t.Error("a copy means something else")
	}
	left["store-299"] = metav1.Unix(0, 0)
	policy.SetLeft(&other.Status, left)
	if policy.SameMeaning(object, other) {
		t.Error("the status means the same with another cluster left")
	}
}
