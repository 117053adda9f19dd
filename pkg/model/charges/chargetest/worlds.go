// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package chargetest generates worlds in which pods hold pools of ClusterResources, for tests that
// compare who counts that.
package chargetest

import (
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/stamp"
	"berth.dev/berth/pkg/placement/pool"
)

// NodeNames are the names of the nodes that there may be.
func NodeNames() []string { return []string{"n0", "n1", "n2"} }

// Names are the names of the ClusterResources that there may be. Pods also ask for one of another
// name.
func Names() []string { return []string{"disk", "licence"} }

// Resource is a ClusterResource of few units: one pool of a rack within one of all nodes.
func Resource(name string, mode berthv1alpha1.PoolMode) *berthv1alpha1.ClusterResource {
	object := &berthv1alpha1.ClusterResource{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name)}}
	object.Spec.Mode = mode
	object.Spec.Capacity = []berthv1alpha1.ClusterResourceQuantity{
		{Name: "rack", Quantity: resource.MustParse("4"), NodeSelector: map[string]string{"rack": "a"}},
		{Name: "all", Quantity: resource.MustParse("9")},
	}
	object.Status.Allocatable = object.Spec.Capacity
	return object
}

// Node draws a node in one of two racks.
func Node(t *rapid.T, name string) *corev1.Node {
	rack := rapid.SampledFrom([]string{"a", "b"}).Draw(t, "rack")
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"rack": rack}}}
}

// Pod draws a pod on a node: stamped, bound by somebody else, or with a stamp that was copied. Some
// have the same age. Pods of different numbers differ.
func Pod(t *rapid.T, number int) *corev1.Pod {
	name := fmt.Sprintf("p%d", number)
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "default", Name: name, UID: types.UID(name), Annotations: map[string]string{},
			CreationTimestamp: metav1.Unix(rapid.Int64Range(0, 2).Draw(t, "created"), 0),
		},
		Spec: corev1.PodSpec{NodeName: rapid.SampledFrom(NodeNames()).Draw(t, "node")},
	}
	ofResource := rapid.SampledFrom(append(Names(), "unknown")).Draw(t, "resource")
	amount := rapid.SampledFrom([]string{"1", "2", "3", "1500m", "many"}).Draw(t, "amount")
	pod.Annotations[berthv1alpha1.ClusterResourceAnnotationPrefix+ofResource] = amount
	quantity, err := pool.ParseQuantity(amount)
	if err != nil || rapid.Bool().Draw(t, "stray") {
		return pod
	}
	charges := []pool.Charge{{
		Resource: ofResource, Pool: rapid.SampledFrom([]string{"rack", "all", "gone"}).Draw(t, "pool"), Quantity: quantity,
		Grantee: rapid.SampledFrom([]string{"", "self", "other"}).Draw(t, "grantee"),
	}}
	maps.Copy(pod.Annotations, stamp.ChargeAnnotations(pod, pod.Spec.NodeName, charges))
	if rapid.Bool().Draw(t, "copied") {
		pod.UID += "-copy"
	}
	return pod
}
