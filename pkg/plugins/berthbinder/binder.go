// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package berthbinder binds every pod of Berth's profiles. What a policy gave to a pod travels in the Binding itself: the
// API server copies its annotations onto the pod in the same write that sets the node, so there is no moment at which a
// bound pod lacks its stamp and no second write that could fail.
package berthbinder

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"

	"berth.dev/berth/pkg/fence"
	"berth.dev/berth/pkg/plugins/internal/guard"
)

// Name is the name of the plugin in a KubeSchedulerConfiguration.
const Name = "BerthBinder"

// BerthBinder is a Bind plugin that writes the stamp of a pod together with its node.
type BerthBinder struct {
	handle fwk.Handle
	given  Given
	fence  *fence.Fence
}

var _ fwk.BindPlugin = &BerthBinder{}

// Given tells what the Reserve plugins gave to a pod. It must be safe for concurrent use.
type Given interface {
	// Annotations returns what the binding of the pod to the node must carry, nil if nothing was given to the pod.
	Annotations(pod *corev1.Pod, node string) map[string]string
	// Unclear says that nobody knows whether the pod has been bound.
	Unclear(pod *corev1.Pod)
	// Fenced says whether every pod must be bound under the lease, whatever it was given.
	Fenced() bool
}

// New returns the plugin. Pods that were given something, or all if given says so, are bound only while the fence is open.
func New(handle fwk.Handle, given Given, leader *fence.Fence) *BerthBinder {
	return &BerthBinder{handle: handle, given: given, fence: leader}
}

// Name returns the name of the plugin.
func (*BerthBinder) Name() string {
	return Name
}

// Bind binds the pod to the node.
func (b *BerthBinder) Bind(ctx context.Context, _ fwk.CycleState, pod *corev1.Pod, node string) (status *fwk.Status) {
	defer guard.Rescue(ctx, Name, "Bind", &status)
	binding := &corev1.Binding{
		ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID},
		Target:     corev1.ObjectReference{Kind: "Node", Name: node},
	}
	binding.Annotations = b.given.Annotations(pod, node)
	if binding.Annotations == nil && !b.given.Fenced() {
		return fwk.AsStatus(b.write(ctx, pod, binding, b.dispatch))
	}
	guarded, leave, err := b.fence.Enter(ctx)
	if err != nil {
		return fwk.AsStatus(fmt.Errorf("binding pod %s/%s: %w", pod.Namespace, pod.Name, err))
	}
	defer leave()
	// The dispatcher of API calls would send it when its turn comes, which may be after the fence has closed.
	return fwk.AsStatus(b.write(guarded, pod, binding, b.send))
}

// write sends the binding and settles an unclear answer by reading the pod.
func (b *BerthBinder) write(
	ctx context.Context, pod *corev1.Pod, binding *corev1.Binding, send func(context.Context, *corev1.Binding) error,
) error {
	klog.FromContext(ctx).V(3).Info("Binding pod to node", "pod", klog.KRef(binding.Namespace, binding.Name),
		"node", klog.KRef("", binding.Target.Name))
	err := send(ctx, binding)
	if err == nil || refused(err) {
		return err
	}
	err = b.settle(ctx, binding, err)
	if errors.Is(err, errUnknownOutcome) {
		b.given.Unclear(pod)
	}
	return err
}

// dispatch sends a binding through the scheduler's dispatcher of API calls, if it has one.
func (b *BerthBinder) dispatch(ctx context.Context, binding *corev1.Binding) error {
	cacher := b.handle.APICacher()
	if cacher == nil {
		return b.send(ctx, binding)
	}
	finished, err := cacher.BindPod(binding)
	if err != nil {
		return err
	}
	return cacher.WaitOnFinish(ctx, finished)
}

// send sends a binding at once.
func (b *BerthBinder) send(ctx context.Context, binding *corev1.Binding) error {
	return b.handle.ClientSet().CoreV1().Pods(binding.Namespace).Bind(ctx, binding, metav1.CreateOptions{})
}

// refused says whether the API server certainly did not carry out the binding. A conflict is not certain: it can be the
// answer to a retry of a binding that was carried out.
func refused(err error) bool {
	return apierrors.IsNotFound(err) || apierrors.IsForbidden(err) || apierrors.IsInvalid(err) ||
		apierrors.IsBadRequest(err) || apierrors.IsUnauthorized(err) || apierrors.IsTooManyRequests(err) ||
		errors.Is(err, fence.ErrClosed)
}

const (
	settleInterval = 100 * time.Millisecond
	settleTimeout  = 5 * time.Second

	// lateness is how long a binding that the API server has not answered may take to show.
	lateness = time.Second
)

// errUnknownOutcome says that nobody can tell whether a binding was carried out.
var errUnknownOutcome = errors.New("the outcome is unknown")

// settle finds out by a live read whether a binding with an unclear answer was carried out.
func (b *BerthBinder) settle(ctx context.Context, binding *corev1.Binding, cause error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTimeout)
	defer cancel()
	outcome, asked := cause, time.Now()
	var answer apierrors.APIStatus
	answered := errors.As(cause, &answer)
	err := wait.PollUntilContextCancel(ctx, settleInterval, true, func(ctx context.Context) (bool, error) {
		pod, err := b.handle.ClientSet().CoreV1().Pods(binding.Namespace).Get(ctx, binding.Name, metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err):
			return true, nil
		case err != nil:
			return false, nil //nolint:nilerr // an unreachable API server is asked again until the time is up
		case pod.UID == binding.UID && pod.Spec.NodeName == binding.Target.Name:
			outcome = nil
			return true, nil
		}
		return answered || time.Since(asked) >= lateness, nil
	})
	if err != nil {
		return fmt.Errorf("binding pod %s/%s: %w: %w", binding.Namespace, binding.Name, errUnknownOutcome, cause)
	}
	return outcome
}
