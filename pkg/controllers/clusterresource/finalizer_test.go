// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package clusterresource_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

func (h *harness) gone(name string) bool {
	h.t.Helper()
	err := h.api.Get(h.t.Context(), client.ObjectKey{Name: name}, &berthv1alpha1.ClusterResource{})
	if err != nil && !apierrors.IsNotFound(err) {
		h.t.Fatal(err)
	}
	return err != nil
}

func TestAClusterResourceInUseStaysUntilTheLastHolderIsGone(t *testing.T) {
	object := declared(of("a", "10"))
	var holders []client.Object
	for i := range 7 {
		holders = append(holders, charged(pod("x", fmt.Sprintf("p%d", i), "1"), "n", "1", "a"))
	}
	h := newHarness(t, append(holders, object, node("n", nil))...)
	h.mustPass()
	if got := h.condition("matlab", "InUse"); got != "" {
		t.Errorf("InUse = %q while nobody deletes it", got)
	}
	h.events()
	h.delete(object)
	h.mustPass()
	want := "it is deleted as soon as these pods are gone: x/p0, x/p1, x/p2, x/p3, x/p4 and 2 more"
	if diff := cmp.Diff("True HeldByPods: "+want, h.condition("matlab", "InUse")); diff != "" {
		t.Errorf("InUse (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"Normal HeldByPods " + want}, h.events()); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	for _, holder := range holders {
		if h.gone("matlab") {
			t.Fatal("it is gone before its last holder")
		}
		h.delete(holder)
		h.mustPass()
	}
	if !h.gone("matlab") {
		t.Error("it stays without holders")
	}
}

// reader answers with the pods of a later moment than the cache.
type reader struct {
	client.Reader
	pods []corev1.Pod
	err  error
}

func (r *reader) List(_ context.Context, list client.ObjectList, _ ...client.ListOption) error {
	if pods, ok := list.(*corev1.PodList); ok {
		pods.Items = r.pods
	}
	return r.err
}

func TestAClusterResourceIsNotLetGoOnTheWordOfTheCache(t *testing.T) {
	held := *charged(pod("x", "p", "1"), "n", "1", "a")
	ended := *inPhase(held.DeepCopy(), corev1.PodSucceeded)
	for name, tc := range map[string]struct {
		live      reader
		wantGone  bool
		wantError bool
	}{
		"nobody holds any of it":                  {wantGone: true},
		"a pod that the cache does not know does": {live: reader{pods: []corev1.Pod{held}}},
		"that pod has ended":                      {live: reader{pods: []corev1.Pod{ended}}, wantGone: true},
		"the API server does not answer":          {live: reader{err: errors.New("no")}, wantError: true},
	} {
		t.Run(name, func(t *testing.T) {
			object := declared(of("a", "10"))
			h := newHarness(t, object)
			h.mustPass()
			h.Live = &tc.live
			h.delete(object)
			if _, err := h.pass(); (err != nil) != tc.wantError {
				t.Errorf("error = %v, want one: %t", err, tc.wantError)
			}
			if h.gone("matlab") != tc.wantGone {
				t.Errorf("gone: %t, want %t", !tc.wantGone, tc.wantGone)
			}
		})
	}
}

func TestTheFinalizerIsPutOnOnce(t *testing.T) {
	h := newHarness(t, declared(of("a", "10")))
	h.mustPass()
	if diff := cmp.Diff([]string{"matlab", "matlab/status"}, h.writes); diff != "" {
		t.Errorf("writes (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"berth.dev/cluster-resource-in-use"}, h.get("matlab").Finalizers); diff != "" {
		t.Errorf("finalizers (-want +got):\n%s", diff)
	}
}
