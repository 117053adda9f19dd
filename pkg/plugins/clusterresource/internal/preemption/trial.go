// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package preemption

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"berth.dev/berth/pkg/placement/pool"
	"berth.dev/berth/pkg/plugins/internal/ledger"
)

// trial is a copy of a node and of the state of the cycle, from which pods are removed to see
// whether the pod fits then.
type trial struct {
	run     *dryRun
	node    fwk.NodeInfo
	cycle   fwk.CycleState
	claims  Claims
	removed map[types.UID]bool
}

func (d *dryRun) newTrial(info fwk.NodeInfo) *trial {
	cycle := d.cycle.Clone()
	return &trial{run: d, node: info.Snapshot(), cycle: cycle, claims: d.Claims(cycle), removed: map[types.UID]bool{}}
}

// removeOnNode removes the pods of the node for which a condition holds, and returns them.
func (t *trial) removeOnNode(ctx context.Context, condition func(*corev1.Pod) bool) (removed []*corev1.Pod) {
	for _, other := range slices.Clone(t.node.GetPods()) {
		if pod := other.GetPod(); condition(pod) {
			t.remove(ctx, pod)
			removed = append(removed, pod)
		}
	}
	return removed
}

func (t *trial) removeHolders(ctx context.Context, holders []*ledger.Holder) {
	for _, h := range holders {
		t.remove(ctx, h.Pod)
	}
}

// remove takes a pod away, from the node of the trial or from another one.
func (t *trial) remove(ctx context.Context, pod *corev1.Pod) {
	if t.removed[pod.UID] {
		return
	}
	node, info := t.find(pod)
	if info == nil {
		// On a node that is not in the snapshot it holds its charges and nothing else.
		t.claims.Credit(pod, t.run.heldBy(pod))
		return
	}
	t.removed[pod.UID] = true
	if node == t.node {
		if err := node.RemovePod(klog.FromContext(ctx), pod); err != nil {
			return
		}
	}
	t.run.Handle.RunPreFilterExtensionRemovePod(ctx, t.cycle, t.run.pod, info, node)
}

func (d *dryRun) heldBy(pod *corev1.Pod) []pool.Charge {
	if h := d.Holders.Holder(pod.UID); h != nil {
		return h.Charges
	}
	return nil
}

// add puts back a pod that was removed from the node of the trial.
func (t *trial) add(ctx context.Context, pod *corev1.Pod) {
	delete(t.removed, pod.UID)
	info, err := framework.NewPodInfo(pod)
	if err != nil {
		return
	}
	t.node.AddPodInfo(info)
	t.run.Handle.RunPreFilterExtensionAddPod(ctx, t.cycle, t.run.pod, info, t.node)
}

// find returns the node on which a pod is, and what the scheduler knows of the pod; nil if it does
// not know the pod.
func (t *trial) find(pod *corev1.Pod) (fwk.NodeInfo, fwk.PodInfo) {
	node := t.node
	if pod.Spec.NodeName != node.Node().Name {
		var err error
		if node, err = t.run.Handle.SnapshotSharedLister().NodeInfos().Get(pod.Spec.NodeName); err != nil {
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

// fits reports whether the pod could run on the node of the trial.
func (t *trial) fits(ctx context.Context) bool {
	return t.run.Handle.RunFilterPluginsWithNominatedPods(ctx, t.cycle, t.run.pod, t.node).IsSuccess()
}
