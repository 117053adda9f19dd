// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package settle makes the outcome of Bindings certain that may have been carried out, or may yet
// be.
//
// A read cannot do that: the Binding may land after it. So the pod is changed. A Binding carries a
// version of the pod, and the API server carries it out only if that is the version which is
// stored; so after the change it cannot land any more, and the answer to the change tells whether
// it had.
package settle

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"

	"berth.dev/berth/pkg/model/stamp"
	"berth.dev/berth/pkg/plugins/internal/ledger"
)

// MaxUnderWay is how many Bindings of pods that were given something a process has under way at a
// time, those that wait for a certain outcome among them. So late Bindings of one process are no
// more.
const MaxUnderWay = 64

// Workers is how many Bindings are settled at a time after a take-over.
const Workers = 32

// requestTimeout bounds one request.
const requestTimeout = 5 * time.Second

// pauses is how long to wait before the API server is asked again: 0.1 s at first, then longer up
// to 5 s.
var pauses = wait.Backoff{Duration: 100 * time.Millisecond, Factor: 2, Jitter: 0.1, Steps: 7, Cap: 5 * time.Second}

// Settler settles Bindings. It is safe for concurrent use.
type Settler struct {
	// Client writes the status of pods.
	Client kubernetes.Interface
	// Known returns the newest copy of a pod that the informer has, nil if it has none.
	Known func(namespace, name string) *corev1.Pod
}

// Pod waits until no Binding of the pod can land any more that carries the given version of it, or
// an older one. It returns the pod as it was then, nil if it is gone. No time ends this, only an
// answer; the error is that of a context which ends before.
func (s *Settler) Pod(ctx context.Context, ref ledger.PodRef, version string) (*corev1.Pod, error) {
	var pod *corev1.Pod
	err := pauses.DelayFunc().Until(ctx, true, true, func(ctx context.Context) (certain bool, _ error) {
		pod, certain = s.Try(ctx, ref, version)
		return certain, nil
	})
	if err != nil {
		return nil, fmt.Errorf("settling the bindings of pod %s/%s: %w", ref.Namespace, ref.Name, err)
	}
	return pod, nil
}

// settled returns the copy of a pod that the informer has, if it shows that nothing is to be done:
// the pod has a node, or its version is a newer one. Otherwise it returns nil.
func (s *Settler) settled(ref ledger.PodRef, version string) *corev1.Pod {
	known := s.Known(ref.Namespace, ref.Name)
	if known == nil {
		return nil
	}
	if known.UID == ref.UID && known.Spec.NodeName != "" {
		return known
	}
	if order, err := resourceversion.CompareResourceVersion(known.ResourceVersion, version); err != nil || order <= 0 {
		return nil
	}
	return known
}

// Write changes a pod, unless there is another one of its name by now, and returns it as it is
// then.
func Write(ctx context.Context, client kubernetes.Interface, ref ledger.PodRef) (*corev1.Pod, error) {
	value := string(uuid.NewUUID())
	return client.CoreV1().Pods(ref.Namespace).Patch(
		ctx, ref.Name, types.MergePatchType, stamp.Settlement(ref.UID, value), metav1.PatchOptions{}, "status")
}

// Try is one attempt of Pod. It reports whether the outcome is certain; only then the pod counts.
func (s *Settler) Try(ctx context.Context, ref ledger.PodRef, version string) (pod *corev1.Pod, certain bool) {
	if known := s.settled(ref, version); known != nil {
		return known, true
	}
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	pods := s.Client.CoreV1().Pods(ref.Namespace)
	pod, err := Write(ctx, s.Client, ref)
	switch {
	case err == nil:
		return pod, true
	case apierrors.IsNotFound(err):
		return nil, true
	case !apierrors.IsConflict(err) && !apierrors.IsInvalid(err):
		return nil, false
	}
	// Another pod of that name refuses the UID. Whether it is that, a read can tell.
	pod, err = pods.Get(ctx, ref.Name, metav1.GetOptions{})
	gone := apierrors.IsNotFound(err) || err == nil && pod.UID != ref.UID
	return nil, gone
}
