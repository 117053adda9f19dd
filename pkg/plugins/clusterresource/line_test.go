// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package clusterresource_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/utils/ptr"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/plugintest"
)

// obstacle is a plugin that rejects the pods whose names begin with "front", before others see
// them, once it has been told to.
type obstacle struct {
	// gates is set if they do not enter the queue, rejects if PreFilter rejects them.
	gates, rejects atomic.Bool
	// deletes is what PreFilter does to them, nil for nothing.
	deletes atomic.Pointer[func(*corev1.Pod)]
}

func (*obstacle) Name() string { return "Obstacle" }

func isFront(pod *corev1.Pod) bool { return strings.HasPrefix(pod.Name, "front") }

func (o *obstacle) PreEnqueue(_ context.Context, pod *corev1.Pod) *fwk.Status {
	if isFront(pod) && o.gates.Load() {
		return fwk.NewStatus(fwk.UnschedulableAndUnresolvable, "gated")
	}
	return nil
}

func (o *obstacle) PreFilter(
	_ context.Context, _ fwk.CycleState, pod *corev1.Pod, _ []fwk.NodeInfo,
) (*fwk.PreFilterResult, *fwk.Status) {
	if deletes := o.deletes.Load(); deletes != nil && isFront(pod) {
		(*deletes)(pod)
	}
	if isFront(pod) && o.rejects.Load() {
		return nil, fwk.NewStatus(fwk.UnschedulableAndUnresolvable, "rejected")
	}
	return nil, fwk.NewStatus(fwk.Skip)
}

func (*obstacle) PreFilterExtensions() fwk.PreFilterExtensions { return nil }

// running is a scheduler that runs, with its queue.
type running struct {
	*plugintest.Scheduler

	t        *testing.T
	obstacle *obstacle
}

// run starts a scheduler whose Bindings are carried out.
func run(t *testing.T, objects ...runtime.Object) *running {
	t.Helper()
	r := &running{t: t, obstacle: &obstacle{}}
	config := strings.Replace(plugintest.Configuration, "    preFilter:\n      enabled:\n",
		"    preFilter:\n      enabled:\n      - name: Obstacle\n", 1)
	config = strings.Replace(config, "    filter:\n", "    preEnqueue:\n      enabled:\n      - name: Obstacle\n    filter:\n", 1)
	r.Scheduler = plugintest.New(t, append(racks(), objects...), plugintest.WithConfiguration(config),
		plugintest.WithPlugin("Obstacle", func(context.Context, runtime.Object, fwk.Handle) (fwk.Plugin, error) { return r.obstacle, nil }))
	r.Kube.PrependReactor("create", "pods", r.bind)
	ctx, stop := context.WithCancel(r.Context())
	t.Cleanup(stop)
	go r.Scheduler.Scheduler.Run(ctx)
	return r
}

func (r *running) bind(action clienttesting.Action) (bool, runtime.Object, error) {
	create, ok := action.(clienttesting.CreateAction)
	if !ok || action.GetSubresource() != "binding" {
		return false, nil, nil
	}
	binding, ok := create.GetObject().(*corev1.Binding)
	if !ok {
		return false, nil, nil
	}
	object, err := r.Kube.Tracker().Get(action.GetResource(), binding.Namespace, binding.Name)
	pod, ok := object.(*corev1.Pod)
	if err != nil || !ok {
		return true, nil, err
	}
	pod = pod.DeepCopy()
	pod.Spec.NodeName = binding.Target.Name
	if pod.Annotations == nil {
		pod.Annotations = map[string]string{}
	}
	maps.Copy(pod.Annotations, binding.Annotations)
	return true, binding, r.Kube.Tracker().Update(action.GetResource(), pod, binding.Namespace)
}

func (r *running) create(pods ...*corev1.Pod) {
	r.t.Helper()
	for _, pod := range pods {
		if _, err := r.Kube.CoreV1().Pods(pod.Namespace).Create(r.t.Context(), pod, metav1.CreateOptions{}); err != nil {
			r.t.Fatal(err)
		}
	}
}

func (r *running) delete(pod *corev1.Pod) {
	r.t.Helper()
	if err := r.Kube.CoreV1().Pods(pod.Namespace).Delete(r.t.Context(), pod.Name, metav1.DeleteOptions{}); err != nil {
		r.t.Error(err)
	}
}

func (r *running) expectBound(pod *corev1.Pod) {
	r.t.Helper()
	r.WaitFor("pod "+pod.Name+" to be bound", func() bool {
		found, err := r.Kube.CoreV1().Pods(pod.Namespace).Get(r.t.Context(), pod.Name, metav1.GetOptions{})
		return err == nil && found.Spec.NodeName != ""
	})
}

// expectWaiting waits until pods have been tried in vain.
func (r *running) expectWaiting(pods ...*corev1.Pod) {
	r.t.Helper()
	for _, pod := range pods {
		r.WaitFor("pod "+pod.Name+" to wait", func() bool { return r.Sleeps(pod) && r.reported(pod) })
	}
}

// reported reports whether a pod carries the condition of one that was tried in vain.
func (r *running) reported(pod *corev1.Pod) bool {
	found, err := r.Kube.CoreV1().Pods(pod.Namespace).Get(r.t.Context(), pod.Name, metav1.GetOptions{})
	return err == nil && len(found.Status.Conditions) > 0
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
			meanwhile: func(r *running) { r.obstacle.rejects.Store(true) },
		},
		"who are gated": {
			objects: []runtime.Object{one}, front: inFront(many, nil, "matlab", "1"),
			meanwhile: func(r *running) { r.obstacle.gates.Store(true) },
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
					r.delete(asking(fmt.Sprint("front-", i)))
				}
			},
		},
		"who are deleted while they are tried": {
			objects: []runtime.Object{one}, front: inFront(many, nil, "matlab", "1"),
			meanwhile: func(r *running) { r.obstacle.deleteInCycle(r) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := run(t, tc.objects...)
			if tc.first != nil {
				r.create(tc.first)
				r.expectBound(tc.first)
			}
			holder := onRack(asking("holder", "matlab", "1"), "a")
			r.create(holder)
			r.expectBound(holder)
			r.create(tc.front...)
			r.expectWaiting(tc.front...)
			fits := onRack(asking("fits", "matlab", "1"), "a")
			r.create(fits)
			r.expectWaiting(fits)
			if tc.meanwhile != nil {
				tc.meanwhile(r)
			}
			r.delete(holder)
			r.expectBound(fits)
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
func (o *obstacle) deleteInCycle(r *running) {
	deletes := func(pod *corev1.Pod) {
		r.delete(pod)
		r.WaitFor("the informer to know that pod "+pod.Name+" is gone", func() bool { return !r.Knows(pod) })
	}
	o.deletes.Store(&deletes)
}
