// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package ui

import (
	"maps"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/workload"
)

// maxAnnotation bounds the annotations of others that are kept, in bytes.
const maxAnnotation = 1024

// strip drops what takes much memory, no page shows and nothing that pages show follows from: each
// viewer has caches of his own. docs/tasks/look.md says what is left.
func strip(object any) (any, error) {
	if o, ok := object.(metav1.Object); ok {
		o.SetManagedFields(nil)
		o.SetFinalizers(nil)
		stripTemplate(workload.TemplateOf(o))
		maps.DeleteFunc(o.GetAnnotations(), func(key, value string) bool {
			return key == corev1.LastAppliedConfigAnnotation || len(value) > maxAnnotation && !strings.Contains(key, berthv1alpha1.GroupName)
		})
	}
	switch o := object.(type) {
	case *corev1.Pod:
		stripPod(o)
	case *corev1.Node:
		stripNode(o)
	case *appsv1.StatefulSet:
		o.Spec.VolumeClaimTemplates = nil
	case *berthv1alpha1.Cluster:
		o.Status.ContainedNodes = nil
	case *berthv1alpha1.Application:
		o.Spec.Manifests = nil
	}
	return object, nil
}

// stripPod leaves where a pod runs or may run, what it asks for of ClusterResources, and what the
// scheduler says of it.
func stripPod(pod *corev1.Pod) {
	spec := corev1.PodSpec{
		NodeName: pod.Spec.NodeName, SchedulerName: pod.Spec.SchedulerName, Priority: pod.Spec.Priority,
		NodeSelector: pod.Spec.NodeSelector, Tolerations: pod.Spec.Tolerations, SchedulingGates: pod.Spec.SchedulingGates,
		Overhead: pod.Spec.Overhead, Resources: pod.Spec.Resources,
		Containers: asking(pod.Spec.Containers), InitContainers: asking(pod.Spec.InitContainers),
	}
	if a := pod.Spec.Affinity; a != nil && a.NodeAffinity != nil {
		spec.Affinity = &corev1.Affinity{NodeAffinity: a.NodeAffinity}
	}
	pod.Spec = spec
	pod.Status = corev1.PodStatus{
		Phase: pod.Status.Phase, NominatedNodeName: pod.Status.NominatedNodeName,
		Conditions: only(pod.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == corev1.PodScheduled }),
	}
}

// asking returns the containers that ask for ClusterResources, with nothing but that.
func asking(containers []corev1.Container) []corev1.Container {
	var found []corev1.Container
	for i := range containers {
		c := &containers[i]
		requests := corev1.ResourceList{}
		for name, quantity := range c.Resources.Requests {
			if strings.HasPrefix(string(name), berthv1alpha1.ClusterResourceDomain+"/") {
				requests[name] = quantity
			}
		}
		if len(requests) > 0 {
			found = append(found, corev1.Container{
				Name: c.Name, RestartPolicy: c.RestartPolicy, Resources: corev1.ResourceRequirements{Requests: requests},
			})
		}
	}
	return found
}

// stripNode leaves to which Cluster a node belongs, and which pods it takes.
func stripNode(node *corev1.Node) {
	node.Annotations = nil
	node.Spec = corev1.NodeSpec{Unschedulable: node.Spec.Unschedulable, Taints: node.Spec.Taints}
	node.Status = corev1.NodeStatus{
		Conditions: only(node.Status.Conditions, func(c corev1.NodeCondition) bool { return c.Type == corev1.NodeReady }),
	}
}

// stripTemplate leaves what a template says of who places its pods.
func stripTemplate(template *corev1.PodTemplateSpec) {
	if template != nil {
		template.Spec = corev1.PodSpec{SchedulerName: template.Spec.SchedulerName}
	}
}

// only returns the conditions that are kept, in an array of their own.
func only[T any](conditions []T, kept func(T) bool) []T {
	return slices.Collect(func(yield func(T) bool) {
		for i := range conditions {
			if kept(conditions[i]) && !yield(conditions[i]) {
				return
			}
		}
	})
}
