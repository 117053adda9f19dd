// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package binding_test

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/controllers/internal/singleton"
)

// exists reports whether a Scheduler is there.
func (h *harness) exists(scheduler string) bool {
	h.Helper()
	err := h.api.Get(h.Context(), client.ObjectKey{Name: scheduler}, &berthv1alpha1.Scheduler{})
	if client.IgnoreNotFound(err) != nil {
		h.Fatal(err)
	}
	return !apierrors.IsNotFound(err)
}

// podOf is a pod whose home is a scheduler.
func podOf(scheduler string, change func(*corev1.Pod)) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: "default", Name: "p", Labels: map[string]string{berthv1alpha1.HomeSchedulerLabel: scheduler},
	}}
	if change != nil {
		change(pod)
	}
	return pod
}

// granting is a ClusterResource of which a scheduler was granted something.
func granting(scheduler string) *berthv1alpha1.ClusterResource {
	r := &berthv1alpha1.ClusterResource{ObjectMeta: metav1.ObjectMeta{Name: "licence"}}
	r.Status.Grants = []berthv1alpha1.PoolGrant{{Scheduler: scheduler, Pool: "all", Quantity: resource.MustParse("1")}}
	return r
}

// Scheduler a is deleted and has given up every cluster. Scheduler b has all of them, unless there
// is none.
func TestUntilWhenASchedulerIsKept(t *testing.T) {
	spending := func(closed, alive bool) func(*berthv1alpha1.Scheduler) {
		return func(s *berthv1alpha1.Scheduler) {
			s.Status.Spending = &berthv1alpha1.Spending{Closed: closed}
			setReady(s, alive)
		}
	}
	deleted := metav1.Now()
	tests := map[string]struct {
		change  func(*berthv1alpha1.Scheduler)
		objects []client.Object
		alone   bool
		want    bool
	}{
		"nothing is its own":         {},
		"a pod waits for it":         {objects: []client.Object{podOf("a", nil)}, want: true},
		"a pod waits for another":    {objects: []client.Object{podOf("b", nil)}},
		"its pod runs":               {objects: []client.Object{podOf("a", func(p *corev1.Pod) { p.Spec.NodeName = "n" })}},
		"it was granted something":   {objects: []client.Object{granting("a")}, want: true},
		"another was":                {objects: []client.Object{granting("b")}},
		"it may give out something":  {change: spending(false, true), want: true},
		"it gives out nothing more":  {change: spending(true, true)},
		"it has died, and may not":   {change: spending(false, false)},
		"it has never given out any": {change: func(s *berthv1alpha1.Scheduler) { s.Status.Spending = nil }},
		"its pod is being deleted": {objects: []client.Object{podOf("a", func(p *corev1.Pod) {
			p.DeletionTimestamp, p.Finalizers = &deleted, []string{"example.com/keep"}
		})}},
		"nobody else can have what it was granted": {objects: []client.Object{podOf("a", nil), granting("a")}, alone: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			a := readyScheduler("a")
			a.Finalizers = []string{berthv1alpha1.SchedulerFinalizer}
			if tc.change != nil {
				tc.change(a)
			}
			objects := append(slices.Clip(tc.objects), a)
			if !tc.alone {
				objects = append(objects, readyScheduler("b"))
			}
			h := newHarness(t, objects...)
			if err := h.api.Delete(t.Context(), a); err != nil {
				t.Fatal(err)
			}
			h.passes(2)
			if got := h.exists("a"); got != tc.want {
				t.Errorf("it is there: %t, want %t", got, tc.want)
			}
		})
	}
}

// Where ClusterResources are not installed nothing can have been granted. If they cannot be read,
// something may have been.
func TestASchedulerIsKeptWhileItCannotBeToldWhetherItIsNeeded(t *testing.T) {
	absent := &apimeta.NoKindMatchError{GroupKind: schema.GroupKind{Group: berthv1alpha1.GroupName, Kind: "ClusterResource"}}
	tests := map[string]struct {
		list      client.ObjectList
		err       error
		wantKept  bool
		wantError string
	}{
		"ClusterResources are not installed": {list: &berthv1alpha1.ClusterResourceList{}, err: absent},
		"ClusterResources cannot be read": {
			list: &berthv1alpha1.ClusterResourceList{}, err: errors.New("unreachable"), wantKept: true,
			wantError: "listing cluster resources: unreachable",
		},
		"pods cannot be read": {
			list: &corev1.PodList{}, err: errors.New("unreachable"), wantKept: true, wantError: "listing the pods of scheduler a: unreachable",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			a := readyScheduler("a")
			a.Finalizers = []string{berthv1alpha1.SchedulerFinalizer}
			h := newHarness(t, a, readyScheduler("b"))
			h.intercept(interceptor.Funcs{
				List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
					if reflect.TypeOf(list) == reflect.TypeOf(tc.list) {
						return tc.err
					}
					return c.List(ctx, list, options...)
				},
			})
			if err := h.api.Delete(t.Context(), a); err != nil {
				t.Fatal(err)
			}
			_, err := h.Reconcile(t.Context(), singleton.Key{})
			if tc.wantError == "" && err != nil || tc.wantError != "" && (err == nil || !strings.Contains(err.Error(), tc.wantError)) {
				t.Errorf("error = %v, want one with %q", err, tc.wantError)
			}
			if got := h.exists("a"); got != tc.wantKept {
				t.Errorf("it is there: %t, want %t", got, tc.wantKept)
			}
		})
	}
}

// A Scheduler that nobody has kept goes by itself, and is not kept when it is about to.
func TestASchedulerThatIsGoingIsNotKept(t *testing.T) {
	a := readyScheduler("a")
	a.Finalizers = []string{"example.com/keep"}
	h := newHarness(t, a, readyScheduler("b"), podOf("a", nil))
	if err := h.api.Delete(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	h.passes(2)
	if got := h.scheduler("a").Finalizers; slices.Contains(got, berthv1alpha1.SchedulerFinalizer) {
		t.Errorf("finalizers %v", got)
	}
	if got := h.scheduler("b").Finalizers; !slices.Contains(got, berthv1alpha1.SchedulerFinalizer) {
		t.Errorf("the other has finalizers %v", got)
	}
}

// What somebody else wants done before a Scheduler goes is left to them.
func TestOtherFinalizersOfASchedulerStay(t *testing.T) {
	a := readyScheduler("a")
	a.Finalizers = []string{"example.com/keep", berthv1alpha1.SchedulerFinalizer}
	h := newHarness(t, a, readyScheduler("b"))
	if err := h.api.Delete(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	h.passes(2)
	if got := h.scheduler("a").Finalizers; !slices.Equal(got, []string{"example.com/keep"}) {
		t.Errorf("finalizers %v", got)
	}
}
