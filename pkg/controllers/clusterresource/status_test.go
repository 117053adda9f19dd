// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package clusterresource_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

const (
	published = "True Published: the pools of spec.capacity are allocatable"
	within    = "False WithinAllocatable: pods hold no more than is allocatable"
)

// reported returns the ClusterResource matlab with an empty spec and pools that another program has
// reported.
func reported(pools ...berthv1alpha1.ClusterResourceQuantity) *berthv1alpha1.ClusterResource {
	object := declared()
	object.Status.Capacity, object.Status.Allocatable = pools, pools
	return object
}

func TestConditions(t *testing.T) {
	everywhere := node("n", map[string]string{"rack": "a"})
	listing := node("m", nil)
	listing.Status.Allocatable = corev1.ResourceList{"cluster-resource.berth.dev/matlab": resource.MustParse("0")}
	tests := map[string]struct {
		objects           []client.Object
		wantReady         string
		wantOvercommitted string
		wantAllocatable   []berthv1alpha1.ClusterResourceQuantity
	}{
		"declared pools are published": {
			objects:   []client.Object{declared(of("a", "5", "rack", "a")), everywhere},
			wantReady: published, wantOvercommitted: within,
			wantAllocatable: []berthv1alpha1.ClusterResourceQuantity{of("a", "5", "rack", "a")},
		},
		"reported pools stay as they are": {
			objects:           []client.Object{reported(of("a", "5")), everywhere},
			wantReady:         "True Reported: the pools that another program reported are allocatable",
			wantOvercommitted: within, wantAllocatable: []berthv1alpha1.ClusterResourceQuantity{of("a", "5")},
		},
		"nobody has reported anything": {
			objects:           []client.Object{declared()},
			wantReady:         "False NothingReported: spec.capacity is empty, and nobody has reported status.allocatable yet",
			wantOvercommitted: within,
		},
		"declared pools that cannot be used are published, so that pods learn why they wait": {
			objects:           []client.Object{declared(of("a", "500m")), everywhere},
			wantReady:         "False InvalidPools: pool a: 500m is no multiple of the unit",
			wantOvercommitted: within, wantAllocatable: []berthv1alpha1.ClusterResourceQuantity{of("a", "500m")},
		},
		"an amount that would be published as another one is not": {
			objects:           []client.Object{declared(of("a", "1"), of("b", "9999E")), everywhere},
			wantReady:         "False InvalidPools: pool b: the quantity is too large",
			wantOvercommitted: within,
		},
		"reported pools that cannot be used": {
			objects:           []client.Object{reported(of("a", "1"), of("a", "2")), everywhere},
			wantReady:         "False InvalidPools: two pools are called a",
			wantOvercommitted: within, wantAllocatable: []berthv1alpha1.ClusterResourceQuantity{of("a", "1"), of("a", "2")},
		},
		"a selector that matches no node": {
			objects:           []client.Object{declared(of("a", "1"), of("b", "1", "rack", "b")), everywhere},
			wantReady:         published + "; no node is selected by b",
			wantOvercommitted: within,
			wantAllocatable:   []berthv1alpha1.ClusterResourceQuantity{of("a", "1"), of("b", "1", "rack", "b")},
		},
		"a node that lists the resource itself": {
			objects: []client.Object{declared(of("a", "1")), everywhere, listing},
			wantReady: published +
				"; the kubelet refuses pods on nodes that list the resource as their own: m",
			wantOvercommitted: within, wantAllocatable: []berthv1alpha1.ClusterResourceQuantity{of("a", "1")},
		},
		"capacity was lowered below what is in use": {
			objects: []client.Object{
				declared(of("a", "1"), of("b", "1")), everywhere, charged(pod("x", "p", "3"), "n", "3", "a"),
				charged(pod("x", "q", "1"), "n", "1", "b"), charged(pod("x", "r", "1"), "n", "1", "gone"),
			},
			wantReady: published,
			wantOvercommitted: "True AboveAllocatable: pods hold more than is allocatable of a (3 of 1), gone (1 of 0); " +
				"nobody is evicted, and nothing more is given out of that",
			wantAllocatable: []berthv1alpha1.ClusterResourceQuantity{of("a", "1"), of("b", "1")},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t, tc.objects...)
			h.mustPass()
			if diff := cmp.Diff(tc.wantReady, h.condition("matlab", "Ready")); diff != "" {
				t.Errorf("Ready (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.wantOvercommitted, h.condition("matlab", "Overcommitted")); diff != "" {
				t.Errorf("Overcommitted (-want +got):\n%s", diff)
			}
			status := h.get("matlab").Status
			if diff := cmp.Diff(tc.wantAllocatable, status.Allocatable); diff != "" {
				t.Errorf("allocatable (-want +got):\n%s", diff)
			}
			if status.ObservedGeneration != 1 {
				t.Errorf("observed generation %d, want 1", status.ObservedGeneration)
			}
			h.mustPass()
			if len(h.writes) > 0 {
				t.Errorf("a second pass writes %v", h.writes)
			}
		})
	}
}

func TestSummary(t *testing.T) {
	var many []berthv1alpha1.ClusterResourceQuantity
	for i := range 5 {
		many = append(many, of(fmt.Sprintf("r%d", i), "100Gi"))
	}
	tests := map[string]struct {
		pools []berthv1alpha1.ClusterResourceQuantity
		want  berthv1alpha1.ClusterResourceSummary
	}{
		"no pool": {},
		"one pool": {
			pools: []berthv1alpha1.ClusterResourceQuantity{of("default", "50")},
			want: berthv1alpha1.ClusterResourceSummary{
				Pools: "default", Capacity: "50", Allocatable: "50", Allocated: "0", Free: "50",
			},
		},
		"parts of a whole": {
			pools: []berthv1alpha1.ClusterResourceQuantity{of("default", "4996300m")},
			want: berthv1alpha1.ClusterResourceSummary{
				Pools: "default", Capacity: "4996.3", Allocatable: "4996.3", Allocated: "0", Free: "4996.3",
			},
		},
		"some pools": {
			pools: []berthv1alpha1.ClusterResourceQuantity{of("r0", "100Gi"), of("b", "1")},
			want: berthv1alpha1.ClusterResourceSummary{
				Pools: "r0 b", Capacity: "r0=100Gi b=1", Allocatable: "r0=100Gi b=1", Allocated: "r0=30Gi b=0", Free: "r0=70Gi b=1",
			},
		},
		"many pools": {
			pools: many,
			want: berthv1alpha1.ClusterResourceSummary{
				Pools: "r0 r1 r2 and 2 more", Capacity: "r0=100Gi r1=100Gi r2=100Gi and 2 more",
				Allocatable: "r0=100Gi r1=100Gi r2=100Gi and 2 more", Allocated: "r0=30Gi r1=0 r2=0 and 2 more",
				Free: "r0=70Gi r1=100Gi r2=100Gi and 2 more",
			},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			objects := []client.Object{declared(tc.pools...)}
			if len(tc.pools) > 1 {
				objects = append(objects, charged(pod("x", "p", "30Gi"), "n", "30Gi", "r0"))
			}
			h := newHarness(t, objects...)
			h.mustPass()
			if diff := cmp.Diff(tc.want, h.get("matlab").Status.Summary); diff != "" {
				t.Errorf("summary (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTheSummaryTellsWhatIsGranted(t *testing.T) {
	object := declared(of("r0", "10"), of("b", "1"))
	for _, scheduler := range []string{"one", "two"} {
		object.Status.Grants = append(object.Status.Grants,
			berthv1alpha1.PoolGrant{Scheduler: scheduler, Pool: "r0", Quantity: resource.MustParse("4"), Revision: 1})
	}
	h := newHarness(t, object)
	h.mustPass()
	if got := h.get("matlab").Status.Summary.Granted; got != "r0=8 b=0" {
		t.Errorf("granted %q, want r0=8 b=0", got)
	}
}

func TestAStatusThatLagsBehindIsWrittenInTheNextPass(t *testing.T) {
	h := newHarness(t, declared(of("a", "1")))
	h.fail = func(write string) error {
		if write == "matlab/status" {
			return apierrors.NewConflict(schema.GroupResource{}, "matlab", errors.New("changed"))
		}
		return nil
	}
	if requeue, err := h.pass(); err != nil || requeue >= time.Minute {
		t.Errorf("again in %v, %v; want a short pause and no error", requeue, err)
	}
	if told := h.events(); len(told) > 0 {
		t.Errorf("told of what was not written: %v", told)
	}
}

func TestAFailureOfOneDoesNotKeepTheOthersBack(t *testing.T) {
	other := declared(of("a", "1"))
	other.Name = "abaqus"
	h := newHarness(t, declared(of("a", "1")), other)
	h.fail = func(write string) error {
		if write == "abaqus/status" {
			return errors.New("no")
		}
		return nil
	}
	if _, err := h.pass(); err == nil || err.Error() != "writing the status of cluster resource abaqus: no" {
		t.Errorf("error = %v", err)
	}
	if h.condition("matlab", "Ready") == "" {
		t.Error("the status of matlab was not written")
	}
}

func TestEventsTellWhatHasChanged(t *testing.T) {
	h := newHarness(t, declared(of("a", "1")), node("n", nil))
	h.mustPass()
	if told := h.events(); len(told) > 0 {
		t.Errorf("a ClusterResource in good order makes %v", told)
	}
	holder := charged(pod("x", "p", "3"), "n", "3", "a")
	if err := h.api.Create(t.Context(), holder); err != nil {
		t.Fatal(err)
	}
	h.mustPass()
	h.mustPass()
	want := []string{"Warning AboveAllocatable pods hold more than is allocatable of a (3 of 1); " +
		"nobody is evicted, and nothing more is given out of that"}
	if diff := cmp.Diff(want, h.events()); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	h.delete(holder)
	h.mustPass()
	want = []string{"Normal WithinAllocatable pods hold no more than is allocatable"}
	if diff := cmp.Diff(want, h.events()); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}
