// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/stamp"
	"berth.dev/berth/pkg/model/workload"
)

// Adopts reports whether the named policy, which is in force for a workload, takes over a bound pod
// of it that no policy has placed. Berth bound such a pod before the policy was made, or another
// scheduler did before Berth came. The pod must ask for one of Berth's schedulers and for no other
// policy, and the object that controls it must be known: anybody can write a reference to one.
func Adopts(policy string, w *workload.Workload, pod *corev1.Pod, schedulers []string) bool {
	if _, stamped := stamp.Of(pod); stamped || !w.ReplicasKnown || !stamp.Blank(pod) {
		return false
	}
	request := pod.Annotations[berthv1alpha1.PolicyAnnotation]
	return (request == "" || request == policy) && slices.Contains(schedulers, pod.Spec.SchedulerName)
}
