// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package plugintest

import (
	"context"
	"maps"
	"strings"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	clienttesting "k8s.io/client-go/testing"
	fwk "k8s.io/kube-scheduler/framework"
)

// Obstacle is a plugin that stands in the way of the pods whose names begin with "front", before
// any other plugin sees them, once it has been told to.
type Obstacle struct {
	// Gates is set if they do not enter the queue, Rejects if they are rejected in their scheduling
	// cycles, Breaks if these end with an error.
	Gates, Rejects, Breaks atomic.Bool
	// Tried is called in their scheduling cycles, unless it is nil.
	Tried atomic.Pointer[func(*corev1.Pod)]
}

// Name returns the name of the plugin.
func (*Obstacle) Name() string { return "Obstacle" }

func isFront(pod *corev1.Pod) bool { return strings.HasPrefix(pod.Name, "front") }

// PreEnqueue keeps the pods out of the queue.
func (o *Obstacle) PreEnqueue(_ context.Context, pod *corev1.Pod) *fwk.Status {
	if isFront(pod) && o.Gates.Load() {
		return fwk.NewStatus(fwk.UnschedulableAndUnresolvable, "gated")
	}
	return nil
}

// PreFilter rejects the pods.
func (o *Obstacle) PreFilter(
	_ context.Context, _ fwk.CycleState, pod *corev1.Pod, _ []fwk.NodeInfo,
) (*fwk.PreFilterResult, *fwk.Status) {
	if !isFront(pod) {
		return nil, fwk.NewStatus(fwk.Skip)
	}
	if tried := o.Tried.Load(); tried != nil {
		(*tried)(pod)
	}
	switch {
	case o.Rejects.Load():
		return nil, fwk.NewStatus(fwk.UnschedulableAndUnresolvable, "rejected")
	case o.Breaks.Load():
		return nil, fwk.NewStatus(fwk.Error, "broken")
	}
	return nil, fwk.NewStatus(fwk.Skip)
}

// PreFilterExtensions returns nil: the plugin keeps no state.
func (*Obstacle) PreFilterExtensions() fwk.PreFilterExtensions { return nil }

// Running is a scheduler that runs, with its queue. Pods are what its API server has.
type Running struct {
	*Scheduler

	// Obstacle is the first of its plugins.
	Obstacle *Obstacle
}

// Run is New with a scheduler that runs until the end of the test.
func Run(tb testing.TB, objects []runtime.Object, options ...Option) *Running {
	tb.Helper()
	r := &Running{Obstacle: &Obstacle{}}
	config := strings.Replace(Configuration, "    preFilter:\n      enabled:\n",
		"    preFilter:\n      enabled:\n      - name: Obstacle\n", 1)
	config = strings.Replace(config, "    filter:\n", "    preEnqueue:\n      enabled:\n      - name: Obstacle\n    filter:\n", 1)
	r.Scheduler = New(tb, objects, append([]Option{
		WithConfiguration(config),
		WithPlugin("Obstacle", func(context.Context, runtime.Object, fwk.Handle) (fwk.Plugin, error) { return r.Obstacle, nil }),
	}, options...)...)
	r.Kube.PrependReactor("create", "pods", r.bind)
	ctx, stop := context.WithCancel(r.Context())
	tb.Cleanup(stop)
	go r.Scheduler.Scheduler.Run(ctx)
	return r
}

// bind carries out Bindings.
func (r *Running) bind(action clienttesting.Action) (bool, runtime.Object, error) {
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
	if pod.Labels == nil {
		pod.Labels = map[string]string{}
	}
	maps.Copy(pod.Labels, binding.Labels)
	return true, binding, r.Kube.Tracker().Update(action.GetResource(), pod, binding.Namespace)
}

// Create creates pods on the API server.
func (r *Running) Create(pods ...*corev1.Pod) {
	r.tb.Helper()
	for _, pod := range pods {
		if _, err := r.Kube.CoreV1().Pods(pod.Namespace).Create(r.Context(), pod, metav1.CreateOptions{}); err != nil {
			r.tb.Fatal(err)
		}
	}
}

// Delete deletes a pod from the API server.
func (r *Running) Delete(pod *corev1.Pod) {
	r.tb.Helper()
	if err := r.Kube.CoreV1().Pods(pod.Namespace).Delete(r.Context(), pod.Name, metav1.DeleteOptions{}); err != nil {
		r.tb.Error(err)
	}
}

// Await waits until the condition holds, or the scheduler is stopped. Other than WaitFor it may be
// called by the scheduler's own goroutines, which can outlast the test.
func (r *Running) Await(condition func() bool) {
	// The only error is that the scheduler was stopped.
	_ = wait.PollUntilContextCancel(r.Context(), pollInterval, true, func(context.Context) (bool, error) { return condition(), nil })
}

// ExpectBound waits until a pod has a node.
func (r *Running) ExpectBound(pod *corev1.Pod) {
	r.tb.Helper()
	r.WaitFor("pod "+pod.Name+" to be bound", func() bool {
		found, err := r.Kube.CoreV1().Pods(pod.Namespace).Get(r.Context(), pod.Name, metav1.GetOptions{})
		return err == nil && found.Spec.NodeName != ""
	})
}

// ExpectWaiting waits until pods have been tried in vain.
func (r *Running) ExpectWaiting(pods ...*corev1.Pod) {
	r.tb.Helper()
	for _, pod := range pods {
		r.WaitFor("pod "+pod.Name+" to wait", func() bool { return r.Sleeps(pod) && r.reported(pod) })
	}
}

// reported reports whether a pod carries the condition of one that was tried in vain.
func (r *Running) reported(pod *corev1.Pod) bool {
	found, err := r.Kube.CoreV1().Pods(pod.Namespace).Get(r.Context(), pod.Name, metav1.GetOptions{})
	return err == nil && len(found.Status.Conditions) > 0
}
