// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package scheduler_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/controllers/internal/schemetest"
	"berth.dev/berth/pkg/controllers/internal/singleton"
	"berth.dev/berth/pkg/controllers/scheduler"
)

func cluster(name, home, region string) *berthv1alpha1.Cluster {
	c := &berthv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: name}}
	c.Spec.Region = &berthv1alpha1.Region{Region: region}
	c.Spec.CPUCapacity = 8
	c.Status.HomeScheduler = home
	return c
}

// The cases of Global Resource Scheduler: what two clusters share stays, what was edited follows,
// and a scheduler that loses its last cluster is written too.
func TestUnionsFollowTheClusters(t *testing.T) {
	scheme := schemetest.New()
	c1, c2 := cluster("c1", "a", "west"), cluster("c2", "a", "west")
	api := fake.NewClientBuilder().WithScheme(scheme).WithStatusSubresource(&berthv1alpha1.Scheduler{}).WithObjects(
		&berthv1alpha1.Scheduler{ObjectMeta: metav1.ObjectMeta{Name: "a"}}, c1, c2, cluster("c3", "gone", "east")).Build()
	r := &scheduler.UnionReconciler{Client: api}
	steps := []struct {
		what     string
		do       func() error
		clusters []string
		regions  []berthv1alpha1.Region
		cpu      int64
	}{
		{"two of one region", func() error { return nil }, []string{"c1", "c2"}, []berthv1alpha1.Region{{Region: "west"}}, 16},
		{"one of them goes", func() error { return api.Delete(t.Context(), c2) }, []string{"c1"}, []berthv1alpha1.Region{{Region: "west"}}, 8},
		{"the other is edited", func() error {
			c1.Spec.Region.Region = "north"
			return api.Update(t.Context(), c1)
		}, []string{"c1"}, []berthv1alpha1.Region{{Region: "north"}}, 8},
		{"it goes too", func() error { return api.Delete(t.Context(), c1) }, nil, nil, 0},
	}
	for _, step := range steps {
		if err := step.do(); err != nil {
			t.Fatal(err)
		}
		if _, err := r.Reconcile(t.Context(), singleton.Key{}); err != nil {
			t.Fatal(err)
		}
		got := &berthv1alpha1.Scheduler{}
		if err := api.Get(t.Context(), client.ObjectKey{Name: "a"}, got); err != nil {
			t.Fatal(err)
		}
		want := berthv1alpha1.SchedulerStatus{ClusterCount: int32(len(step.clusters)), Clusters: step.clusters}
		want.Regions, want.CPUCapacity.Total = step.regions, step.cpu
		for _, r := range step.regions {
			want.Columns.Regions = r.Region
		}
		want.CPUCapacity.Max = min(8, step.cpu)
		if diff := cmp.Diff(want, got.Status); diff != "" {
			t.Errorf("%s: status mismatch (-want +got):\n%s", step.what, diff)
		}
	}
}
