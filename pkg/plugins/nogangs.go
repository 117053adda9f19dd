// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build kubernetes_1_36 || kubernetes_1_37

package plugins

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	fwk "k8s.io/kube-scheduler/framework"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
)

// gangPlugin is the plugin of scheduler-plugins that serves gangs, and gangLabel names the gang of
// a pod.
const gangPlugin, gangLabel = "Coscheduling", "scheduling.x-k8s.io/pod-group"

// reasonNoGangs is why pods of gangs wait.
const reasonNoGangs = "this build has no gang scheduling"

// gangsNeedServer reports that the stand-in reads nothing by itself.
const gangsNeedServer = false

// gangs returns a stand-in for the plugin that serves gangs, because scheduler-plugins does not
// compile with this minor of Kubernetes. A profile that names the plugin keeps on working, but for
// pods of gangs.
func gangs() frameworkruntime.Registry {
	return frameworkruntime.Registry{
		gangPlugin: func(context.Context, runtime.Object, fwk.Handle) (fwk.Plugin, error) { return noGangs{}, nil },
	}
}

type noGangs struct{}

var _ fwk.PreEnqueuePlugin = noGangs{}

// Name returns the name by which a profile enables the plugin.
func (noGangs) Name() string { return gangPlugin }

// PreEnqueue keeps pods of gangs from being placed one by one.
func (noGangs) PreEnqueue(_ context.Context, pod *corev1.Pod) *fwk.Status {
	if _, found := pod.Labels[gangLabel]; found {
		return fwk.NewStatus(fwk.UnschedulableAndUnresolvable, reasonNoGangs)
	}
	return nil
}
