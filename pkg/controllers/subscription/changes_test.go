// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package subscription

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/event"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

func TestPodChanges(t *testing.T) {
	pod := func(change func(*corev1.Pod)) *corev1.Pod {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{UID: "1"}, Spec: corev1.PodSpec{NodeName: "a-1"}}
		change(p)
		return p
	}
	tests := map[string]struct {
		change func(*corev1.Pod)
		want   bool
	}{
		"nothing":     {func(*corev1.Pod) {}, false},
		"a label":     {func(p *corev1.Pod) { p.Labels = map[string]string{"a": "b"} }, false},
		"another pod": {func(p *corev1.Pod) { p.UID = "2" }, true},
		"its node":    {func(p *corev1.Pod) { p.Spec.NodeName = "b-1" }, true},
		"its end":     {func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed }, true},
		"it is ready": {func(p *corev1.Pod) {
			p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
		}, true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			e := event.TypedUpdateEvent[*corev1.Pod]{ObjectOld: pod(func(*corev1.Pod) {}), ObjectNew: pod(tc.change)}
			if got := podChanges().Update(e); got != tc.want {
				t.Errorf("the change makes a pass: %t, want %t", got, tc.want)
			}
		})
	}
}

func TestPolicyChanges(t *testing.T) {
	owner := metav1.OwnerReference{Kind: subscriptionKind, UID: "1", Controller: new(true)}
	policy := func(change func(*berthv1alpha1.PropagationPolicy)) *berthv1alpha1.PropagationPolicy {
		p := &berthv1alpha1.PropagationPolicy{ObjectMeta: metav1.ObjectMeta{OwnerReferences: []metav1.OwnerReference{owner}}}
		change(p)
		return p
	}
	tests := map[string]struct {
		change func(*berthv1alpha1.PropagationPolicy)
		want   bool
		ours   bool // as a new object
	}{
		"nothing":         {func(*berthv1alpha1.PropagationPolicy) {}, false, true},
		"its status":      {func(p *berthv1alpha1.PropagationPolicy) { p.Status.ObservedGeneration = 3 }, false, true},
		"its spec":        {func(p *berthv1alpha1.PropagationPolicy) { p.Generation = 3 }, true, true},
		"its annotations": {func(p *berthv1alpha1.PropagationPolicy) { p.Annotations = map[string]string{"a": "b"} }, true, true},
		"its owner":       {func(p *berthv1alpha1.PropagationPolicy) { p.OwnerReferences = nil }, true, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			before, after := policy(func(*berthv1alpha1.PropagationPolicy) {}), policy(tc.change)
			p := policyChanges()
			if got := p.Update(event.TypedUpdateEvent[*berthv1alpha1.PropagationPolicy]{ObjectOld: before, ObjectNew: after}); got != tc.want {
				t.Errorf("the change makes a pass: %t, want %t", got, tc.want)
			}
			created := p.Create(event.TypedCreateEvent[*berthv1alpha1.PropagationPolicy]{Object: after})
			deleted := p.Delete(event.TypedDeleteEvent[*berthv1alpha1.PropagationPolicy]{Object: after})
			if created != tc.ours || !deleted {
				t.Errorf("creation makes a pass: %t, want %t; deletion: %t, want true", created, tc.ours, deleted)
			}
		})
	}
}

// A feed that is kept from being divided by the policy of somebody else says what to do about it.
func TestWhatIsDoneAboutAPolicyInTheWayMakesAPass(t *testing.T) {
	policy := func(change func(*berthv1alpha1.PropagationPolicy)) *berthv1alpha1.PropagationPolicy {
		p := &berthv1alpha1.PropagationPolicy{ObjectMeta: metav1.ObjectMeta{
			OwnerReferences: []metav1.OwnerReference{{Kind: "ClusterPropagationPolicy", UID: "1", Controller: new(true)}},
		}}
		change(p)
		return p
	}
	tests := map[string]struct {
		change func(*berthv1alpha1.PropagationPolicy)
		want   bool
	}{
		"another weight": {func(p *berthv1alpha1.PropagationPolicy) { p.Generation = 2 }, false},
		"an annotation":  {func(p *berthv1alpha1.PropagationPolicy) { p.Annotations = map[string]string{"a": "b"} }, false},
		"its owner":      {func(p *berthv1alpha1.PropagationPolicy) { p.OwnerReferences = nil }, true},
		"what it is about": {func(p *berthv1alpha1.PropagationPolicy) {
			p.Spec.ResourceSelectors = []berthv1alpha1.ResourceSelector{{APIVersion: "apps/v1", Kind: "Deployment", Name: "web"}}
		}, true},
	}
	before, p := policy(func(*berthv1alpha1.PropagationPolicy) {}), policyChanges()
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			e := event.TypedUpdateEvent[*berthv1alpha1.PropagationPolicy]{ObjectOld: before, ObjectNew: policy(tc.change)}
			if got := p.Update(e); got != tc.want {
				t.Errorf("the change makes a pass: %t, want %t", got, tc.want)
			}
		})
	}
	if !p.Delete(event.TypedDeleteEvent[*berthv1alpha1.PropagationPolicy]{Object: before}) {
		t.Error("its deletion makes no pass")
	}
}

func TestAutoscaled(t *testing.T) {
	entry := func(manager, subresource, fields string) metav1.ManagedFieldsEntry {
		return metav1.ManagedFieldsEntry{Manager: manager, Subresource: subresource, FieldsV1: &metav1.FieldsV1{Raw: []byte(fields)}}
	}
	replicas := `{"f:spec":{"f:replicas":{}}}`
	tests := map[string]struct {
		entry metav1.ManagedFieldsEntry
		want  bool
	}{
		"an autoscaler":           {entry("kube-controller-manager", "scale", replicas), true},
		"kubectl scale":           {entry("kubectl", "scale", replicas), false},
		"an ordinary write":       {entry("kube-controller-manager", "", replicas), false},
		"another field":           {entry("kube-controller-manager", "scale", `{"f:spec":{"f:paused":{}}}`), false},
		"what is not understood":  {entry("kube-controller-manager", "scale", `[`), false},
		"what tells of no fields": {metav1.ManagedFieldsEntry{Manager: "hpa", Subresource: "scale"}, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			o := &unstructured.Unstructured{Object: map[string]any{}}
			o.SetManagedFields([]metav1.ManagedFieldsEntry{tc.entry})
			if got := autoscaled(o); got != tc.want {
				t.Errorf("autoscaled = %t, want %t", got, tc.want)
			}
		})
	}
}
