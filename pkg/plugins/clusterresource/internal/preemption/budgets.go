// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package preemption

import (
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	corev1helpers "k8s.io/component-helpers/scheduling/corev1"

	"berth.dev/berth/pkg/placement/pool"
)

// readBudgets reads the disruption budgets and how many disruptions each allows. A scheduler
// without permission to read them has an empty list: it cannot tell whom they protect.
func (d *dryRun) readBudgets() {
	informers := d.Handle.SharedInformerFactory().Policy().V1()
	budgets, err := informers.PodDisruptionBudgets().Lister().List(labels.Everything())
	if err != nil {
		return
	}
	d.budgets = budgets
	for _, budget := range budgets {
		d.allowed = append(d.allowed, budget.Status.DisruptionsAllowed)
	}
}

// candidate describes a pod that could make way.
func (d *dryRun) candidate(pod *corev1.Pod) pool.Holder {
	c := pool.Holder{Priority: corev1helpers.PodPriority(pod), Started: d.Clock.Now()}
	if pod.Status.StartTime != nil {
		c.Started = pod.Status.StartTime.Time
	}
	for i, budget := range d.budgets {
		if protects(budget, pod) {
			c.Budgets = append(c.Budgets, i)
		}
	}
	return c
}

// protects reports whether a budget counts the disruption of a pod. One that has been counted
// already is not counted again.
func protects(budget *policyv1.PodDisruptionBudget, pod *corev1.Pod) bool {
	if budget.Namespace != pod.Namespace || len(pod.Labels) == 0 {
		return false
	}
	if _, already := budget.Status.DisruptedPods[pod.Name]; already {
		return false
	}
	selector, err := metav1.LabelSelectorAsSelector(budget.Spec.Selector)
	return err == nil && !selector.Empty() && selector.Matches(labels.Set(pod.Labels))
}
