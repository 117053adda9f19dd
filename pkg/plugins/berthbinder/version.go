// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package berthbinder

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/fence"
	"berth.dev/berth/pkg/model/stamp"
)

// maxAttempts bounds how often the same decision is sent for a pod whose version moves meanwhile.
const maxAttempts = 5

var (
	// errChanged says that the pod is not the one any more that was decided on.
	errChanged = errors.New("the pod has changed since it was decided on")
	// errContested says that what the pod was given is another one's by now.
	errContested = errors.New("another pod has been given its seat since it was decided on")
)

// bindVersion sends the binding with the version of the pod that was decided on. The API server
// checks it against what is stored, so a Binding that arrives late lands only on a pod that has not
// changed. The version of the decided pod itself will not do: nominations and conditions are
// written to pods while they are on their way to a node.
//
// A cause means that the outcome is not certain. Otherwise the pod is bound, or the error says why
// it certainly is not.
func (b *BerthBinder) bindVersion(
	ctx context.Context, decided *corev1.Pod, binding *corev1.Binding,
) (cause, err error) {
	current := b.given.Pod(decided.Namespace, decided.Name)
	if current == nil {
		current = decided
	}
	for range maxAttempts {
		if current.Spec.NodeName != "" && current != decided {
			return nil, outcome(current, binding, errChanged)
		}
		if err := b.choose(ctx, decided, current, binding); err != nil {
			return nil, err
		}
		err = b.send(ctx, binding)
		switch {
		case err == nil || fence.Refused(err):
			return nil, err
		case !apierrors.IsConflict(err):
			return err, nil
		}
		conflict := err
		current, err = b.handle.ClientSet().CoreV1().Pods(binding.Namespace).Get(ctx, binding.Name, metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err):
			return nil, conflict
		case err != nil:
			return conflict, nil
		case current.Spec.NodeName != "":
			return nil, outcome(current, binding, conflict)
		}
	}
	return nil, fmt.Errorf("it was changed %d times meanwhile: %w", maxAttempts, err)
}

// choose gives the binding the version of the current copy of the pod. The fence is looked at after
// that: a process that was stopped may go on with a version that was read after the next leader had
// settled the pod.
func (b *BerthBinder) choose(ctx context.Context, decided, current *corev1.Pod, binding *corev1.Binding) error {
	switch {
	case !sameDecision(decided, current):
		return errChanged
	case b.given.Contested(decided):
		return errContested
	}
	binding.ResourceVersion = current.ResourceVersion
	if fence.HasClosed(ctx) {
		return fence.ErrClosed
	}
	return nil
}

// sameDecision reports whether a newer copy of a pod asks for the same as the one that was decided
// on, which carries the node already. Its status does not count.
func sameDecision(decided, current *corev1.Pod) bool {
	if decided.UID != current.UID || current.DeletionTimestamp != nil {
		return false
	}
	if decided.ResourceVersion == current.ResourceVersion {
		return true
	}
	before, now := decided.Spec, current.Spec
	before.NodeName, now.NodeName = "", ""
	return maps.Equal(decided.Labels, current.Labels) &&
		maps.Equal(requests(decided.Annotations), requests(current.Annotations)) &&
		apiequality.Semantic.DeepEqual(before, now)
}

// requests are the annotations by which a pod asks Berth for something.
func requests(annotations map[string]string) map[string]string {
	asked := map[string]string{}
	for key, value := range annotations {
		if key == berthv1alpha1.PolicyAnnotation || key == corev1.PodDeletionCost ||
			strings.HasPrefix(key, berthv1alpha1.ClusterResourceAnnotationPrefix) ||
			strings.HasPrefix(key, berthv1alpha1.GroupName+"/") && !stamp.Written(key) {
			asked[key] = value
		}
	}
	return asked
}

// outcome returns nil if the pod is bound as the binding says, and the cause otherwise. Somebody
// else may have bound it to the same node: then it lacks what the binding carries.
func outcome(pod *corev1.Pod, binding *corev1.Binding, cause error) error {
	if pod.UID != binding.UID || pod.Spec.NodeName != binding.Target.Name {
		return cause
	}
	for key, value := range binding.Annotations {
		if pod.Annotations[key] != value {
			return cause
		}
	}
	return nil
}
