// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// WhyRefused returns why the API server takes no more pods of an object, because of a quota for
// instance, as far as the object says it: a Deployment does. It is empty if nothing is refused.
func WhyRefused(object metav1.Object) string {
	deployment, ok := object.(*appsv1.Deployment)
	if !ok {
		return ""
	}
	if refusals := Refusals(deployment); len(refusals) > 0 {
		return refusals[0].Message
	}
	return ""
}

// Refusals are the conditions of a Deployment by which WhyRefused tells. They must not be changed.
func Refusals(d *appsv1.Deployment) []appsv1.DeploymentCondition {
	i := slices.IndexFunc(d.Status.Conditions, func(c appsv1.DeploymentCondition) bool {
		return c.Type == appsv1.DeploymentReplicaFailure && c.Status == corev1.ConditionTrue
	})
	if i < 0 {
		return nil
	}
	return d.Status.Conditions[i : i+1]
}
