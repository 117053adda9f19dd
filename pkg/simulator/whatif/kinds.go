// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package whatif

import (
	"context"
	"fmt"
	"maps"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/kubernetes/pkg/controller"
	"k8s.io/utils/ptr"

	"berth.dev/berth/pkg/model/workload"
)

// runJob makes the pods of a Job that are still to run.
func (s *Simulation) runJob(ctx context.Context, job *batchv1.Job) error {
	ref := metav1.NewControllerRef(job, batchv1.SchemeGroupVersion.WithKind(workload.KindJob))
	if ptr.Deref(job.Spec.CompletionMode, batchv1.NonIndexedCompletion) != batchv1.IndexedCompletion {
		return s.runReplicas(ctx, job, ref, &job.Spec.Template)
	}
	replicas, _ := workload.ReplicasOf(job)
	if err := s.tooMany(job, int(replicas)); err != nil {
		return err
	}
	taken := map[string]bool{}
	for _, pod := range s.podsOf(job.UID) {
		taken[pod.Annotations[batchv1.JobCompletionIndexAnnotation]] = true
	}
	// Which indexes have completed is not read: with none, the first ones run.
	for index, n := 0, len(taken); n < int(replicas) && index < int(ptr.Deref(job.Spec.Completions, 0)); index++ {
		number := strconv.Itoa(index)
		if taken[number] {
			continue
		}
		pod, err := controller.GetPodFromTemplate(&job.Spec.Template, job, ref)
		if err != nil {
			return err
		}
		metav1.SetMetaDataAnnotation(&pod.ObjectMeta, batchv1.JobCompletionIndexAnnotation, number)
		metav1.SetMetaDataLabel(&pod.ObjectMeta, batchv1.JobCompletionIndexAnnotation, number)
		pod.Name, pod.GenerateName = s.randomName(job, pod.GenerateName+number+"-"), ""
		pod.Spec.Hostname = job.Name + "-" + number
		if made, err := s.create(ctx, job, pod, int(replicas)-n); err != nil || !made {
			return err
		}
		n++
	}
	return nil
}

// runStatefulSet makes the pods of a StatefulSet, one after the other unless it says Parallel.
func (s *Simulation) runStatefulSet(ctx context.Context, given *appsv1.StatefulSet) error {
	set := given.DeepCopy()
	if set.Status.UpdateRevision == "" {
		set.Status.UpdateRevision = set.Name + "-" + controller.ComputeHash(&set.Spec.Template, nil)
	}
	set.Status.CurrentRevision, set.Status.ObservedGeneration = set.Status.UpdateRevision, set.Generation
	if err := s.replace(set); err != nil {
		return err
	}
	replicas, _ := workload.ReplicasOf(set)
	if err := s.tooMany(set, int(replicas)); err != nil {
		return err
	}
	first := int(workload.FirstOrdinal(set))
	known, err := s.keepOrdinals(set, int(replicas))
	if err != nil {
		return err
	}
	ordered := set.Spec.PodManagementPolicy != appsv1.ParallelPodManagement
	for ordinal := range int(replicas) {
		pod := known[ordinal]
		if pod == nil {
			made, err := s.createOrdinal(ctx, set, first+ordinal, int(replicas)-len(known))
			if err != nil || !made {
				return err
			}
		}
		if ordered && (pod == nil || pod.Spec.NodeName == "") {
			return nil
		}
	}
	return nil
}

// keepOrdinals returns the pods of a StatefulSet that stay, by their number from 0, and deletes the
// others.
func (s *Simulation) keepOrdinals(set *appsv1.StatefulSet, replicas int) (map[int]*corev1.Pod, error) {
	known := map[int]*corev1.Pod{}
	for _, pod := range s.podsOf(set.UID) {
		ordinal, ok := workload.Number(pod, workload.FirstOrdinal(set))
		if ok && int(ordinal) < replicas && pod.Labels[appsv1.ControllerRevisionHashLabelKey] == set.Status.UpdateRevision {
			known[int(ordinal)] = pod
			continue
		}
		if err := s.dropPod(pod); err != nil {
			return nil, err
		}
	}
	return known, nil
}

// createOrdinal makes a pod of a StatefulSet, and its claims.
func (s *Simulation) createOrdinal(ctx context.Context, set *appsv1.StatefulSet, ordinal, missing int) (bool, error) {
	ref := metav1.NewControllerRef(set, appsv1.SchemeGroupVersion.WithKind("StatefulSet"))
	pod, err := controller.GetPodFromTemplate(&set.Spec.Template, set, ref)
	if err != nil {
		return false, err
	}
	pod.Name, pod.GenerateName = fmt.Sprintf("%s-%d", set.Name, ordinal), ""
	pod.Spec.Hostname, pod.Spec.Subdomain = pod.Name, set.Spec.ServiceName
	for key, value := range map[string]string{
		appsv1.StatefulSetPodNameLabel: pod.Name, appsv1.PodIndexLabel: strconv.Itoa(ordinal),
		appsv1.ControllerRevisionHashLabelKey: set.Status.UpdateRevision,
	} {
		metav1.SetMetaDataLabel(&pod.ObjectMeta, key, value)
	}
	for i := range set.Spec.VolumeClaimTemplates {
		template := &set.Spec.VolumeClaimTemplates[i]
		claim := template.DeepCopy()
		claim.Namespace, claim.Name = set.Namespace, template.Name+"-"+pod.Name
		claim.Labels = maps.Clone(set.Spec.Selector.MatchLabels)
		if !s.known(claim) {
			if err := s.apply(ctx, claim); err != nil {
				return false, err
			}
		}
		setVolume(pod, corev1.Volume{Name: template.Name, VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim.Name},
		}})
	}
	return s.create(ctx, set, pod, missing)
}

func setVolume(pod *corev1.Pod, volume corev1.Volume) {
	for i := range pod.Spec.Volumes {
		if pod.Spec.Volumes[i].Name == volume.Name {
			pod.Spec.Volumes[i] = volume
			return
		}
	}
	pod.Spec.Volumes = append(pod.Spec.Volumes, volume)
}
