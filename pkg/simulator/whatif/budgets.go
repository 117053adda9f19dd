// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package whatif

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	podutil "k8s.io/kubernetes/pkg/api/v1/pod"
	"k8s.io/utils/ptr"

	"berth.dev/berth/pkg/model/workload"
)

// runBudgets writes how many disruptions each budget allows, as its controller does. Preemption
// reads that.
func (s *Simulation) runBudgets() error {
	return each(s, func(budget *policyv1.PodDisruptionBudget) error {
		counted := budget.DeepCopy()
		health := s.healthOf(budget)
		counted.Status.ObservedGeneration = budget.Generation
		counted.Status.CurrentHealthy, counted.Status.DesiredHealthy = health.current, health.desired
		counted.Status.ExpectedPods, counted.Status.DisruptionsAllowed = health.expected, health.allowed()
		return s.replace(counted)
	})
}

// health is what a budget counts.
type health struct {
	// expected are the pods that there should be, desired how many of them must stay healthy, and
	// current how many are.
	expected, desired, current int32
}

// allowed returns how many pods may be disrupted.
func (h health) allowed() int32 {
	if h.expected <= 0 {
		return 0
	}
	return max(0, h.current-h.desired)
}

// healthOf counts the pods of a budget, as the controller of budgets does. One whose number of pods
// cannot be known allows no disruption.
func (s *Simulation) healthOf(budget *policyv1.PodDisruptionBudget) health {
	pods, healthy, known := int32(0), int32(0), true
	wanted := map[types.UID]int32{}
	for _, pod := range s.pods {
		if !protects(budget, pod) {
			continue
		}
		pods++
		if podutil.IsPodReady(pod) {
			healthy++
		}
		if ref := metav1.GetControllerOfNoCopy(pod); ref != nil {
			owner, replicas, scales := s.scaleOf(pod.Namespace, ref)
			wanted[owner], known = replicas, known && scales
		}
	}
	if least := budget.Spec.MinAvailable; least != nil && least.Type == intstr.Int {
		return health{pods, least.IntVal, healthy}
	}
	replicas := int32(0)
	for _, n := range wanted {
		replicas += n
	}
	desired, err := desiredOf(budget, replicas)
	if err != nil || !known {
		return health{}
	}
	return health{replicas, desired, healthy}
}

// desiredOf returns how many of the pods that there should be a budget wants to stay healthy.
func desiredOf(budget *policyv1.PodDisruptionBudget, replicas int32) (int32, error) {
	if most := budget.Spec.MaxUnavailable; most != nil {
		missing, err := intstr.GetScaledValueFromIntOrPercent(most, int(replicas), true)
		return max(0, replicas-int32(missing)), err
	}
	if budget.Spec.MinAvailable == nil {
		return 0, nil
	}
	least, err := intstr.GetScaledValueFromIntOrPercent(budget.Spec.MinAvailable, int(replicas), true)
	return int32(least), err
}

// protects reports whether a budget counts a pod.
func protects(budget *policyv1.PodDisruptionBudget, pod *corev1.Pod) bool {
	if budget.Namespace != pod.Namespace {
		return false
	}
	selector, err := metav1.LabelSelectorAsSelector(budget.Spec.Selector)
	return err == nil && selector.Matches(labels.Set(pod.Labels))
}

// scaleOf returns the controller of pods that has a number of replicas: of a ReplicaSet, its
// Deployment. It is false for those that have none, such as Jobs and DaemonSets.
func (s *Simulation) scaleOf(namespace string, ref *metav1.OwnerReference) (owner types.UID, replicas int32, scales bool) {
	kind := workload.KindFor(ref.APIVersion, ref.Kind)
	if kind == nil {
		return ref.UID, 0, false
	}
	controller := s.objects[id{kind.GroupKind(), typesName(namespace, ref.Name)}]
	switch o := controller.(type) {
	case *appsv1.ReplicaSet:
		if above := metav1.GetControllerOfNoCopy(o); above != nil && above.Kind == "Deployment" {
			return s.scaleOf(namespace, above)
		}
		return o.UID, ptr.Deref(o.Spec.Replicas, 1), true
	case *appsv1.Deployment:
		return o.UID, ptr.Deref(o.Spec.Replicas, 1), true
	case *appsv1.StatefulSet:
		return o.UID, ptr.Deref(o.Spec.Replicas, 1), true
	case *corev1.ReplicationController:
		return o.UID, ptr.Deref(o.Spec.Replicas, 1), true
	}
	return ref.UID, 0, false
}

const (
	// violates is what the API server says if a budget does not let a pod be evicted, and several if
	// a pod has more than one.
	violates = "Cannot evict pod as it would violate the pod's disruption budget."
	several  = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."
)

// keptBy returns why a pod would not be evicted, empty if it would.
func (s *Simulation) keptBy(pod *corev1.Pod) string {
	if pod.Status.Phase == corev1.PodPending {
		return ""
	}
	var found []*policyv1.PodDisruptionBudget
	for _, budget := range kept[*policyv1.PodDisruptionBudget](s) {
		if protects(budget, pod) {
			found = append(found, budget)
		}
	}
	switch len(found) {
	case 0:
		return ""
	case 1:
	default:
		return several
	}
	budget, h := found[0], s.healthOf(found[0])
	if !podutil.IsPodReady(pod) {
		always := ptr.Deref(budget.Spec.UnhealthyPodEvictionPolicy, policyv1.IfHealthyBudget) == policyv1.AlwaysAllow
		if always || h.desired > 0 && h.current >= h.desired {
			return ""
		}
	}
	if h.allowed() > 0 {
		return ""
	}
	return fmt.Sprintf("%s The disruption budget %s needs %d healthy pods and has %d currently", violates, budget.Name, h.desired, h.current)
}
