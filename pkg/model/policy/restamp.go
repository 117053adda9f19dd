// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	corev1 "k8s.io/api/core/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/stamp"
	"berth.dev/berth/pkg/placement/rebalance"
)

// Restamped returns the annotations of a pod that are not as they should be; nil stands for one to
// be removed. A deletion cost that is not Berth's own is left alone, and so is the number of a seat
// that has changed while the place is right, and the name of a cluster that the policy does not
// know: it tells an Application where the pods are that it has to move. Seen is the pod as package
// rebalance sees it. Pods without a valid stamp are touched only if the policy takes them over.
func (p *Policy) Restamped(seen *rebalance.Replica, place rebalance.Place, pod *corev1.Pod) map[string]any {
	given, stamped := stamp.Of(pod)
	want := stamp.Stamp{Policy: p.Object.Name}.At(place)
	if seen.Cluster != rebalance.Elsewhere {
		want.Cluster = p.Order.Name(seen.Cluster)
	} else if _, known := p.Order.Index(given.Cluster); !known {
		want.Cluster = given.Cluster
	}
	switch {
	case !stamped && seen.Keep == rebalance.TakenOver:
		return adopted(want, pod)
	case !stamped:
		return nil
	}
	moved := given.PlaceOf(pod) != place
	if seen.Fixed {
		moved = given.Seat != want.Seat // The cost means nothing to the controller that numbers pods.
	}
	if given.Policy == want.Policy && given.Cluster == want.Cluster && !moved {
		return nil
	}
	return changed(given, want, moved, pod)
}

// changed returns the annotations in which a stamp differs from another one that a pod is to have;
// moved reports whether its place is among that.
func changed(given, want stamp.Stamp, moved bool, pod *corev1.Pod) map[string]any {
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
	if moved {
		changes[berthv1alpha1.SeatAnnotation] = textOrNone(want.SeatText(), want.Seat != stamp.NoSeat)
		if given.OwnsDeletionCost(pod) {
			changes[corev1.PodDeletionCost] = want.DeletionCost()
		}
	}
	return changes
}

// adopted returns what makes a pod without a valid stamp one that carries the stamp.
func adopted(want stamp.Stamp, pod *corev1.Pod) map[string]any {
	changes, wanted := map[string]any{}, want.Annotations(pod, pod.Spec.NodeName)
	for key, value := range wanted {
		if pod.Annotations[key] != value {
			changes[key] = value
		}
	}
	for _, key := range [...]string{berthv1alpha1.PlacedClusterAnnotation, berthv1alpha1.SeatAnnotation} {
		_, copied := pod.Annotations[key]
		if _, set := wanted[key]; copied && !set {
			changes[key] = nil
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
