// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package clusterresource

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	"berth.dev/berth/pkg/model/charges"
	"berth.dev/berth/pkg/placement/pool"
	"berth.dev/berth/pkg/plugins/internal/cyclestate"
	"berth.dev/berth/pkg/plugins/internal/guard"
)

// Filter admits nodes whose pools have enough left for everything that the pod asks for.
func (p *ClusterResource) Filter(
	ctx context.Context, cycle fwk.CycleState, _ *corev1.Pod, node fwk.NodeInfo,
) (status *fwk.Status) {
	defer guard.Rescue(ctx, Name, "Filter", &status)
	s, _ := p.kept.Read(cycle, stateKey).(*state)
	if s == nil {
		return cyclestate.Missing(stateKey)
	}
	return s.rejection(node.Node().Name)
}

// rejection says why a node cannot meet the claims, nil if it can.
func (s *state) rejection(node string) *fwk.Status {
	var worst *fwk.Status
	for i := range s.claims {
		c := &s.claims[i]
		status := c.status(c.at(node))
		if status.Code() == fwk.UnschedulableAndUnresolvable {
			return status
		}
		if status != nil && worst == nil {
			worst = status
		}
	}
	return worst
}

// PreFilterExtensions returns the plugin itself.
func (p *ClusterResource) PreFilterExtensions() fwk.PreFilterExtensions {
	return p
}

// AddPod charges a nominated pod, or one that a dry run of preemption puts back.
func (p *ClusterResource) AddPod(
	ctx context.Context, cycle fwk.CycleState, _ *corev1.Pod, added fwk.PodInfo, node fwk.NodeInfo,
) (status *fwk.Status) {
	defer guard.Rescue(ctx, Name, "AddPod", &status)
	s, _ := p.kept.Read(cycle, stateKey).(*state)
	if s == nil {
		return cyclestate.Missing(stateKey)
	}
	pod := added.GetPod()
	if s.moved[pod.UID] {
		delete(s.moved, pod.UID)
		s.book(p.held(pod), -1)
		return nil
	}
	if p.shared.Ledger.Holder(pod.UID) != nil || !p.shared.Earmarks.NominationCounts(pod.UID) {
		return nil // charged already, or nominated no longer
	}
	s.book(s.owed(pod, node.Node().Name), -1)
	return nil
}

// RemovePod gives credit for a pod that a dry run of preemption takes away.
func (p *ClusterResource) RemovePod(
	ctx context.Context, cycle fwk.CycleState, _ *corev1.Pod, removed fwk.PodInfo, _ fwk.NodeInfo,
) (status *fwk.Status) {
	defer guard.Rescue(ctx, Name, "RemovePod", &status)
	s, _ := p.kept.Read(cycle, stateKey).(*state)
	if s == nil {
		return cyclestate.Missing(stateKey)
	}
	s.Credit(removed.GetPod(), p.held(removed.GetPod()))
	return nil
}

// held returns what a pod on a node holds.
func (p *ClusterResource) held(pod *corev1.Pod) []pool.Charge {
	if h := p.shared.Ledger.Holder(pod.UID); h != nil {
		return h.Charges
	}
	return nil
}

// owed returns what another pod would be charged on a node, of the resources that this pod asks
// for.
func (s *state) owed(other *corev1.Pod, node string) []pool.Charge {
	return charges.Owed(other, node, func(resource string) (*pool.Places, pool.Free) {
		for i := range s.claims {
			if c := &s.claims[i]; c.request.Resource == resource {
				return c.places, c.left
			}
		}
		return nil, nil
	})
}
