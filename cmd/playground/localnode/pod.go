// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package localnode

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
)

// read returns a file of the container of a pod that comes from a ConfigMap.
func (r *Runner) read(ctx context.Context, pod *corev1.Pod, file string) ([]byte, error) {
	container := &pod.Spec.Containers[0]
	for _, mount := range container.VolumeMounts {
		if mount.MountPath != path.Dir(file) {
			continue
		}
		at := slices.IndexFunc(pod.Spec.Volumes, func(v corev1.Volume) bool { return v.Name == mount.Name && v.ConfigMap != nil })
		if at < 0 {
			break
		}
		name := pod.Spec.Volumes[at].ConfigMap.Name
		found, err := r.client.CoreV1().ConfigMaps(pod.Namespace).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return nil, fmt.Errorf("reading ConfigMap %s: %w", name, err)
		}
		if text, ok := found.Data[path.Base(file)]; ok {
			return []byte(text), nil
		}
		return nil, fmt.Errorf("the ConfigMap %s has no file %s", name, path.Base(file))
	}
	return nil, fmt.Errorf("the file %q that an argument names is not in a volume made of a ConfigMap", file)
}

// report writes the status of a pod by its process, and returns why the process could not be
// started, to try again.
func (r *Runner) report(ctx context.Context, pod *corev1.Pod, c child, problem error) error {
	status := statusOf(pod, c, problem)
	if equality.Semantic.DeepEqual(status, pod.Status) {
		return problem
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"uid": pod.UID}, "status": status})
	if err != nil {
		return fmt.Errorf("writing the status of pod %s/%s: %w", pod.Namespace, pod.Name, err)
	}
	_, err = r.client.CoreV1().Pods(pod.Namespace).
		Patch(ctx, pod.Name, types.MergePatchType, patch, metav1.PatchOptions{}, "status")
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		return errors.Join(problem, fmt.Errorf("writing the status of pod %s/%s: %w", pod.Namespace, pod.Name, err))
	}
	return problem
}

// statusOf is what a kubelet would say: the pod runs, its container does or waits to be started
// again. Whether it leads is told by its Scheduler.
func statusOf(pod *corev1.Pod, c child, problem error) corev1.PodStatus {
	status := *pod.Status.DeepCopy()
	status.Phase = corev1.PodRunning
	// A process has the network of this machine, as a pod with hostNetwork has.
	status.HostIP, status.PodIP = loopback, loopback
	status.HostIPs, status.PodIPs = []corev1.HostIP{{IP: loopback}}, []corev1.PodIP{{IP: loopback}}
	if status.StartTime == nil {
		status.StartTime = ptr.To(metav1.Now())
	}
	status.ContainerStatuses = make([]corev1.ContainerStatus, 1)
	container := &status.ContainerStatuses[0]
	if len(pod.Status.ContainerStatuses) > 0 {
		*container = *pod.Status.ContainerStatuses[0].DeepCopy()
	}
	container.Name, container.Image = pod.Spec.Containers[0].Name, pod.Spec.Containers[0].Image
	restarted := container.RestartCount != c.restarts
	container.RestartCount, container.Ready, container.Started = c.restarts, c.alive(), ptr.To(c.alive())
	switch {
	case problem != nil:
		container.State = corev1.ContainerState{
			Waiting: &corev1.ContainerStateWaiting{Reason: "CreateContainerError", Message: problem.Error()},
		}
	case !c.alive():
		container.State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{
			Reason: "CrashLoopBackOff", Message: fmt.Sprintf("the process ended and is started again, see %s", c.process.LogPath()),
		}}
	case restarted || container.State.Running == nil:
		container.State = corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.Now()}}
	}
	for _, kind := range []corev1.PodConditionType{corev1.PodInitialized, corev1.ContainersReady, corev1.PodReady} {
		setCondition(&status, kind, kind == corev1.PodInitialized || container.Ready)
	}
	return status
}

func setCondition(status *corev1.PodStatus, kind corev1.PodConditionType, holds bool) {
	value := corev1.ConditionFalse
	if holds {
		value = corev1.ConditionTrue
	}
	at := slices.IndexFunc(status.Conditions, func(c corev1.PodCondition) bool { return c.Type == kind })
	if at < 0 {
		status.Conditions = append(status.Conditions, corev1.PodCondition{Type: kind})
		at = len(status.Conditions) - 1
	}
	if status.Conditions[at].Status != value {
		status.Conditions[at].Status, status.Conditions[at].LastTransitionTime = value, metav1.Now()
	}
}
