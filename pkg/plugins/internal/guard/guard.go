// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package guard keeps a panic in one plugin from taking the scheduler down.
package guard

import (
	"context"
	"fmt"
	"runtime/debug"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/component-base/metrics"
	"k8s.io/component-base/metrics/legacyregistry"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	schedutil "k8s.io/kubernetes/pkg/scheduler/util"
)

var panics = metrics.NewCounterVec(&metrics.CounterOpts{
	Subsystem:      "berth_plugin",
	Name:           "panics_total",
	Help:           "Panics in Berth's scheduler plugins. Each failed one scheduling attempt; report them as bugs.",
	StabilityLevel: metrics.ALPHA,
}, []string{"plugin", "extension_point"})

// RegisterMetrics registers the metric of this package. It may be called more than once.
func RegisterMetrics() {
	legacyregistry.Register(panics) //nolint:errcheck // registering twice is allowed
}

// Rescue turns a panic into an error status, so that it fails the attempt of one pod and nothing
// else. It must be deferred directly.
func Rescue(ctx context.Context, plugin, extensionPoint string, status **fwk.Status) {
	if cause := recover(); cause != nil {
		*status = fwk.AsStatus(note(klog.FromContext(ctx), plugin, extensionPoint, cause))
	}
}

// Hint makes a queueing hint of what a plugin decides when a pod or node has changed: before is nil
// if it is new, after if it is gone. A panic, or an object of another type, which is a bug as well,
// lets the pod be tried.
func Hint[T any](
	plugin string, decide func(logger klog.Logger, pod *corev1.Pod, before, after *T) fwk.QueueingHint,
) fwk.QueueingHintFn {
	return func(logger klog.Logger, pod *corev1.Pod, oldObj, newObj any) (hint fwk.QueueingHint, err error) {
		defer func() {
			if cause := recover(); cause != nil {
				hint, err = fwk.Queue, note(logger, plugin, "QueueingHint", cause)
			}
		}()
		before, after, err := schedutil.As[*T](oldObj, newObj)
		if err != nil {
			return fwk.Queue, err
		}
		return decide(logger, pod, before, after), nil
	}
}

// note counts a panic, logs where it happened, and returns it as an error.
func note(logger klog.Logger, plugin, extensionPoint string, cause any) error {
	panics.WithLabelValues(plugin, extensionPoint).Inc()
	logger.Error(nil, "A plugin panicked", "plugin", plugin, "extensionPoint", extensionPoint, "stack", string(debug.Stack()))
	return fmt.Errorf("panic in %s of plugin %s: %v", extensionPoint, plugin, cause)
}
