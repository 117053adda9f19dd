// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package clusterresource

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"

	"berth.dev/berth/pkg/plugins/internal/guard"
	"berth.dev/berth/pkg/plugins/internal/ledger"
)

// Reserve charges the pod to the pools of its node. The account has it from now on, whatever
// becomes of the pod, until it is known not to have been bound.
func (p *ClusterResource) Reserve(
	ctx context.Context, cycle fwk.CycleState, pod *corev1.Pod, node string,
) (status *fwk.Status) {
	defer guard.Rescue(ctx, Name, "Reserve", &status)
	s, _ := p.kept.Read(cycle, stateKey).(*state)
	if s == nil {
		return nil // the pod asks for nothing
	}
	charges, ok := s.Choose(node)
	if !ok {
		return fwk.NewStatus(fwk.Unschedulable, fmt.Sprintf(errReasonUsedUp, s.claims[0].request.Resource))
	}
	charged := false
	charge := func() { charged = p.shared.Pending.Charge(ledger.Ref(pod), charges) }
	if !p.shared.Grants.ChargeWithin(s.allowed, charge) {
		p.tryAgain(pod)
		return fwk.NewStatus(fwk.Unschedulable, fmt.Sprintf(errReasonUngranted, s.claims[0].request.Resource))
	}
	if !charged {
		return fwk.NewStatus(fwk.Unschedulable, errReasonBound)
	}
	p.shared.Earmarks.Suspend(pod.UID, true)
	p.shared.Waiting.Reserved(pod.UID, charges)
	p.shared.Retries.Drop(pod.UID)
	return nil
}

// Unreserve gives the charges back. The pod certainly was not bound by this process: Bind does not
// return before.
func (p *ClusterResource) Unreserve(_ context.Context, _ fwk.CycleState, pod *corev1.Pod, _ string) {
	p.shared.Earmarks.Suspend(pod.UID, false)
	p.shared.Earmarks.SetFailed(pod.UID, true)
	if charges := p.shared.Pending.Release(pod.UID); len(charges) > 0 {
		p.shared.Waiting.Returned(pod, charges)
	}
}

// retryPause is the time after which a pod is tried again that a grant which shrank has kept from
// what a scheduling cycle had found.
const retryPause = 200 * time.Millisecond

func (p *ClusterResource) tryAgain(pod *corev1.Pod) {
	p.shared.Clock.AfterFunc(retryPause, func() {
		p.handle.Activate(klog.Background(), map[string]*corev1.Pod{pod.Namespace + "/" + pod.Name: pod})
	})
}
