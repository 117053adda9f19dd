// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package simulator

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// FitsOn reports whether a node takes a pod that has none, and if it does not, why, in the
// scheduler's own words.
func (s *Snapshot) FitsOn(ctx context.Context, pod *corev1.Pod, node string) (fits bool, why []string, err error) {
	ctx = klog.NewContext(ctx, s.logger)
	info := s.nodes.byName[node]
	if info == nil {
		return false, nil, fmt.Errorf("node %s not found", node)
	}
	for _, plugin := range s.framework.PreEnqueuePlugins() {
		if status := plugin.PreEnqueue(ctx, pod); !status.IsSuccess() {
			return false, status.Reasons(), errorOf(pod, status)
		}
	}
	for range maxAttempts {
		state, fit := framework.NewCycleState(), &framework.FitError{Pod: pod, NumAllNodes: len(s.nodes.list)}
		status, err := s.onNode(ctx, state, pod, info, fit)
		if err != nil || status.IsSuccess() {
			return err == nil, nil, err
		}
		if why = status.Reasons(); !s.lookFurther(ctx, state, pod, fit) {
			break
		}
	}
	return false, why, nil
}

// onNode asks one node. One that PreFilter has left out is asked by Filter alone, which says it
// more clearly, but does not count.
func (s *Snapshot) onNode(
	ctx context.Context, state fwk.CycleState, pod *corev1.Pod, info *framework.NodeInfo, fit *framework.FitError,
) (*fwk.Status, error) {
	candidates, rejected, err := s.candidates(ctx, state, pod, fit)
	if err != nil {
		return nil, fmt.Errorf("simulating pod %s/%s: %w", pod.Namespace, pod.Name, err)
	}
	absent := fit.Diagnosis.NodeToStatus.AbsentNodesStatus()
	if rejected {
		return absent, nil
	}
	status := s.framework.RunFilterPlugins(ctx, state, pod, info)
	if err := errorOf(pod, status); err != nil {
		return nil, err
	}
	if status.IsSuccess() && !slices.ContainsFunc(candidates, func(i fwk.NodeInfo) bool { return i.Node().Name == info.Node().Name }) {
		status = absent
	}
	if status.IsRejected() {
		fit.Diagnosis.NodeToStatus.Set(info.Node().Name, status)
	}
	return status, nil
}

// errorOf returns the error of a status that is one.
func errorOf(pod *corev1.Pod, status *fwk.Status) error {
	if status.IsSuccess() || status.IsRejected() {
		return nil
	}
	return fmt.Errorf("simulating pod %s/%s: %w", pod.Namespace, pod.Name, status.AsError())
}

// Lacks returns what a node has too little of for a pod, beside the pods that are there: empty if
// it has enough.
func (s *Snapshot) Lacks(pod *corev1.Pod, node string) (corev1.ResourceList, error) {
	info := s.nodes.byName[node]
	parsed, err := framework.NewPodInfo(pod)
	if err != nil {
		return nil, fmt.Errorf("reading pod %s/%s: %w", pod.Namespace, pod.Name, err)
	}
	lacking := corev1.ResourceList{}
	if info == nil {
		return lacking, nil
	}
	needs, used, all := parsed.CalculateResource().Resource, info.GetRequested(), info.GetAllocatable()
	lack := func(name corev1.ResourceName, missing int64, quantity func(int64) *resource.Quantity) {
		if missing > 0 {
			lacking[name] = *quantity(missing)
		}
	}
	milli := func(n int64) *resource.Quantity { return resource.NewMilliQuantity(n, resource.DecimalSI) }
	binary := func(n int64) *resource.Quantity { return resource.NewQuantity(n, resource.BinarySI) }
	decimal := func(n int64) *resource.Quantity { return resource.NewQuantity(n, resource.DecimalSI) }
	asked := func(need, missing int64) int64 {
		if need == 0 {
			return 0
		}
		return missing
	}
	cpu, memory, disk := needs.GetMilliCPU(), needs.GetMemory(), needs.GetEphemeralStorage()
	lack(corev1.ResourceCPU, asked(cpu, cpu+used.GetMilliCPU()-all.GetMilliCPU()), milli)
	lack(corev1.ResourceMemory, asked(memory, memory+used.GetMemory()-all.GetMemory()), binary)
	lack(corev1.ResourceEphemeralStorage, asked(disk, disk+used.GetEphemeralStorage()-all.GetEphemeralStorage()), binary)
	lack(corev1.ResourcePods, int64(len(info.GetPods())+1-all.GetAllowedPodNumber()), decimal)
	for name, need := range needs.GetScalarResources() {
		lack(name, asked(need, need+used.GetScalarResources()[name]-all.GetScalarResources()[name]), decimal)
	}
	return lacking, nil
}
