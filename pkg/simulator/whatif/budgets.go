// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package whatif

import (
	"fmt"
	"maps"
	"slices"

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

// budget is a PodDisruptionBudget.
type budget struct {
	object   *policyv1.PodDisruptionBudget
	selector labels.Selector
	// health is what was counted last, and version when that was.
	health  health
	version int
}

func newBudget(object *policyv1.PodDisruptionBudget) *budget {
	selector, err := metav1.LabelSelectorAsSelector(object.Spec.Selector)
	if err != nil {
		selector = labels.Nothing() // its controller counts no pods then
	}
	return &budget{object: object, selector: selector, version: -1}
}

// protects reports whether a budget counts a pod.
func (b *budget) protects(pod *corev1.Pod) bool {
	return b.object.Namespace == pod.Namespace && b.selector.Matches(labels.Set(pod.Labels))
}

// runBudgets writes how many disruptions each budget allows, as its controller does. Preemption
// reads that.
func (s *Simulation) runBudgets() error {
	for _, key := range slices.SortedFunc(maps.Keys(s.budgets), compareKeys) {
		known := s.budgets[key]
		counted, health := known.object.DeepCopy(), s.healthOf(known)
		counted.Status.ObservedGeneration = counted.Generation
		counted.Status.CurrentHealthy, counted.Status.DesiredHealthy = health.current, health.desired
		counted.Status.ExpectedPods, counted.Status.DisruptionsAllowed = health.expected, health.allowed()
		if err := s.replace(counted); err != nil {
			return err
		}
	}
	return nil
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
func (s *Simulation) healthOf(b *budget) health {
	if b.version != s.version {
		b.health, b.version = s.count(b), s.version
	}
	return b.health
}

func (s *Simulation) count(b *budget) health {
	pods, healthy, known := int32(0), int32(0), true
	wanted := map[types.UID]int32{}
	for _, pod := range s.pods {
		if !b.protects(pod) {
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
	if least := b.object.Spec.MinAvailable; least != nil && least.Type == intstr.Int {
		return health{pods, least.IntVal, healthy}
	}
	replicas := int32(0)
	for _, n := range wanted {
		replicas += n
	}
	desired, err := desiredOf(b.object, replicas)
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
	var found *budget
	for _, b := range s.budgets {
		if !b.protects(pod) {
			continue
		}
		if found != nil {
			return several
		}
		found = b
	}
	if found == nil {
		return ""
	}
	h := s.healthOf(found)
	if !podutil.IsPodReady(pod) {
		always := ptr.Deref(found.object.Spec.UnhealthyPodEvictionPolicy, policyv1.IfHealthyBudget) == policyv1.AlwaysAllow
		if always || h.desired > 0 && h.current >= h.desired {
			return ""
		}
	}
	if h.allowed() > 0 {
		return ""
	}
	return fmt.Sprintf("%s The disruption budget %s needs %d healthy pods and has %d currently", violates, found.object.Name, h.desired, h.current)
}
