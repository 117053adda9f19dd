// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package whatif

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	scheduling "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/controller"
	daemons "k8s.io/kubernetes/pkg/controller/daemon/util"
)

// runDaemonSet makes a pod for each node that the DaemonSet is for.
func (s *Simulation) runDaemonSet(ctx context.Context, set *appsv1.DaemonSet) error {
	on := map[string]bool{}
	for _, pod := range s.podsOf(set.UID) {
		if node, err := daemons.GetTargetNodeName(pod); err == nil {
			on[node] = true
		}
	}
	for _, node := range kept[*corev1.Node](s) {
		if on[node.Name] {
			continue
		}
		pod, err := daemonPod(set, node)
		if err != nil {
			return err
		}
		if pod == nil {
			continue
		}
		pod.Name, pod.GenerateName = s.randomName(set, pod.GenerateName), ""
		if made, err := s.create(ctx, set, pod, 1); err != nil || !made {
			return err
		}
	}
	return nil
}

// daemonPod returns the pod of a DaemonSet for a node, nil if the controller wants none there.
func daemonPod(set *appsv1.DaemonSet, node *corev1.Node) (*corev1.Pod, error) {
	ref := metav1.NewControllerRef(set, appsv1.SchemeGroupVersion.WithKind("DaemonSet"))
	pod, err := controller.GetPodFromTemplate(&set.Spec.Template, set, ref)
	if err != nil {
		return nil, err
	}
	daemons.AddOrUpdateDaemonPodTolerations(&pod.Spec)
	matches, err := nodeaffinity.GetRequiredNodeAffinity(pod).Match(node)
	if err != nil || !matches {
		return nil, err
	}
	_, untolerated := scheduling.FindMatchingUntoleratedTaint(klog.Background(), node.Spec.Taints, pod.Spec.Tolerations,
		func(t *corev1.Taint) bool { return t.Effect != corev1.TaintEffectPreferNoSchedule }, false)
	if untolerated {
		return nil, nil //nolint:nilnil // no pod is no error
	}
	pod.Spec.Affinity = daemons.ReplaceDaemonSetPodNodeNameNodeAffinity(pod.Spec.Affinity, node.Name)
	return pod, nil
}
