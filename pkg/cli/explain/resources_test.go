// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package explain_test

import (
	"maps"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clienttesting "k8s.io/client-go/testing"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/cli/internal/clitest"
	"berth.dev/berth/pkg/model/stamp"
	"berth.dev/berth/pkg/placement/pool"
)

// storage is a world of three nodes, two of them in rack a and one in rack b, with 10Gi in each
// rack.
func storage(t *testing.T) (*clitest.World, *berthv1alpha1.ClusterResource) {
	t.Helper()
	w := clitest.NewWorld(t)
	for name, rack := range map[string]string{"n1": "a", "n2": "a", "n3": "b"} {
		w.Node(name).Labels = map[string]string{"rack": rack}
	}
	object := &berthv1alpha1.ClusterResource{ObjectMeta: metav1.ObjectMeta{Name: "storage"}}
	for _, rack := range []string{"a", "b"} {
		object.Status.Allocatable = append(object.Status.Allocatable, berthv1alpha1.ClusterResourceQuantity{
			Name: "rack-" + rack, Quantity: resource.MustParse("10Gi"), NodeSelector: map[string]string{"rack": rack},
		})
		object.Status.Allocated = append(object.Status.Allocated, berthv1alpha1.PoolAllocation{
			Name: "rack-" + rack, Free: resource.MustParse("10Gi"),
		})
	}
	w.Berth = append(w.Berth, object)
	return w, object
}

func hold(object *berthv1alpha1.ClusterResource, rack int, held, free string) {
	object.Status.Allocated[rack].Quantity, object.Status.Allocated[rack].Free = resource.MustParse(held), resource.MustParse(free)
}

// asking adds a pod that asks for storage by annotation.
func asking(w *clitest.World, quantity string) *corev1.Pod {
	pod := w.Pod("p", nil)
	pod.Annotations = map[string]string{"pod.alpha.kubernetes.io/cluster-resource-storage": quantity}
	return pod
}

func TestResourcesForPeople(t *testing.T) {
	w, object := storage(t)
	hold(object, 0, "8Gi", "2Gi")
	asking(w, "5Gi")
	explainPod(t, w, "p").CheckOutput(t, strings.TrimPrefix(`
Pod:       default/p
State:     Waiting
Workload:  pod/p
Policy:    none
Asks for:  5Gi of storage

Why:
  - no PropagationPolicy of namespace "default" selects pod/p, so nothing limits where it goes
  - no scheduler has said anything about it yet: check that berth-scheduler is running
  - it asks for 5Gi of cluster resource storage, of which there is enough left on 1 node

RESOURCE   ASKS   POOL     ALLOCATABLE   ALLOCATED   FREE   NODES   SAYS
storage    5Gi    rack-a   10Gi          8Gi         2Gi    2       has too little left
storage    5Gi    rack-b   10Gi          0           10Gi   1       has enough left
`, "\n"))
}

func TestResourcesForPrograms(t *testing.T) {
	w, object := storage(t)
	object.Status.Allocatable = object.Status.Allocatable[:1]
	asking(w, "5Gi")
	got := explainPod(t, w, "p -o json").Out
	want := `"resources":[{"name":"storage","quantity":"5Gi","pools":[{"name":"rack-a","allocatable":"10Gi","allocated":"0",` +
		`"free":"10Gi","nodes":2,"says":"has enough left"}]}]`
	if !strings.Contains(got, want) {
		t.Errorf("output\n%s\nwant in it\n%s", got, want)
	}
}

func TestWhyAPodWaitsForResources(t *testing.T) {
	tests := map[string]struct {
		change func(*berthv1alpha1.ClusterResource)
		asks   string
		want   string
	}{
		"it need not": {asks: "5Gi", want: "it asks for 5Gi of cluster resource storage, of which there is enough left on 3 nodes"},
		"all is held": {
			change: func(r *berthv1alpha1.ClusterResource) { hold(r, 0, "10Gi", "0"); hold(r, 1, "6Gi", "4Gi") },
			asks:   "5Gi",
			want:   "it asks for 5Gi of cluster resource storage, and no node has so much of it left: it waits until pods give some back",
		},
		"there will never be so much": {
			asks: "11Gi",
			want: "it asks for 11Gi of cluster resource storage, more than there is on any node even if nobody held any",
		},
		"no pool selects a node": {
			change: func(r *berthv1alpha1.ClusterResource) {
				for i := range r.Status.Allocatable {
					r.Status.Allocatable[i].NodeSelector = map[string]string{"rack": "z"}
				}
			},
			asks: "1Gi", want: "it asks for 1Gi of cluster resource storage, and none of its pools selects a node",
		},
		"it does not exist": {
			change: func(r *berthv1alpha1.ClusterResource) { r.Name = "other" },
			asks:   "1Gi", want: "there is no cluster resource storage",
		},
		"it is being deleted": {
			change: func(r *berthv1alpha1.ClusterResource) { r.DeletionTimestamp = &metav1.Time{} },
			asks:   "1Gi", want: "cluster resource storage is being deleted",
		},
		"the pools cannot be used": {
			change: func(r *berthv1alpha1.ClusterResource) { r.Status.Allocatable[1].Name = "rack-a" },
			asks:   "1Gi", want: "the pools of cluster resource storage cannot be used: two pools are called rack-a",
		},
		"it asks for half a unit": {asks: "500m", want: "500m of cluster resource storage is no multiple of the unit"},
		"nobody can read what it asks for": {
			asks: "many", want: `what it asks for of cluster resources cannot be carried out: the request for cluster resource storage ` +
				`cannot be read: "many" is not a quantity such as 5, 500m, 10G or 1Gi`,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w, object := storage(t)
			if tc.change != nil {
				tc.change(object)
			}
			asking(w, tc.asks)
			if got := explainPod(t, w, "p"); got.Code != 0 || !strings.Contains(got.Out, "  - "+tc.want+"\n") {
				t.Errorf("exit status %d, output\n%s%s\nwant in it\n%s", got.Code, got.Out, got.Err, tc.want)
			}
		})
	}
}

func TestWhatAPodHolds(t *testing.T) {
	now := metav1.Now()
	tests := map[string]struct {
		change func(*corev1.Pod)
		want   []string
	}{
		"it runs": {want: []string{
			"  - it holds 5Gi of pool rack-a of cluster resource storage\n", "rack-a   10Gi          0           10Gi   2       is charged\n",
		}},
		"it is being deleted": {
			change: func(p *corev1.Pod) { p.DeletionTimestamp = &now },
			want:   []string{"  - until it is gone it holds 5Gi of pool rack-a of cluster resource storage\n"},
		},
		"it has finished": {
			change: func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded },
			want:   []string{"  - it has finished and given back 5Gi of pool rack-a of cluster resource storage\n"},
		},
		"something else bound it": {
			change: func(p *corev1.Pod) { delete(p.Annotations, "berth.dev/charged") },
			want: []string{
				"  - Berth did not charge it for cluster resources when it was bound, so it is charged by the node it runs on\n",
			},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w, _ := storage(t)
			pod := asking(w, "5Gi")
			maps.Copy(pod.Annotations, stamp.ChargeAnnotations(pod, "n1", []pool.Charge{
				{Resource: "storage", Pool: "rack-a", Quantity: resource.MustParse("5Gi")},
			}))
			pod.Spec.NodeName = "n1"
			if tc.change != nil {
				tc.change(pod)
			}
			got := explainPod(t, w, "p")
			for _, want := range tc.want {
				if got.Code != 0 || !strings.Contains(got.Out, want) {
					t.Errorf("exit status %d, output\n%s%s\nwant in it\n%s", got.Code, got.Out, got.Err, want)
				}
			}
		})
	}
}

func TestResourcesAreReadOnlyForPodsThatAskForThem(t *testing.T) {
	w, _ := storage(t)
	asking(w, "1Gi")
	w.Pod("other", nil)
	w.Options()
	w.Clients.Berth.PrependReactor("list", "clusterresources", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewForbidden(schema.GroupResource{}, "", nil)
	})
	if got := explainPod(t, w, "other"); got.Code != 0 {
		t.Errorf("exit status %d: %s", got.Code, got.Err)
	}
	explainPod(t, w, "p").CheckFailed(t, "listing clusterresources: not allowed")
}
