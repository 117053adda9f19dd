// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package simulator

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/component-helpers/storage/ephemeral"
	"k8s.io/component-helpers/storage/volume"
)

// OwnsClaims reports whether a pod has claims that the controllers of Kubernetes make for it alone:
// of ephemeral volumes, and of devices by a ResourceClaimTemplate.
func OwnsClaims(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Spec.Volumes, func(v corev1.Volume) bool { return v.Ephemeral != nil }) ||
		slices.ContainsFunc(pod.Spec.ResourceClaims, func(c corev1.PodResourceClaim) bool { return c.ResourceClaimTemplateName != nil })
}

// VolumeClaims returns the claims of the ephemeral volumes of a pod.
func (s *Snapshot) VolumeClaims(pod *corev1.Pod) []*corev1.PersistentVolumeClaim {
	var claims []*corev1.PersistentVolumeClaim
	for i := range pod.Spec.Volumes {
		v := &pod.Spec.Volumes[i]
		if v.Ephemeral == nil || v.Ephemeral.VolumeClaimTemplate == nil {
			continue
		}
		template := v.Ephemeral.VolumeClaimTemplate
		claim := &corev1.PersistentVolumeClaim{ObjectMeta: ownedBy(pod, v.Name, &template.ObjectMeta), Spec: *template.Spec.DeepCopy()}
		claim.Name = ephemeral.VolumeClaimName(pod, v)
		s.DefaultClass(claim)
		claims = append(claims, claim)
	}
	return claims
}

// DefaultClass gives a claim that says nothing of its StorageClass the default one, as the API
// server does with a new claim, and its controller with one that is older than that class. It
// reports whether there is one: of several the newest counts.
func (s *Snapshot) DefaultClass(claim *corev1.PersistentVolumeClaim) bool {
	if volume.PersistentVolumeClaimHasClass(claim) {
		return false
	}
	all, err := s.informers.Storage().V1().StorageClasses().Lister().List(labels.Everything())
	all = slices.DeleteFunc(all, func(c *storagev1.StorageClass) bool {
		return c.Annotations["storageclass.kubernetes.io/is-default-class"] != "true"
	})
	if err != nil || len(all) == 0 {
		return false
	}
	claim.Spec.StorageClassName = &slices.MinFunc(all, func(a, b *storagev1.StorageClass) int {
		return cmp.Or(b.CreationTimestamp.Compare(a.CreationTimestamp.Time), strings.Compare(a.Name, b.Name))
	}).Name
	return true
}

// DeviceClaims returns the claims of the templates that a pod names and of which its status knows
// nothing yet, and what the status is to say of them. Without its template there is no claim, and
// the pod waits.
func (s *Snapshot) DeviceClaims(pod *corev1.Pod) (claims []*resourcev1.ResourceClaim, statuses []corev1.PodResourceClaimStatus) {
	templates := s.informers.Resource().V1().ResourceClaimTemplates().Lister().ResourceClaimTemplates(pod.Namespace)
	for i := range pod.Spec.ResourceClaims {
		of := &pod.Spec.ResourceClaims[i]
		if of.ResourceClaimTemplateName == nil || slices.ContainsFunc(pod.Status.ResourceClaimStatuses,
			func(s corev1.PodResourceClaimStatus) bool { return s.Name == of.Name }) {
			continue
		}
		template, err := templates.Get(*of.ResourceClaimTemplateName)
		if err != nil {
			continue
		}
		claim := &resourcev1.ResourceClaim{ObjectMeta: ownedBy(pod, of.Name, &template.Spec.ObjectMeta), Spec: *template.Spec.Spec.DeepCopy()}
		claim.Name = pod.Name + "-" + of.Name
		claims = append(claims, claim)
		statuses = append(statuses, corev1.PodResourceClaimStatus{Name: of.Name, ResourceClaimName: &claim.Name})
	}
	return claims, statuses
}

// ownedBy is the metadata of a claim that goes with its pod. The UID is that of no other claim:
// what one of the same name has bound is not for this one.
func ownedBy(pod *corev1.Pod, name string, template *metav1.ObjectMeta) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Namespace: pod.Namespace, UID: pod.UID + types.UID("."+name), Labels: maps.Clone(template.Labels), Annotations: maps.Clone(template.Annotations),
		OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(pod, corev1.SchemeGroupVersion.WithKind("Pod"))},
	}
}
