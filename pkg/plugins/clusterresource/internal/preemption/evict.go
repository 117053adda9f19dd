// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package preemption

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
)

// evictTimeout bounds the time in which the victims of one pod are deleted.
const evictTimeout = 30 * time.Second

// evict deletes the victims and lets the pod that they make way for be tried.
func (p *Preemptor) evict(ctx context.Context, pod *corev1.Pod, plan *plan) {
	ctx, cancel := context.WithTimeout(ctx, evictTimeout)
	defer cancel()
	for _, victim := range plan.victims {
		if err := p.remove(ctx, pod, victim, plan.node); err != nil {
			klog.FromContext(ctx).Error(err, "A pod could not be made to make way",
				"pod", klog.KObj(pod), "victim", klog.KObj(victim))
			p.Earmarks.Drop(pod.UID)
			break
		}
	}
	p.Earmarks.evicted(pod.UID)
	p.Handle.Activate(klog.FromContext(ctx), map[string]*corev1.Pod{pod.Namespace + "/" + pod.Name: pod})
}

// remove makes a pod go: one that waits for permission is rejected; any other is deleted, after its
// status has been given the reason.
func (p *Preemptor) remove(ctx context.Context, pod, victim *corev1.Pod, node string) error {
	if waiting := p.Handle.GetWaitingPod(victim.UID); waiting != nil {
		waiting.Reject(p.Plugin, "preempted")
		return nil
	}
	pods := p.Handle.ClientSet().CoreV1().Pods(victim.Namespace)
	patch, err := disruption(pod, victim, metav1.NewTime(p.Clock.Now()))
	if err != nil {
		return err
	}
	if p.Removes != nil {
		p.Removes(victim)
	}
	_, err = pods.Patch(ctx, victim.Name, types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "status")
	if err == nil {
		err = pods.Delete(ctx, victim.Name, *metav1.NewPreconditionDeleteOptions(string(victim.UID)))
	}
	switch {
	case apierrors.IsNotFound(err), apierrors.IsConflict(err):
		return nil // it, or the one that was meant, is gone already
	case err != nil:
		return fmt.Errorf("deleting pod %s/%s: %w", victim.Namespace, victim.Name, err)
	}
	p.Handle.EventRecorder().Eventf(victim, pod, corev1.EventTypeNormal, "Preempted", "Preempting",
		"Preempted by pod %v on node %v, for a cluster resource that it holds", pod.UID, node)
	if p.Removed != nil {
		p.Removed(pod, victim)
	}
	return nil
}

// disruption returns the patch of the status that tells controllers and users why the victim goes.
// Its UID keeps it from a pod of the same name.
func disruption(pod, victim *corev1.Pod, now metav1.Time) ([]byte, error) {
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"uid": victim.UID},
		"status": map[string]any{"conditions": []corev1.PodCondition{{
			Type:               corev1.DisruptionTarget,
			Status:             corev1.ConditionTrue,
			ObservedGeneration: victim.Generation,
			LastTransitionTime: now,
			Reason:             corev1.PodReasonPreemptionByScheduler,
			Message:            pod.Spec.SchedulerName + ": preempting to accommodate a higher priority pod",
		}}},
	})
	if err != nil {
		return nil, fmt.Errorf("describing why pod %s/%s goes: %w", victim.Namespace, victim.Name, err)
	}
	return patch, nil
}
