// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package application_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/controllers/application"
)

// changed returns an object before and after a change.
func changed[T client.Object](object T, change func(T)) event.UpdateEvent {
	after := object.DeepCopyObject().(T)
	change(after)
	return event.UpdateEvent{ObjectOld: object, ObjectNew: after}
}

func TestChangesThatMatter(t *testing.T) {
	policies, pods, clusters := application.PolicyChanges(), application.PodChanges(), application.ClusterChanges()
	pod := func(change func(*corev1.Pod)) event.UpdateEvent { return changed(&corev1.Pod{}, change) }
	cluster := func(change func(*berthv1alpha1.Cluster)) event.UpdateEvent {
		return changed(&berthv1alpha1.Cluster{}, change)
	}
	policy := func(change func(*berthv1alpha1.PropagationPolicy)) event.UpdateEvent {
		return changed(&berthv1alpha1.PropagationPolicy{}, change)
	}
	deployment := func(change func(*appsv1.Deployment)) event.UpdateEvent { return changed(&appsv1.Deployment{}, change) }
	offline := &berthv1alpha1.Cluster{}
	offline.Status.Conditions = []metav1.Condition{{Type: berthv1alpha1.ClusterOnline, Status: metav1.ConditionFalse}}
	tests := map[string]struct {
		predicate predicate.Predicate
		event     event.UpdateEvent
		want      bool
	}{
		"a policy's spec":     {policies, policy(func(p *berthv1alpha1.PropagationPolicy) { p.Generation++ }), true},
		"a policy's status":   {policies, policy(func(p *berthv1alpha1.PropagationPolicy) { p.Status.ObservedGeneration++ }), true},
		"a policy's labels":   {policies, policy(func(p *berthv1alpha1.PropagationPolicy) { p.Labels = map[string]string{"a": "b"} }), false},
		"a pod is bound":      {pods, pod(func(p *corev1.Pod) { p.Spec.NodeName = "n" }), true},
		"a pod ends":          {pods, pod(func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed }), true},
		"a pod is deleted":    {pods, pod(func(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{} }), true},
		"a pod is ready":      {pods, pod(func(p *corev1.Pod) { p.Status.Conditions = []corev1.PodCondition{{Type: "Ready"}} }), true},
		"a pod is restamped":  {pods, pod(func(p *corev1.Pod) { p.Annotations = map[string]string{"a": "b"} }), true},
		"a pod's labels":      {pods, pod(func(p *corev1.Pod) { p.Labels = map[string]string{"a": "b"} }), false},
		"a cluster's spec":    {clusters, cluster(func(c *berthv1alpha1.Cluster) { c.Generation++ }), true},
		"a cluster's labels":  {clusters, cluster(func(c *berthv1alpha1.Cluster) { c.Labels = map[string]string{"a": "b"} }), true},
		"a cluster's metrics": {clusters, cluster(func(c *berthv1alpha1.Cluster) { sample(c, 1) }), true},
		"a cluster's nodes":   {clusters, cluster(func(c *berthv1alpha1.Cluster) { c.Status.NodeCount++ }), false},
		"a cluster comes online": {clusters, changed(offline, func(c *berthv1alpha1.Cluster) {
			c.Status.Conditions = []metav1.Condition{{Type: berthv1alpha1.ClusterOnline, Status: metav1.ConditionTrue}}
		}), true},
		"a cluster is known to be online": {clusters, cluster(func(c *berthv1alpha1.Cluster) {
			c.Status.Conditions = []metav1.Condition{{Type: berthv1alpha1.ClusterOnline, Status: metav1.ConditionTrue}}
		}), true},
		"a Deployment's spec":   {application.DeploymentChanges(), deployment(func(d *appsv1.Deployment) { d.Generation++ }), true},
		"a Deployment's status": {application.DeploymentChanges(), deployment(func(d *appsv1.Deployment) { d.Status.Replicas++ }), false},
		"a Deployment's pods are refused": {application.DeploymentChanges(), deployment(func(d *appsv1.Deployment) {
			d.Status.Conditions = []appsv1.DeploymentCondition{{Type: appsv1.DeploymentReplicaFailure, Status: corev1.ConditionTrue, Message: "m"}}
		}), true},
		"something else": {clusters, event.UpdateEvent{ObjectOld: &corev1.Pod{}, ObjectNew: &corev1.Pod{}}, true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := tc.predicate.Update(tc.event); got != tc.want {
				t.Errorf("Update() = %t, want %t", got, tc.want)
			}
		})
	}
}

func TestWhoseAPodIs(t *testing.T) {
	controller := true
	policy := func(name, kind string) *berthv1alpha1.PropagationPolicy {
		p := &berthv1alpha1.PropagationPolicy{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace}}
		if kind != "" {
			p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: kind, Name: "web", UID: "u", Controller: &controller}}
		}
		return p
	}
	w := newWorld(t, policy("web-deployment-front", "Application"), policy("users", ""), policy("others", "Deployment"))
	tests := map[string]struct {
		policy string
		want   []reconcile.Request
	}{
		"an Application's":           {"web-deployment-front", []reconcile.Request{request}},
		"of a policy of the user":    {"users", nil},
		"of a policy of another one": {"others", nil},
		"of a policy that is gone":   {"gone", nil},
		"of no policy":               {"", nil},
		"expressly of no policy":     {"none", nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
				Namespace: namespace, Annotations: map[string]string{berthv1alpha1.PolicyAnnotation: tc.policy},
			}}
			if diff := cmp.Diff(tc.want, w.controller.OfPod(t.Context(), pod)); diff != "" {
				t.Errorf("requests mismatch (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAClusterWakesTheApplicationsThatWait(t *testing.T) {
	scheduled := newApplication(configMap)
	scheduled.Name, scheduled.Status.ScheduledTo = "scheduled", "berlin"
	w := newWorld(t, newApplication(configMap), scheduled)
	if diff := cmp.Diff([]reconcile.Request{request}, w.controller.Waiting(t.Context(), nil)); diff != "" {
		t.Errorf("requests mismatch (-want +got):\n%s", diff)
	}
	w.fail = func(string, runtime.Object) error { return errors.New("refused") }
	if got := w.controller.Waiting(t.Context(), nil); got != nil {
		t.Errorf("requests = %v although Applications cannot be listed", got)
	}
}
