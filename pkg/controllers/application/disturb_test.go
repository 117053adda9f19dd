// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package application_test

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// change changes a Cluster.
func (f *fleet) change(name string, change func(*berthv1alpha1.Cluster)) {
	after := f.stored(name).DeepCopy()
	change(after)
	f.put(after)
	for _, request := range f.controller.Waiting(f.tb.Context(), after) {
		f.tenants[request.Namespace].poke()
	}
}

// die cuts a cluster off for a while. It returns how many it has cut off.
func (f *fleet) die(p *place, d time.Duration) int {
	if p.dead {
		return 0
	}
	p.dead = true
	returns := f.clock.Now().Add(d)
	still := func(d time.Duration, do func()) {
		if f.clock.Now().Add(d).Before(returns) {
			f.after(d, do)
		}
	}
	still(40*time.Second, func() {
		f.online(p, metav1.ConditionFalse)
		f.podsIn(p, func(a *tenant, pod *corev1.Pod) { a.setReady(pod, corev1.ConditionFalse); a.disturbed() })
	})
	still(340*time.Second, func() {
		f.podsIn(p, func(a *tenant, pod *corev1.Pod) { a.deletePod(pod); a.fill(); a.disturbed() })
	})
	f.after(returns.Sub(f.clock.Now()), func() {
		p.dead = false
		f.after(20*time.Second, func() { f.online(p, metav1.ConditionTrue) })
		for _, object := range f.objects["Pod"] {
			if pod := object.(*corev1.Pod); pod.DeletionTimestamp != nil && pod.Spec.NodeName == p.name+"-0" {
				f.remove(pod)
			}
		}
		f.podsIn(p, func(a *tenant, pod *corev1.Pod) {
			key := pod.Namespace
			name := pod.Name
			f.after(10*time.Second, func() { a.becomeReady(keyOf(key, name)) })
		})
		for _, a := range f.apps {
			a.poke()
		}
	})
	return 1
}

func (f *fleet) online(p *place, is metav1.ConditionStatus) {
	f.change(p.name, func(c *berthv1alpha1.Cluster) {
		c.Status.Conditions[0].Status, c.Status.Conditions[0].LastTransitionTime = is, metav1.NewTime(f.clock.Now())
	})
}

// podsIn does something for each pod in a cluster.
func (f *fleet) podsIn(p *place, do func(*tenant, *corev1.Pod)) {
	for _, a := range f.apps {
		for _, pod := range a.pods() {
			if pod.Spec.NodeName == p.name+"-0" {
				do(a, pod)
			}
		}
	}
}

// respecify changes the spec of an Application, if there is one.
func (a *tenant) respecify(change func(*berthv1alpha1.ApplicationSpec)) {
	if a.stored() == nil {
		return
	}
	app := a.stored().DeepCopy()
	was := app.Spec.Suspend
	change(&app.Spec)
	app.Generation++
	a.fleet.put(app)
	if was && !app.Spec.Suspend {
		a.resumed = a.fleet.clock.Now()
	}
	a.disturbed()
	a.poke()
}

// delete deletes an Application, and what belongs to it as garbage collection does.
func (a *tenant) delete() {
	a.fleet.remove(a.stored())
	if policy := a.policy(); policy != nil {
		a.fleet.remove(policy)
	}
	if d := a.deployment(); d != nil {
		a.fleet.remove(d)
	}
	for _, pod := range slices.Clone(a.pods()) {
		a.deletePod(pod)
	}
	a.poke()
}

// disturbed notes that it cannot be expected to run for a while.
func (a *tenant) disturbed() {
	if now := a.fleet.clock.Now(); now.After(a.calm) {
		a.calm = now
	}
}

// turn switches something on for a while.
func (f *fleet) turn(what *bool, least, most time.Duration) {
	*what = true
	f.after(f.between(least, most), func() { *what = false })
}
