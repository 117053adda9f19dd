// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/stamp"
	"berth.dev/berth/pkg/model/workload"
	"berth.dev/berth/pkg/placement/policymatch"
)

// Request is what pods ask for by the annotation PolicyAnnotation. Users write it, and Berth writes
// it on the pods that a policy places. So where it is read decides how much it says:
//
//	read from                      Name            Placed
//	a template                     the annotation  false: Berth writes on no template
//	a pod without a stamp          the annotation  false: a user wrote it
//	a pod that NAME has placed     NAME            true: Berth wrote it, or a user did before
//	a pod that another has placed  the annotation  false: Berth would have written the other name
type Request struct {
	// Name is the name of a policy, PolicyNone, or empty for no request.
	Name string
	// Placed is true if it was read from a pod that the policy of that name has placed.
	Placed bool
}

// RequestOf returns the request of a pod.
func RequestOf(pod *corev1.Pod) Request {
	r := Request{Name: pod.Annotations[berthv1alpha1.PolicyAnnotation]}
	if r.Name != "" {
		given, stamped := stamp.Of(pod)
		r.Placed = stamped && given.Policy == r.Name
	}
	return r
}

// RequestOfWorkload returns the request of the pods of a workload: that of their template or, where
// no template is read, that of the youngest pod.
func RequestOfWorkload(o *workload.Observed) Request {
	if pod := o.RequestedBy(); pod != nil {
		return RequestOf(pod)
	}
	return Request{Name: o.Request}
}

// InForce returns the policy in force for a workload whose pods have the request, nil if there is
// none, and how it came to be. The error is policymatch.ErrNotFound if a user asks for a policy
// that does not exist.
//
// A request that was read from a pod which the policy has placed counts only if it cannot be
// Berth's: if the policy selects the workload, that alone explains the annotation, and if the
// policy is gone, nobody asks for it any more.
func InForce(
	index *policymatch.Index, w *policymatch.Workload, request Request,
) (*berthv1alpha1.PropagationPolicy, policymatch.By, error) {
	requested, by, err := index.Match(w, request.Name)
	if request.Placed && (err != nil || slices.Contains(index.Claimants(w), requested)) {
		return index.Match(w, "")
	}
	return requested, by, err
}
