// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package grants_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/event"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/controllers/grants"
)

func TestResourcesWhoseChangeLeadsToAPass(t *testing.T) {
	tests := map[string]struct {
		change func(*berthv1alpha1.ClusterResource)
		want   bool
	}{
		"its spec":          {func(r *berthv1alpha1.ClusterResource) { r.Generation++ }, true},
		"its grants":        {func(r *berthv1alpha1.ClusterResource) { r.Status.GrantsRevision++ }, true},
		"what is published": {func(r *berthv1alpha1.ClusterResource) { r.Status.Allocatable = nil }, true},
		"what pods hold": {func(r *berthv1alpha1.ClusterResource) {
			r.Status.Allocated = []berthv1alpha1.PoolAllocation{{Name: "all", Quantity: resource.MustParse("1")}}
		}, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			before := &berthv1alpha1.ClusterResource{}
			before.Status.Allocatable = []berthv1alpha1.ClusterResourceQuantity{{Name: "all", Quantity: resource.MustParse("10")}}
			after := before.DeepCopy()
			tc.change(after)
			if got := grants.ResourceChanged(before, after); got != tc.want {
				t.Errorf("a pass: %t, want %t", got, tc.want)
			}
		})
	}
}

func TestSchedulersWhoseChangeLeadsToAPass(t *testing.T) {
	tests := map[string]struct {
		change func(*berthv1alpha1.Scheduler)
		want   bool
	}{
		"it leaves":         {func(s *berthv1alpha1.Scheduler) { now := metav1.Unix(1, 0); s.DeletionTimestamp = &now }, true},
		"it dies":           {func(s *berthv1alpha1.Scheduler) { setReady(s, false) }, true},
		"it says something": {func(s *berthv1alpha1.Scheduler) { s.Status.Spending = wants("4") }, true},
		"its clusters":      {func(s *berthv1alpha1.Scheduler) { s.Status.ClusterCount++ }, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			before := shard("a", wants("3"))
			after := before.DeepCopy()
			tc.change(after)
			if got := grants.SchedulerChanged(before, after); got != tc.want {
				t.Errorf("a pass: %t, want %t", got, tc.want)
			}
		})
	}
}

func TestPodsThatGiveSomethingBackLeadToAPass(t *testing.T) {
	plain := holder(0, "a")
	delete(plain.Annotations, berthv1alpha1.ChargedAnnotation)
	ended := func(pod *corev1.Pod) *corev1.Pod {
		pod = pod.DeepCopy()
		pod.Status.Phase = corev1.PodSucceeded
		return pod
	}
	tests := map[string]struct{ got, want bool }{
		"a holder is created":           {grants.Releases().Create(event.TypedCreateEvent[*corev1.Pod]{Object: holder(0, "a")}), false},
		"a holder is deleted":           {grants.Releases().Delete(event.TypedDeleteEvent[*corev1.Pod]{Object: holder(0, "a")}), true},
		"one that holds nothing is":     {grants.Releases().Delete(event.TypedDeleteEvent[*corev1.Pod]{Object: plain}), false},
		"a holder ends":                 {updated(holder(0, "a"), ended(holder(0, "a"))), true},
		"one that holds nothing ends":   {updated(plain, ended(plain)), false},
		"a holder changes and goes on":  {updated(holder(0, "a"), holder(0, "a")), false},
		"a holder that has ended stays": {updated(ended(holder(0, "a")), ended(holder(0, "a"))), false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if tc.got != tc.want {
				t.Errorf("a pass: %t, want %t", tc.got, tc.want)
			}
		})
	}
}

func TestPodsThatTakeSomethingLeadToAPass(t *testing.T) {
	waits, plain, alone := holder(0, "a"), holder(0, "a"), holder(0, "")
	waits.Spec.NodeName = ""
	delete(plain.Annotations, berthv1alpha1.ChargedAnnotation)
	created := func(pod *corev1.Pod) bool {
		return grants.Takes().Create(event.TypedCreateEvent[*corev1.Pod]{Object: pod})
	}
	becomes := func(before, after *corev1.Pod) bool {
		return grants.Takes().Update(event.TypedUpdateEvent[*corev1.Pod]{ObjectOld: before, ObjectNew: after})
	}
	tests := map[string]struct{ got, want bool }{
		"a holder is bound":                   {becomes(waits, holder(0, "a")), true},
		"one that holds nothing is":           {becomes(waits, plain), false},
		"one is out of nobody's grant":        {becomes(waits, alone), false},
		"a holder changes and goes on":        {becomes(holder(0, "a"), holder(0, "a")), false},
		"a holder is seen for the first time": {created(holder(0, "a")), true},
		"one that waits is":                   {created(waits), false},
		"a holder is deleted":                 {grants.Takes().Delete(event.TypedDeleteEvent[*corev1.Pod]{Object: holder(0, "a")}), false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if tc.got != tc.want {
				t.Errorf("a pass: %t, want %t", tc.got, tc.want)
			}
		})
	}
}

func updated(before, after *corev1.Pod) bool {
	return grants.Releases().Update(event.TypedUpdateEvent[*corev1.Pod]{ObjectOld: before, ObjectNew: after})
}
