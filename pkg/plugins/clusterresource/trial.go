// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package clusterresource

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// trial is a node and a cycle of which pods are taken away for a try.
type trial struct {
	run     *dryRun
	node    fwk.NodeInfo
	cycle   fwk.CycleState
	state   *state
	removed map[types.UID]bool
}

func (d *dryRun) try(info fwk.NodeInfo) *trial {
	t := &trial{run: d, node: info.Snapshot(), cycle: d.cycle.Clone(), removed: map[types.UID]bool{}}
	t.state = stateOf(t.cycle)
	return t
}

// remove takes a pod away, from the node of the trial or from another one.
func (t *trial) remove(ctx context.Context, pod *corev1.Pod) {
	if t.removed[pod.UID] {
		return
	}
	node, info := t.find(pod)
	if info == nil {
		// On a node that is not in the snapshot it holds its charges and nothing else.
		t.state.credit(pod, t.run.plugin.held(pod))
		return
	}
	t.removed[pod.UID] = true
	if node == t.node {
		if err := node.RemovePod(klog.FromContext(ctx), pod); err != nil {
			return
		}
	}
	t.run.plugin.handle.RunPreFilterExtensionRemovePod(ctx, t.cycle, t.run.pod, info, node)
}

// add puts a pod back.
func (t *trial) add(ctx context.Context, pod *corev1.Pod) {
	if !t.removed[pod.UID] || pod.Spec.NodeName != t.node.Node().Name {
		return
	}
	delete(t.removed, pod.UID)
	info, err := framework.NewPodInfo(pod)
	if err != nil {
		return
	}
	t.node.AddPodInfo(info)
	t.run.plugin.handle.RunPreFilterExtensionAddPod(ctx, t.cycle, t.run.pod, info, t.node)
}

// find returns the node on which a pod is, and what the scheduler knows of the pod.
func (t *trial) find(pod *corev1.Pod) (fwk.NodeInfo, fwk.PodInfo) {
	node := t.node
	if pod.Spec.NodeName != node.Node().Name {
		var err error
		if node, err = t.run.plugin.handle.SnapshotSharedLister().NodeInfos().Get(pod.Spec.NodeName); err != nil {
			return nil, nil
		}
	}
	for _, info := range node.GetPods() {
		if info.GetPod().UID == pod.UID {
			return node, info
		}
	}
	return nil, nil
}

// fits says whether the pod could run on the node of the trial.
func (t *trial) fits(ctx context.Context) bool {
	return t.run.plugin.handle.RunFilterPluginsWithNominatedPods(ctx, t.cycle, t.run.pod, t.node).IsSuccess()
}
