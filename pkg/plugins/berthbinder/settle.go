// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package berthbinder

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/klog/v2"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// requestTimeout bounds one request that settles a binding.
const requestTimeout = 5 * time.Second

// pauses is how long to wait before the API server is asked again: 0.1 s at first, then longer up
// to 5 s.
var pauses = wait.Backoff{Duration: 100 * time.Millisecond, Factor: 2, Jitter: 0.1, Steps: 7, Cap: 5 * time.Second}

// errUnknownOutcome says that the process ends before anybody could tell whether a binding was
// carried out.
var errUnknownOutcome = errors.New("the outcome is unknown")

// settle makes the outcome of a binding certain that may have been carried out, or may yet be. A
// read cannot do that: the binding may land after it. So the pod is changed, after which the
// binding, which carries the version before, cannot land any more, and the answer tells whether it
// had. No time ends this, only an answer.
func (b *BerthBinder) settle(ctx context.Context, binding *corev1.Binding, cause error) error {
	unclear.Inc()
	klog.FromContext(ctx).V(2).Info("A Binding has no clear answer and is being settled",
		"pod", klog.KRef(binding.Namespace, binding.Name), "node", binding.Target.Name, "reason", cause.Error())
	var result error
	err := pauses.DelayFunc().Until(ctx, true, true, func(ctx context.Context) (bool, error) {
		pod, certain := b.settled(ctx, binding)
		if pod == nil {
			result = cause
		} else {
			result = outcome(pod, binding, cause)
		}
		return certain, nil
	})
	if err != nil {
		return fmt.Errorf("%w: %w", errUnknownOutcome, cause)
	}
	return result
}

// settled tries once to make the outcome certain. It returns the pod as it then is, nil if it is
// gone.
func (b *BerthBinder) settled(ctx context.Context, binding *corev1.Binding) (pod *corev1.Pod, certain bool) {
	if known := b.given.Pod(binding.Namespace, binding.Name); known != nil && follows(known, binding) {
		return known, true
	}
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	pods := b.handle.ClientSet().CoreV1().Pods(binding.Namespace)
	pod, err := pods.Patch(ctx, binding.Name, types.MergePatchType, settlement(binding), metav1.PatchOptions{}, "status")
	switch {
	case err == nil:
		return pod, true
	case apierrors.IsNotFound(err):
		return nil, true
	case !apierrors.IsConflict(err) && !apierrors.IsInvalid(err):
		return nil, false
	}
	// Another pod of that name refuses the UID. Whether it is that, a read can tell.
	pod, err = pods.Get(ctx, binding.Name, metav1.GetOptions{})
	gone := apierrors.IsNotFound(err) || err == nil && pod.UID != binding.UID
	return nil, gone
}

// follows reports whether nothing that is still under way can change what the copy of a pod says of
// its node: it has one, or it is newer than the version that the binding carries.
func follows(pod *corev1.Pod, binding *corev1.Binding) bool {
	if pod.UID == binding.UID && pod.Spec.NodeName != "" {
		return true
	}
	order, err := resourceversion.CompareResourceVersion(pod.ResourceVersion, binding.ResourceVersion)
	return err == nil && order > 0
}

// settlement is the patch that changes the pod. Its value is a new one each time, because a patch
// that changes nothing does not move the version.
func settlement(binding *corev1.Binding) []byte {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"uid":         binding.UID,
		"annotations": map[string]string{berthv1alpha1.SettledAnnotation: string(uuid.NewUUID())},
	}})
	if err != nil {
		panic(err) // strings can always be encoded
	}
	return patch
}
