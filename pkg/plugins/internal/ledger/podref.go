// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"berth.dev/berth/pkg/model/workload"
)

// PodRef names a pod.
type PodRef struct {
	Namespace, Name string
	UID             types.UID
}

// Ref returns the name of a pod.
func Ref(pod *corev1.Pod) PodRef {
	return PodRef{Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID}
}

// Bound asks the API server itself whether the pod has a node and has not finished. One that has
// gone, or whose name another pod has now, is not bound.
func (r PodRef) Bound(ctx context.Context, client kubernetes.Interface) (bool, error) {
	pod, err := client.CoreV1().Pods(r.Namespace).Get(ctx, r.Name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("reading pod %s/%s: %w", r.Namespace, r.Name, err)
	}
	return pod.UID == r.UID && pod.Spec.NodeName != "" && !workload.Finished(pod), nil
}
