// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package feeds

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcehelper "k8s.io/component-helpers/resource"
)

// resources returns what a pod of the template requests and may use, as the scheduler counts it.
// The API server gives a pod the requests that are left out; a template is never given any, so that
// is done here.
func (t *podTemplate) resources() (corev1.ResourceRequirements, error) {
	pod := &corev1.Pod{}
	pod.Spec.Containers = containers(t.Spec.Containers)
	pod.Spec.InitContainers = containers(t.Spec.InitContainers)
	pod.Spec.Overhead = t.Spec.Overhead.list()
	if t.Spec.Resources != nil {
		pod.Spec.Resources = &corev1.ResourceRequirements{
			Requests: t.Spec.Resources.Requests.list(), Limits: t.Spec.Resources.Limits.list(),
		}
		defaultPodRequests(pod)
	}
	total := corev1.ResourceRequirements{
		Requests: orNil(resourcehelper.PodRequests(pod, resourcehelper.PodResourcesOptions{})),
		Limits:   orNil(resourcehelper.PodLimits(pod, resourcehelper.PodResourcesOptions{})),
	}
	for _, list := range []corev1.ResourceList{total.Requests, total.Limits} {
		for _, name := range slices.Sorted(maps.Keys(list)) {
			if sum := list[name]; sum.Cmp(maxQuantity) > 0 {
				return corev1.ResourceRequirements{}, fmt.Errorf("%.64s: the sum of all containers %w", name, errTooLarge)
			}
		}
	}
	return total, nil
}

func containers(from []container) []corev1.Container {
	list := make([]corev1.Container, 0, len(from))
	for i := range from {
		c := corev1.Container{RestartPolicy: from[i].RestartPolicy}
		c.Resources.Requests, c.Resources.Limits = from[i].Resources.Requests.list(), from[i].Resources.Limits.list()
		c.Resources.Requests = withDefaults(c.Resources.Requests, c.Resources.Limits)
		list = append(list, c)
	}
	return list
}

// defaultPodRequests does for the resources of the pod as a whole what the API server does: what
// its containers request stands in for a missing request, and where they request nothing the limit
// of the pod does. Huge pages cannot be overcommitted, so their limit always stands in. The limit
// for them that the API server makes up from those of the containers is the same number as their
// requests, and changes nothing.
func defaultPodRequests(pod *corev1.Pod) {
	limits := pod.Spec.Resources.Limits
	if len(limits) == 0 {
		return
	}
	requests := maps.Clone(pod.Spec.Resources.Requests)
	for name, sum := range resourcehelper.AggregateContainerRequests(pod, resourcehelper.PodResourcesOptions{}) {
		if name == corev1.ResourceCPU || name == corev1.ResourceMemory {
			requests = withDefaults(requests, corev1.ResourceList{name: sum})
		}
	}
	pod.Spec.Resources.Requests = withDefaults(requests, limits)
}

// withDefaults returns the list with what it lacks of the defaults.
func withDefaults(list, defaults corev1.ResourceList) corev1.ResourceList {
	if list == nil {
		return maps.Clone(defaults)
	}
	for name, quantity := range defaults {
		if _, set := list[name]; !set {
			list[name] = quantity
		}
	}
	return list
}

// orNil lets what needs nothing compare equal however that came about.
func orNil(list corev1.ResourceList) corev1.ResourceList {
	if len(list) == 0 {
		return nil
	}
	return list
}
