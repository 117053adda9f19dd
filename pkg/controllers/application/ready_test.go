// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package application_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// wait makes a pod that asks for a policy and that the scheduler has tried in vain.
func (w *world) wait(name, policy string) {
	w.t.Helper()
	w.must(w.client.Create(w.t.Context(), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: name, Annotations: map[string]string{berthv1alpha1.PolicyAnnotation: policy},
		},
		Spec: corev1.PodSpec{SchedulerName: "berth-scheduler"},
		Status: corev1.PodStatus{Conditions: []corev1.PodCondition{{
			Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Message: "0/2 nodes are available: 2 Insufficient cpu.",
		}}},
	}))
}

func TestReadyIsFalseWhileAPodHasNoNode(t *testing.T) {
	const job = "apiVersion: batch/v1\nkind: Job\nmetadata: {name: load}\n" +
		"spec: {template: {spec: {containers: [{name: c, image: i}]}}}\n"
	tests := map[string]struct {
		manifest, policy     string
		wantReady, wantCount string
	}{
		"of a Deployment": {
			deployment, "web-deployment-front",
			"False PodsNotReady: deployment front: 1 of 2 pods are available in cluster madrid; 1 without a node in cluster madrid: " +
				"0/2 nodes are available: 2 Insufficient cpu.", "1/2",
		},
		"of a Deployment that says nothing of replicas": {
			strings.Replace(deployment, "replicas: 2, ", "", 1), "web-deployment-front",
			"False PodsNotReady: deployment front: 1 of 2 pods are available in cluster madrid; 1 without a node in cluster madrid: " +
				"0/2 nodes are available: 2 Insufficient cpu.", "1/2",
		},
		"of a Job": {
			deployment + "---\n" + job, "web-job-load",
			"False PodsNotReady: deployment front: 1 of 2 pods are available in cluster madrid", "1/3",
		},
		"of a Job alone": {
			job, "web-job-load",
			"False PodsNotReady: job load: 0 of 1 pods are ready; 1 without a node in cluster madrid: " +
				"0/2 nodes are available: 2 Insufficient cpu.", "0/1",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, cluster("madrid", 0.9), newApplication(tc.manifest))
			w.passes()
			if strings.Contains(tc.manifest, "Deployment") {
				d := w.deployment()
				d.Spec.Replicas = new(int32(2))
				w.must(w.client.Update(t.Context(), d))
			}
			w.run("madrid", 0, true)
			w.wait("front-x", tc.policy)
			w.passes()
			if got := w.condition("Ready"); got != tc.wantReady {
				t.Errorf("Ready is %s,\nwant %s", got, tc.wantReady)
			}
			if got := w.app().Status.Ready; got != tc.wantCount {
				t.Errorf("READY shows %q, want %q", got, tc.wantCount)
			}
		})
	}
}
