// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package catalog

import (
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
	object, _, err := policy.InForce(s.Matcher, w.Selectable(), policy.RequestOf(pod))
	if err != nil || object == nil {
		return nil, w, err
	}
	inForce = s.policies.Of(object).For(&w)
	return inForce, w, nil
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
