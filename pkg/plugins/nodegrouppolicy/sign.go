// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package nodegrouppolicy

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	"berth.dev/berth/pkg/plugins/internal/guard"
)

// The answers to pods that are not to be scheduled in batches are made once: the framework only
// reads them.
var (
	placedOneByOne = fwk.NewStatus(fwk.Unschedulable, "pods of a policy are placed one by one")
	severalFit     = fwk.NewStatus(fwk.Unschedulable, "a node takes several such pods")
)

// SignPod lets pods without a policy be scheduled in batches, if that can be of use. A pod with a
// policy is not signed, because where it goes changes where the next one may go. Nor is one of
// which a node takes several: the framework looks for a node anew while the last one has room left,
// so that all the work that makes a signature would be for nothing.
func (p *NodeGroupPolicy) SignPod(
	ctx context.Context, pod *corev1.Pod,
) (fragments []fwk.SignFragment, status *fwk.Status) {
	defer guard.Rescue(ctx, Name, "SignPod", &status)
	snapshot := p.shared.Catalog.Snapshot()
	if snapshot == nil {
		return nil, placedOneByOne
	}
	if !unconcerned(snapshot, pod) {
		if policy, _, err := snapshot.PolicyOf(pod, p.shared.Owners); err != nil || policy != nil {
			return nil, placedOneByOne
		}
	}
	if p.severalFit(pod) {
		return nil, severalFit
	}
	return nil, nil
}

// severalFit guesses whether a node takes several pods of a kind. A wrong guess costs time and
// nothing else, so one node stands for all and the largest container for the pod.
func (p *NodeGroupPolicy) severalFit(pod *corev1.Pod) bool {
	nodes, err := p.handle.SnapshotSharedLister().NodeInfos().List()
	if err != nil || len(nodes) == 0 || nodes[0].Node() == nil {
		return false
	}
	has := nodes[0].Node().Status.Allocatable
	for i := range pod.Spec.Containers {
		c := &pod.Spec.Containers[i]
		for j := range c.Ports {
			if c.Ports[j].HostPort != 0 {
				return false
			}
		}
		for name, asked := range c.Resources.Requests {
			allocatable := has[name]
			if 2*asked.AsApproximateFloat64() > allocatable.AsApproximateFloat64() {
				return false
			}
		}
	}
	return true
}
