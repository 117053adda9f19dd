// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"cmp"
	"maps"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/stamp"
	"berth.dev/berth/pkg/placement/rebalance"
)

// The indexes of the clusters of webPolicy.
const beijing, hangzhou = 0, 1

// surplusCost is the deletion cost of a pod without a seat.
const surplusCost = "-2147483648"

// stampedPod is a pod of a Deployment that carries a stamp, and then the annotations.
func stampedPod(name string, s stamp.Stamp, annotations map[string]string) *corev1.Pod {
	pod := asking("", "")
	pod.Name, pod.UID, pod.Spec.NodeName = name, "", node
	pod.OwnerReferences = []metav1.OwnerReference{controller("apps/v1", "ReplicaSet", "rs")}
	if s.Policy != "" {
		pod.Annotations = s.Annotations(pod, node)
	}
	maps.Copy(pod.Annotations, annotations)
	return pod
}

func TestRestamped(t *testing.T) {
	at := func(policy, cluster string, seat int32) stamp.Stamp {
		return stamp.Stamp{Policy: policy, Cluster: cluster, Seat: seat}
	}
	const placed, policyKey, clusterKey, seatKey = berthv1alpha1.PlacedPolicyAnnotation, berthv1alpha1.PolicyAnnotation,
		berthv1alpha1.PlacedClusterAnnotation, berthv1alpha1.SeatAnnotation
	tests := map[string]struct {
		stamp       stamp.Stamp
		annotations map[string]string
		cluster     int
		seat        int32
		// place is what the pod should have, if not the one that belongs to the seat.
		place rebalance.Place
		fixed bool
		keep  rebalance.Keep
		want  map[string]any
	}{
		"as it should be": {
			stamp: at("web", "beijing", 1), cluster: beijing, seat: 1, want: map[string]any{},
		},
		"another seat": {
			stamp: at("web", "beijing", 1), cluster: beijing, seat: 2, want: map[string]any{seatKey: "2", corev1.PodDeletionCost: "-2000"},
		},
		"another seat, with a deletion cost of the user's": {
			stamp: at("web", "beijing", 1), annotations: map[string]string{corev1.PodDeletionCost: "7"}, cluster: beijing, seat: 2,
			want: map[string]any{seatKey: "2"},
		},
		"a place between two seats": {
			stamp: at("web", "beijing", 1), cluster: beijing, place: 1250, want: map[string]any{seatKey: "1.25", corev1.PodDeletionCost: "-1250"},
		},
		"the place it has by a cost without gaps": {
			stamp: at("web", "beijing", 7), annotations: map[string]string{corev1.PodDeletionCost: "-7"}, cluster: beijing, place: 7,
			want: map[string]any{},
		},
		"another place than it has by a cost without gaps": {
			stamp: at("web", "beijing", 7), annotations: map[string]string{corev1.PodDeletionCost: "-7"}, cluster: beijing, seat: 8,
			want: map[string]any{seatKey: "8", corev1.PodDeletionCost: "-8000"},
		},
		"a number by a cost without gaps": {
			stamp: at("web", "beijing", 7), annotations: map[string]string{corev1.PodDeletionCost: "-7"}, cluster: beijing, seat: 7, fixed: true,
			want: map[string]any{},
		},
		"the first seat": {
			stamp: at("web", "beijing", 1), cluster: beijing, seat: 0, want: map[string]any{seatKey: "0", corev1.PodDeletionCost: "0"},
		},
		"no seat": {
			stamp: at("web", "beijing", 1), cluster: beijing, seat: stamp.NoSeat,
			want: map[string]any{seatKey: nil, corev1.PodDeletionCost: surplusCost},
		},
		"another cluster": {
			stamp: at("web", "beijing", 1), cluster: hangzhou, seat: 1, want: map[string]any{clusterKey: "hangzhou"},
		},
		"no cluster of the policy": {
			stamp: at("web", "beijing", 1), cluster: rebalance.Elsewhere, seat: 1, want: map[string]any{clusterKey: nil},
		},
		"a cluster that the policy does not name any more": {
			stamp: at("web", "paris", 1), cluster: rebalance.Elsewhere, seat: 1, want: map[string]any{},
		},
		"another policy": {
			stamp: at("other", "beijing", 1), cluster: beijing, seat: 1, keep: rebalance.TakenOver,
			want: map[string]any{placed: "web", policyKey: "web"},
		},
		"another policy, and the pod asks for a third": {
			stamp: at("other", "beijing", 1), annotations: map[string]string{policyKey: "third"}, cluster: beijing, seat: 1,
			want: map[string]any{placed: "web"},
		},
		"without a stamp": {cluster: beijing, seat: 1, keep: rebalance.NotOurs},
		"without a stamp, and taken over": {
			cluster: beijing, seat: 1, keep: rebalance.TakenOver, want: map[string]any{
				placed: "web", policyKey: "web", clusterKey: "beijing", seatKey: "1", corev1.PodDeletionCost: "-1000",
				berthv1alpha1.PlacedByAnnotation: "/" + node,
			},
		},
		"taken over, with another cluster that somebody has written": {
			annotations: map[string]string{clusterKey: "paris", seatKey: "1"},
			cluster:     beijing, seat: 1, keep: rebalance.TakenOver, want: map[string]any{
				placed: "web", policyKey: "web", clusterKey: "beijing", corev1.PodDeletionCost: "-1000",
				berthv1alpha1.PlacedByAnnotation: "/" + node,
			},
		},
		"taken over in no cluster of the policy": {
			cluster: rebalance.Elsewhere, seat: stamp.NoSeat, keep: rebalance.TakenOver, want: map[string]any{
				placed: "web", policyKey: "web", corev1.PodDeletionCost: surplusCost, berthv1alpha1.PlacedByAnnotation: "/" + node,
			},
		},
		"taken over, with a stamp that somebody has copied": {
			annotations: map[string]string{policyKey: "web", clusterKey: "paris", seatKey: "9"},
			cluster:     rebalance.Elsewhere, seat: stamp.NoSeat, keep: rebalance.TakenOver, want: map[string]any{
				placed: "web", clusterKey: nil, seatKey: nil, corev1.PodDeletionCost: surplusCost,
				berthv1alpha1.PlacedByAnnotation: "/" + node,
			},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			seen := &rebalance.Replica{Cluster: tc.cluster, Keep: tc.keep, Fixed: tc.fixed}
			place := cmp.Or(tc.place, rebalance.PlaceOf(tc.seat))
			got := webPolicy(t).Restamped(seen, place, stampedPod("web-1", tc.stamp, tc.annotations))
			if diff := gocmp.Diff(tc.want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("annotations to change (-want +got):\n%s", diff)
			}
		})
	}
}
