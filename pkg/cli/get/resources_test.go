// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package get_test

import (
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clienttesting "k8s.io/client-go/testing"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/cli/internal/clitest"
)

// getResources runs berthctl get resources; arguments are separated by spaces.
func getResources(t *testing.T, w *clitest.World, args string) clitest.Result {
	t.Helper()
	return clitest.Run(t.Context(), w.Options(), append([]string{"get", "resources"}, strings.Fields(args)...)...)
}

func poolOf(name, quantity string, selector map[string]string) berthv1alpha1.ClusterResourceQuantity {
	return berthv1alpha1.ClusterResourceQuantity{Name: name, Quantity: resource.MustParse(quantity), NodeSelector: selector}
}

func allocation(name, held, free string, holders int32) berthv1alpha1.PoolAllocation {
	return berthv1alpha1.PoolAllocation{
		Name: name, Quantity: resource.MustParse(held), Free: resource.MustParse(free), Holders: holders,
	}
}

// storage has a pool for each of two racks, and holders of a third one that is gone; licences have
// one pool.
func storage(t *testing.T) (w *clitest.World, rack *berthv1alpha1.ClusterResource) {
	t.Helper()
	w = clitest.NewWorld(t)
	capacity := []berthv1alpha1.ClusterResourceQuantity{
		poolOf("rack-a", "100Gi", map[string]string{"rack": "a", "disk": "ssd"}),
		poolOf("rack-b", "50Gi", map[string]string{"rack": "b"}),
	}
	ready := metav1.Condition{Type: "Ready", Status: metav1.ConditionTrue, Reason: "Published", Message: "all is well"}
	rack = &berthv1alpha1.ClusterResource{
		ObjectMeta: metav1.ObjectMeta{Name: "rack-storage"},
		Spec:       berthv1alpha1.ClusterResourceSpec{Capacity: capacity},
		Status: berthv1alpha1.ClusterResourceStatus{
			Capacity: capacity, Allocatable: capacity, Waiting: 2, Conditions: []metav1.Condition{ready},
			Allocated: []berthv1alpha1.PoolAllocation{
				allocation("rack-a", "30Gi", "70Gi", 2), allocation("rack-b", "0", "50Gi", 0), allocation("rack-z", "1Gi", "0", 1),
			},
			TopNamespaces: []berthv1alpha1.NamespaceAllocation{
				{Namespace: "x", Quantity: resource.MustParse("30Gi"), Holders: 2},
				{Namespace: "y", Quantity: resource.MustParse("1Gi"), Holders: 1},
			},
		},
	}
	matlab := &berthv1alpha1.ClusterResource{
		ObjectMeta: metav1.ObjectMeta{Name: "matlab"},
		Spec:       berthv1alpha1.ClusterResourceSpec{Mode: berthv1alpha1.AllOf},
		Status: berthv1alpha1.ClusterResourceStatus{
			Capacity:    []berthv1alpha1.ClusterResourceQuantity{poolOf("default", "50", nil)},
			Allocatable: []berthv1alpha1.ClusterResourceQuantity{poolOf("default", "48", nil)},
			Allocated:   []berthv1alpha1.PoolAllocation{allocation("default", "5", "43", 5)},
			Conditions:  []metav1.Condition{ready},
		},
	}
	w.Berth = append(w.Berth, rack, matlab)
	return w, rack
}

func TestResourcesFormats(t *testing.T) {
	tests := map[string]struct{ args, want string }{
		"table": {want: `
NAME           POOL      CAPACITY   ALLOCATED   FREE   HOLDERS   WAITING
matlab         default   50         5           43     5         0
rack-storage   rack-a    100Gi      30Gi        70Gi   2         2
rack-storage   rack-b    50Gi       0           50Gi   0         2
rack-storage   rack-z    -          1Gi         0      1         2
`},
		"wide": {args: "-o wide", want: `
NAME           POOL      CAPACITY   ALLOCATED   FREE   HOLDERS   WAITING   ALLOCATABLE   NODE-SELECTOR     MODE
matlab         default   50         5           43     5         0         48            <none>            AllOf
rack-storage   rack-a    100Gi      30Gi        70Gi   2         2         100Gi         disk=ssd,rack=a   AnyOf
rack-storage   rack-b    50Gi       0           50Gi   0         2         50Gi          rack=b            AnyOf
rack-storage   rack-z    -          1Gi         0      1         2         -             <none>            AnyOf
`},
		"json": {args: "matlab -o json", want: `
{"items":[{"name":"matlab","mode":"AllOf","ready":true,"message":"all is well","overcommitted":false,"deleting":false,` +
			`"waiting":0,"pools":[{"name":"default","capacity":"50","allocatable":"48","allocated":"5","free":"43","holders":5}]}]}
`},
		"yaml": {args: "rack-storage -o yaml", want: `
items:
- deleting: false
  message: all is well
  mode: AnyOf
  name: rack-storage
  overcommitted: false
  pools:
  - allocatable: 100Gi
    allocated: 30Gi
    capacity: 100Gi
    free: 70Gi
    holders: 2
    name: rack-a
    nodeSelector:
      disk: ssd
      rack: a
  - allocatable: 50Gi
    allocated: "0"
    capacity: 50Gi
    free: 50Gi
    holders: 0
    name: rack-b
    nodeSelector:
      rack: b
  - allocated: 1Gi
    free: "0"
    holders: 1
    name: rack-z
  ready: true
  topNamespaces:
  - holders: 2
    namespace: x
    quantity: 30Gi
  - holders: 1
    namespace: "y"
    quantity: 1Gi
  waiting: 2
`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w, _ := storage(t)
			getResources(t, w, tc.args).CheckOutput(t, strings.TrimPrefix(tc.want, "\n"))
		})
	}
}

func TestWhatPeopleShouldKnowOfResources(t *testing.T) {
	tests := map[string]struct {
		change func(*berthv1alpha1.ClusterResource)
		args   string
		want   string
	}{
		"nothing": {},
		"who holds most, of a single one": {
			args: "rack-storage", want: "rack-storage is held by namespace x: 30Gi (2 pods), namespace y: 1Gi (1 pod)\n",
		},
		"the status is missing": {
			change: func(r *berthv1alpha1.ClusterResource) { r.Status = berthv1alpha1.ClusterResourceStatus{} },
			want:   "rack-storage: the status is not up to date; check that berth-controller-manager is running\n",
		},
		"the status is of another spec": {
			change: func(r *berthv1alpha1.ClusterResource) { r.Generation = 2 },
			want:   "rack-storage: the status is not up to date; check that berth-controller-manager is running\n",
		},
		"the pools cannot be used": {
			change: func(r *berthv1alpha1.ClusterResource) {
				r.Status.Conditions[0].Status, r.Status.Conditions[0].Message = metav1.ConditionFalse, "two pools\nare called a"
			},
			want: "rack-storage is not ready: two pools are called a\n",
		},
		"pods hold too much, and keep it from being deleted": {
			change: func(r *berthv1alpha1.ClusterResource) {
				r.Status.Conditions = append(r.Status.Conditions,
					metav1.Condition{Type: "Overcommitted", Status: metav1.ConditionTrue, Message: "pods hold more"},
					metav1.Condition{Type: "InUse", Status: metav1.ConditionTrue, Message: "held by x/p"})
			},
			want: "rack-storage: pods hold more\nrack-storage: held by x/p\n",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w, rack := storage(t)
			if tc.change != nil {
				tc.change(rack)
			}
			got := getResources(t, w, tc.args)
			if got.Code != 0 || got.Err != tc.want {
				t.Errorf("exit status %d, standard error\n%s\nwant\n%s", got.Code, got.Err, tc.want)
			}
		})
	}
}

func TestWithoutResources(t *testing.T) {
	got := getResources(t, clitest.NewWorld(t), "")
	if got.Code != 0 || got.Out != "" || got.Err != "No ClusterResources found.\n" {
		t.Errorf("exit status %d, output %q, error %q", got.Code, got.Out, got.Err)
	}
}

func TestResourcesThatCannotBeShown(t *testing.T) {
	w, _ := storage(t)
	getResources(t, w, "abaqus").CheckFailed(t, `cluster resource "abaqus" not found`)
	getResources(t, w, "a b").CheckFailed(t, "takes at most one name")
	w.Clients.Berth.PrependReactor("list", "clusterresources", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewForbidden(schema.GroupResource{}, "", nil)
	})
	getResources(t, w, "").CheckFailed(t, "listing clusterresources: not allowed")
}
