// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package demand reads what a pod asks for of ClusterResources: by extended resources in the
// requests of its containers, or by annotations for the pod as a whole.
package demand

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	podresource "k8s.io/component-helpers/resource"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/placement/pool"
)

// maxRequests bounds the ClusterResources that one pod can ask for.
const maxRequests = 64

const domainPrefix = berthv1alpha1.ClusterResourceDomain + "/"

// Asks reports whether the pod asks for any ClusterResource, well or badly. It does not allocate.
func Asks(pod *corev1.Pod) bool {
	for key := range pod.Annotations {
		if strings.HasPrefix(key, berthv1alpha1.ClusterResourceAnnotationPrefix) {
			return true
		}
	}
	return asksByResource(pod)
}

func asksByResource(pod *corev1.Pod) bool {
	for i := range pod.Spec.Containers {
		if lists(pod.Spec.Containers[i].Resources.Requests) {
			return true
		}
	}
	for i := range pod.Spec.InitContainers {
		if lists(pod.Spec.InitContainers[i].Resources.Requests) {
			return true
		}
	}
	return lists(pod.Spec.Overhead) || pod.Spec.Resources != nil && lists(pod.Spec.Resources.Requests)
}

func lists(resources corev1.ResourceList) bool {
	for name := range resources {
		if strings.HasPrefix(string(name), domainPrefix) {
			return true
		}
	}
	return false
}

// Of returns what the pod asks for, by name of the resource; nothing for requests of zero.
// Containers, init containers, sidecars and overhead count as they do for cpu. The error names the
// request that cannot be read.
func Of(pod *corev1.Pod) ([]pool.Request, error) {
	if !Asks(pod) {
		return nil, nil
	}
	requests, err := byAnnotation(pod)
	if err != nil {
		return nil, err
	}
	if asksByResource(pod) {
		if err := checkResources(pod); err != nil {
			return nil, err
		}
		if requests, err = addByResource(pod, requests); err != nil {
			return nil, err
		}
	}
	if len(requests) > maxRequests {
		return nil, fmt.Errorf("the pod asks for %d cluster resources, more than %d", len(requests), maxRequests)
	}
	requests = slices.DeleteFunc(requests, func(r pool.Request) bool { return r.Quantity.IsZero() })
	slices.SortFunc(requests, func(a, b pool.Request) int { return cmp.Compare(a.Resource, b.Resource) })
	return requests, nil
}

func byAnnotation(pod *corev1.Pod) ([]pool.Request, error) {
	var requests []pool.Request
	for key, text := range pod.Annotations {
		name, found := strings.CutPrefix(key, berthv1alpha1.ClusterResourceAnnotationPrefix)
		if !found {
			continue
		}
		quantity, err := pool.ParseQuantity(text)
		if err != nil {
			return nil, fmt.Errorf("the request for cluster resource %s cannot be read: %w", name, err)
		}
		requests = append(requests, pool.Request{Resource: name, Quantity: quantity})
	}
	return requests, nil
}

// checkResources refuses amounts that would take for ever to add up.
func checkResources(pod *corev1.Pod) error {
	requests := []corev1.ResourceList{pod.Spec.Overhead}
	for i := range pod.Spec.Containers {
		requests = append(requests, pod.Spec.Containers[i].Resources.Requests)
	}
	for i := range pod.Spec.InitContainers {
		requests = append(requests, pod.Spec.InitContainers[i].Resources.Requests)
	}
	if pod.Spec.Resources != nil {
		requests = append(requests, pod.Spec.Resources.Requests)
	}
	for _, list := range requests {
		if err := checkList(list); err != nil {
			return err
		}
	}
	return nil
}

func checkList(list corev1.ResourceList) error {
	for name, quantity := range list {
		short, found := strings.CutPrefix(string(name), domainPrefix)
		if !found {
			continue
		}
		if err := pool.Check(quantity); err != nil {
			return fmt.Errorf("the request for cluster resource %s %w", short, err)
		}
	}
	return nil
}

func addByResource(pod *corev1.Pod, requests []pool.Request) ([]pool.Request, error) {
	annotated := len(requests)
	for name, quantity := range podresource.PodRequests(pod, podresource.PodResourcesOptions{}) {
		short, found := strings.CutPrefix(string(name), domainPrefix)
		if !found {
			continue
		}
		if slices.ContainsFunc(requests[:annotated], func(r pool.Request) bool { return r.Resource == short }) {
			return nil, fmt.Errorf("the pod asks for cluster resource %s both by annotation and as a resource of a container", short)
		}
		if err := pool.Check(quantity); err != nil {
			return nil, fmt.Errorf("the request for cluster resource %s %w", short, err)
		}
		requests = append(requests, pool.Request{Resource: short, Quantity: withoutExponent(quantity)})
	}
	return requests, nil
}

// withoutExponent returns the same amount in the form that is written on the pod when it is
// charged. The API server accepts 1e3 of an extended resource.
func withoutExponent(quantity resource.Quantity) resource.Quantity {
	if quantity.Format != resource.DecimalExponent {
		return quantity
	}
	if whole, ok := quantity.AsInt64(); ok {
		return *resource.NewQuantity(whole, resource.DecimalSI)
	}
	return *resource.NewDecimalQuantity(*quantity.AsDec(), resource.DecimalSI)
}
