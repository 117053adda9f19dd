// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"strconv"

	corev1 "k8s.io/api/core/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/stamp"
	"berth.dev/berth/pkg/placement/rebalance"
)

// Restamped returns the annotations of a pod that are not as they should be; nil stands for one to
// be removed. A deletion cost that is not Berth's own is left alone. Only pods with a valid stamp
// are touched.
func (p *Policy) Restamped(cluster int, seat int32, pod *corev1.Pod) map[string]any {
	given, stamped := stamp.Of(pod)
	if !stamped {
		return nil
	}
	want := stamp.Stamp{Policy: p.Object.Name, Seat: seat}
	if cluster != rebalance.Elsewhere {
		want.Cluster = p.Order.Name(cluster)
	}
	changes := map[string]any{}
	if given.Policy != want.Policy {
		changes[berthv1alpha1.PlacedPolicyAnnotation] = want.Policy
		if pod.Annotations[berthv1alpha1.PolicyAnnotation] == given.Policy {
			changes[berthv1alpha1.PolicyAnnotation] = want.Policy
		}
	}
	if given.Cluster != want.Cluster {
		changes[berthv1alpha1.PlacedClusterAnnotation] = textOrNone(want.Cluster, want.Cluster != "")
	}
	if given.Seat != want.Seat {
		changes[berthv1alpha1.SeatAnnotation] = textOrNone(strconv.Itoa(int(want.Seat)), want.Seat != stamp.NoSeat)
		if given.OwnsDeletionCost(pod) {
			changes[corev1.PodDeletionCost] = want.DeletionCost()
		}
	}
	return changes
}

func textOrNone(text string, some bool) any {
	if !some {
		return nil
	}
	return text
}
