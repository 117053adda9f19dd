// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package whatif

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/resourcequota"
	"k8s.io/apiserver/pkg/authentication/user"
	quota "k8s.io/apiserver/pkg/quota/v1"
	"k8s.io/kubernetes/pkg/quota/v1/evaluator/core"
	"k8s.io/utils/clock"
)

// quotas are the ResourceQuotas as the API server enforces them on pods. What other objects use of
// them is not counted.
type quotas struct {
	evaluator quota.Evaluator
	known     map[types.NamespacedName]*corev1.ResourceQuota
	// pods are what counts, by namespace.
	pods map[string]map[types.UID]*corev1.Pod
}

func newQuotas() *quotas {
	return &quotas{
		evaluator: core.NewPodEvaluator(nil, clock.RealClock{}), known: map[types.NamespacedName]*corev1.ResourceQuota{},
		pods: map[string]map[types.UID]*corev1.Pod{},
	}
}

// put takes up a quota, or replaces it. What is used of it is counted anew.
func (q *quotas) put(given *corev1.ResourceQuota) {
	counted := given.DeepCopy()
	counted.Status.Hard, counted.Status.Used = counted.Spec.Hard, corev1.ResourceList{}
	for name := range counted.Spec.Hard {
		counted.Status.Used[name] = resource.Quantity{}
	}
	q.known[keyOf(given)] = counted
	for _, pod := range q.pods[given.Namespace] {
		q.add(counted, pod, 1)
	}
}

// count adds a pod that exists, or takes off one that has gone.
func (q *quotas) count(pod *corev1.Pod, by int64) {
	if q.pods[pod.Namespace] == nil {
		q.pods[pod.Namespace] = map[types.UID]*corev1.Pod{}
	}
	if by > 0 {
		q.pods[pod.Namespace][pod.UID] = pod
	} else {
		delete(q.pods[pod.Namespace], pod.UID)
	}
	for key, known := range q.known {
		if key.Namespace == pod.Namespace {
			q.add(known, pod, by)
		}
	}
}

func (q *quotas) add(to *corev1.ResourceQuota, pod *corev1.Pod, by int64) {
	matches, err := q.evaluator.Matches(to, pod)
	if err != nil || !matches {
		return
	}
	usage, err := q.evaluator.Usage(pod)
	if err != nil {
		return
	}
	usage = quota.Mask(usage, quota.ResourceNames(to.Status.Hard))
	if by > 0 {
		to.Status.Used = quota.Add(to.Status.Used, usage)
	} else {
		to.Status.Used = quota.SubtractWithNonNegativeResult(to.Status.Used, usage)
	}
}

// admit returns the error with which the API server refuses a new pod, nil if no quota does.
func (q *quotas) admit(pod *corev1.Pod) error {
	var in []corev1.ResourceQuota
	for key, known := range q.known {
		if key.Namespace == pod.Namespace {
			in = append(in, *known)
		}
	}
	if len(in) == 0 {
		return nil
	}
	slices.SortFunc(in, func(a, b corev1.ResourceQuota) int { return cmp.Compare(a.Name, b.Name) })
	kind, pods := corev1.SchemeGroupVersion.WithKind("Pod"), corev1.SchemeGroupVersion.WithResource("pods")
	attributes := admission.NewAttributesRecord(pod, nil, kind, pod.Namespace, pod.Name, pods, "",
		admission.Create, &metav1.CreateOptions{}, false, &user.DefaultInfo{})
	_, err := resourcequota.CheckRequest(in, attributes, q.evaluator, nil)
	return err
}
