// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package whatif

import (
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// carryStatus gives an object that replaces another one the status of that one, unless it has been
// read from a file with a status of its own that an API server would leave alone.
func carryStatus(o, before object) {
	switch typed := o.(type) {
	case *appsv1.Deployment:
		copyStatus(&typed.Status, before, func(b *appsv1.Deployment) *appsv1.DeploymentStatus { return &b.Status })
	case *appsv1.ReplicaSet:
		copyStatus(&typed.Status, before, func(b *appsv1.ReplicaSet) *appsv1.ReplicaSetStatus { return &b.Status })
	case *appsv1.StatefulSet:
		copyStatus(&typed.Status, before, func(b *appsv1.StatefulSet) *appsv1.StatefulSetStatus { return &b.Status })
		if b, same := before.(*appsv1.StatefulSet); same && !sameTemplate(&b.Spec.Template, &typed.Spec.Template) {
			typed.Status.UpdateRevision = ""
		}
	case *batchv1.Job:
		copyStatus(&typed.Status, before, func(b *batchv1.Job) *batchv1.JobStatus { return &b.Status })
	case *corev1.ReplicationController:
		copyStatus(&typed.Status, before, func(b *corev1.ReplicationController) *corev1.ReplicationControllerStatus { return &b.Status })
	case *berthv1alpha1.Subscription:
		copyStatus(&typed.Status, before, func(b *berthv1alpha1.Subscription) *berthv1alpha1.SubscriptionStatus { return &b.Status })
	case *berthv1alpha1.Application:
		copyStatus(&typed.Status, before, func(b *berthv1alpha1.Application) *berthv1alpha1.ApplicationStatus { return &b.Status })
	case *berthv1alpha1.Cluster:
		if len(typed.Status.Metrics) == 0 {
			copyStatus(&typed.Status, before, func(b *berthv1alpha1.Cluster) *berthv1alpha1.ClusterStatus { return &b.Status })
		}
	}
}

// copyStatus copies the status of the object before.
func copyStatus[T object, S any](into *S, before object, statusOf func(T) *S) {
	if typed, same := before.(T); same {
		*into = *statusOf(typed)
	}
}
