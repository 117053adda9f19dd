// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package catalog_test

import (
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/workload"
	"berth.dev/berth/pkg/plugins/internal/catalog"
)

// Of the pods that wait in a namespace only those of a policy that changes are tried again.
func TestAnotherPolicy(t *testing.T) {
	asks := func(policy string) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
			Namespace: "default", Name: "p", UID: "p", Annotations: map[string]string{berthv1alpha1.PolicyAnnotation: policy},
		}}
	}
	owned := asks("web")
	owned.OwnerReferences = []metav1.OwnerReference{
		*metav1.NewControllerRef(&metav1.ObjectMeta{Name: "set", UID: "set"}, corev1.SchemeGroupVersion.WithKind("ReplicationController")),
	}
	for name, tc := range map[string]struct {
		kind   watch.EventType
		object runtime.Object
		pod    *corev1.Pod
		want   bool
	}{
		"its policy changes":                        {watch.Modified, policy("default", "web", 2, "hangzhou"), asks("web"), true},
		"its policy appears":                        {watch.Added, policy("default", "later", 1, "hangzhou"), asks("later"), true},
		"its policy goes":                           {watch.Deleted, policy("default", "web", 1, "beijing"), asks("web"), true},
		"another policy changes":                    {watch.Modified, policy("default", "other", 2, "hangzhou"), asks("web"), false},
		"another policy appears":                    {watch.Added, policy("default", "later", 1, "hangzhou"), asks("web"), false},
		"another policy appears than it waits for":  {watch.Added, policy("default", "later", 1, "hangzhou"), asks("latest"), false},
		"its policy changes, and its owner is late": {watch.Modified, policy("default", "web", 2, "hangzhou"), owned, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, map[string]error{}, policy("default", "web", 1, "beijing"), policy("default", "other", 1, "beijing"))
				before := w.Snapshot()
				w.send("propagationpolicies", tc.kind, tc.object)
				nobody := (&workload.Objects{}).Source()
				if got := catalog.AnotherPolicy(before, w.Snapshot(), tc.pod, nobody); got != tc.want {
					t.Errorf("it concerns the pod: %t, want %t", got, tc.want)
				}
			})
		})
	}
}
