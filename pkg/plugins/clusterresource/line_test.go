// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package clusterresource_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/plugintest"
)

// run starts a scheduler with racks.
func run(t *testing.T, objects ...runtime.Object) *running {
	t.Helper()
	return &running{t: t, Running: plugintest.Run(t, append(racks(), objects...))}
}

// running is a scheduler that runs.
type running struct {
	*plugintest.Running

	t *testing.T
}

// takenWithin is the time in which a unit that has become free has to be taken.
const takenWithin = 10 * time.Second

// expectTaken waits until a unit that has become free is taken, and returns how long that took.
func (r *running) expectTaken(taken func() bool) time.Duration {
	r.t.Helper()
	began := time.Now()
	r.WaitFor("the unit that is free to be taken", taken)
	took := time.Since(began)
	if took > takenWithin {
		r.t.Errorf("the unit that is free was taken after %s only", took)
	}
	return took
}

// placed reports whether a pod has a node.
func (r *running) placed(pod *corev1.Pod) bool {
	r.t.Helper()
	found, err := r.Kube.CoreV1().Pods(pod.Namespace).Get(r.t.Context(), pod.Name, metav1.GetOptions{})
	return err == nil && found.Spec.NodeName != ""
}

// inFront are pods of higher priority that come first, and let nobody make way.
func inFront(count int, change func(*corev1.Pod), amounts ...string) []*corev1.Pod {
	pods := make([]*corev1.Pod, count)
	for i := range pods {
		pods[i] = withPriority(asking(fmt.Sprint("front-", i), amounts...), 10)
		pods[i].Spec.PreemptionPolicy = ptr.To(corev1.PreemptNever)
		if change != nil {
			change(pods[i])
		}
	}
	return pods
}

// TestAPodThatFitsIsReached releases what a pod waits for behind many others, who come first and
// cannot use it.
func TestAPodThatFitsIsReached(t *testing.T) { //nolint:tparallel // its rows run side by side, and beside no other test
	cordoned := rackNode("c1", "c")
	cordoned.Spec.Unschedulable = true
	one := pools("matlab", berthv1alpha1.AnyOf, "all", "1")
	const many = 60
	for name, tc := range map[string]struct {
		objects []runtime.Object
		front   []*corev1.Pod
		// first is what else is held, and meanwhile what happens while all wait.
		first     *corev1.Pod
		meanwhile func(*running)
	}{
		"who want a cordoned node": {
			objects: []runtime.Object{one, cordoned},
			front:   inFront(many, func(pod *corev1.Pod) { onRack(pod, "c") }, "matlab", "1"),
		},
		"who want more cpu than there is": {
			objects: []runtime.Object{one},
			front: inFront(many, func(pod *corev1.Pod) {
				pod.Spec.Containers = []corev1.Container{{
					Name: "main", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: mustParse("50")}},
				}}
			}, "matlab", "1"),
		},
		"who want two pools that no node draws on": {
			objects: []runtime.Object{one, pools("x", berthv1alpha1.AnyOf, "a", "9"), pools("y", berthv1alpha1.AnyOf, "b", "9")},
			front:   inFront(many, nil, "matlab", "1", "x", "1", "y", "1"),
		},
		"who want one more pool of a node than has something left": {
			objects: []runtime.Object{pools("matlab", berthv1alpha1.AllOf, "all", "2", "b", "1")},
			front:   inFront(many, func(pod *corev1.Pod) { onRack(pod, "b") }, "matlab", "1"),
			first:   onRack(asking("first", "matlab", "1"), "b"),
		},
		"who are rejected elsewhere": {
			objects: []runtime.Object{one}, front: inFront(many, nil, "matlab", "1"),
			meanwhile: func(r *running) { r.Obstacle.Rejects.Store(true) },
		},
		"who are gated": {
			objects: []runtime.Object{one}, front: inFront(many, nil, "matlab", "1"),
			meanwhile: func(r *running) { r.Obstacle.Gates.Store(true) },
		},
		"who ask for something unknown now": {
			objects: []runtime.Object{one}, front: inFront(many, nil, "matlab", "1"),
			meanwhile: func(r *running) { r.edit(many, "does not exist", "maple", "1") },
		},
		"who ask for a part of a unit now": {
			objects: []runtime.Object{one}, front: inFront(many, nil, "matlab", "1"),
			meanwhile: func(r *running) { r.edit(many, "is no multiple of its unit", "matlab", "500m") },
		},
		"who are deleted": {
			objects: []runtime.Object{one}, front: inFront(many, nil, "matlab", "1"),
			meanwhile: func(r *running) {
				for i := range many {
					r.Delete(asking(fmt.Sprint("front-", i)))
				}
			},
		},
		"who are deleted while they are tried": {
			objects: []runtime.Object{one}, front: inFront(many, nil, "matlab", "1"),
			meanwhile: func(r *running) { r.deleteInCycle() },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := run(t, tc.objects...)
			if tc.first != nil {
				r.Create(tc.first)
				r.ExpectBound(tc.first)
			}
			holder := onRack(asking("holder", "matlab", "1"), "a")
			r.Create(holder)
			r.ExpectBound(holder)
			r.Create(tc.front...)
			r.ExpectWaiting(tc.front...)
			fits := onRack(asking("fits", "matlab", "1"), "a")
			r.Create(fits)
			r.ExpectWaiting(fits)
			if tc.meanwhile != nil {
				tc.meanwhile(r)
			}
			r.Delete(holder)
			r.expectTaken(func() bool { return r.placed(fits) })
		})
	}
}

// edit lets the pods in front ask for something else, and waits until they have been told what is
// wrong with it: the fake API server would carry out the Binding of a pod that has changed
// meanwhile.
func (r *running) edit(count int, reason string, amounts ...string) {
	r.t.Helper()
	pods := r.Kube.CoreV1().Pods("default")
	for i := range count {
		pod, err := pods.Get(r.t.Context(), fmt.Sprint("front-", i), metav1.GetOptions{})
		if err != nil {
			r.t.Fatal(err)
		}
		pod.Annotations = asking("", amounts...).Annotations
		pod.ResourceVersion = "2" // the scheduler does not look at updates that change no version
		if _, err := pods.Update(r.t.Context(), pod, metav1.UpdateOptions{}); err != nil {
			r.t.Fatal(err)
		}
	}
	for i := range count {
		r.WaitFor("a pod to be told what is wrong", func() bool {
			pod, err := pods.Get(r.t.Context(), fmt.Sprint("front-", i), metav1.GetOptions{})
			return err == nil && slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
				return strings.Contains(c.Message, reason)
			})
		})
	}
}

// deleteInCycle deletes the pods in front while they are tried, and waits until the informer knows.
func (r *running) deleteInCycle() {
	deletes := func(pod *corev1.Pod) {
		r.Delete(pod)
		r.Await(func() bool { return !r.Knows(pod) })
	}
	r.Obstacle.Tried.Store(&deletes)
}
