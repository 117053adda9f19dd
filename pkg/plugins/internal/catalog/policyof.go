// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"errors"

	corev1 "k8s.io/api/core/v1"

	"berth.dev/berth/pkg/model/policy"
	"berth.dev/berth/pkg/model/workload"
)

// PolicyOf returns the policy in force for a pod, nil if there is none, and the pod's workload. The
// error is policymatch.ErrNotFound if the pod asks for a policy that does not exist, and
// workload.ErrOwnerNotFound if the owner of the pod is not known.
func (s *Snapshot) PolicyOf(
	pod *corev1.Pod, owners workload.Source,
) (inForce *policy.Policy, w workload.Workload, err error) {
	if w, err = workload.Of(pod, owners); err != nil {
		return nil, w, err
	}
	if inForce, err = s.inForce(pod, &w); err == nil && inForce != nil {
		inForce = inForce.For(&w)
	}
	return inForce, w, err
}

// inForce returns the policy in force for the pods of a workload, nil if there is none.
func (s *Snapshot) inForce(pod *corev1.Pod, w *workload.Workload) (*policy.Policy, error) {
	object, _, err := policy.InForce(s.Matcher, w.Selectable(), policy.RequestOf(pod))
	if err != nil || object == nil {
		return nil, err
	}
	return s.policies.Of(object), nil
}

// AnotherPolicy reports whether the policy in force for a pod is another one after a change, or
// says something else. A pod whose owner is not known has none: its owner wakes it.
func AnotherPolicy(before, after *Snapshot, pod *corev1.Pod, owners workload.Source) bool {
	w, err := workload.Of(pod, owners)
	if err != nil {
		return !errors.Is(err, workload.ErrOwnerNotFound)
	}
	was, errBefore := before.inForce(pod, &w)
	is, errAfter := after.inForce(pod, &w)
	return was != is || !errors.Is(errAfter, errBefore)
}

// Constrained reports whether some policy of the namespace has constraints on clusters.
func (s *Snapshot) Constrained(namespace string) bool {
	return s.constrained[namespace]
}

func constrained(policies policy.Set) map[string]bool {
	namespaces := map[string]bool{}
	for key, compiled := range policies {
		if compiled.Constrained() {
			namespaces[key.Namespace] = true
		}
	}
	return namespaces
}
