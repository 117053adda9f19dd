// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Online returns the condition Online of a Cluster, nil as long as nobody has observed its nodes.
// The condition is the Cluster's own and is not to be changed.
func (c *Cluster) Online() *metav1.Condition {
	return apimeta.FindStatusCondition(c.Status.Conditions, ClusterOnline)
}
