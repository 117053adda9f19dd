// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package nodegrouppolicy

import (
	corev1 "k8s.io/api/core/v1"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	corev1helpers "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/features"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/noderesources"

	"berth.dev/berth/pkg/plugins/internal/narrow"
)

// guest tells cheaply whether nodes can host a pod.
type guest struct {
	pod      *corev1.Pod
	affinity nodeaffinity.RequiredNodeAffinity
	claims   fwk.SharedDRAManager
	options  noderesources.ResourceRequestsOptions
}

func newGuest(pod *corev1.Pod, claims fwk.SharedDRAManager) *guest {
	return &guest{
		pod: pod, affinity: nodeaffinity.GetRequiredNodeAffinity(pod), claims: claims,
		options: noderesources.ResourceRequestsOptions{
			EnablePodLevelResources:   utilfeature.DefaultFeatureGate.Enabled(features.PodLevelResources),
			EnableDRAExtendedResource: utilfeature.DefaultFeatureGate.Enabled(features.DRAExtendedResource),
		},
	}
}

var cordon = &corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule}

// fits reports whether the node is not cordoned, has no taint that the pod does not tolerate,
// matches the pod's node selector and affinity, and has the resources. The plugins that decide look
// at more.
func (g *guest) fits(info fwk.NodeInfo) bool {
	node := info.Node()
	if node.Spec.Unschedulable &&
		!corev1helpers.TolerationsTolerateTaint(klog.Background(), g.pod.Spec.Tolerations, cordon, false) {
		return false
	}
	if _, untolerated := corev1helpers.FindMatchingUntoleratedTaint(
		klog.Background(), node.Spec.Taints, g.pod.Spec.Tolerations, narrow.KeepsAway, false); untolerated {
		return false
	}
	if match, err := g.affinity.Match(node); err != nil || !match {
		return false
	}
	return len(noderesources.Fits(g.pod, info, g.claims, g.options)) == 0
}
