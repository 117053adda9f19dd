// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package narrow

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
)

// Thorough remembers pods that no node of their sample could take. It must be safe for concurrent
// use.
type Thorough interface {
	// AddThorough remembers a pod that is to be tried on all nodes that may take it.
	AddThorough(pod types.UID)
	// Thorough reports whether a pod is one of them.
	Thorough(pod types.UID) bool
	// Drop forgets a pod.
	Drop(pod types.UID)
}

// Retry sends a pod through another cycle at once, and returns what PostFilter is to answer: the
// reason for it.
func Retry(ctx context.Context, handle fwk.Handle, pod *corev1.Pod, reason string) *fwk.Status {
	logger := klog.FromContext(ctx)
	logger.V(4).Info("Trying the pod again", "pod", klog.KObj(pod), "reason", reason)
	handle.Activate(logger, map[string]*corev1.Pod{pod.Namespace + "/" + pod.Name: pod})
	return fwk.NewStatus(fwk.UnschedulableAndUnresolvable, reason)
}
