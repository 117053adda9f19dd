// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package simulator

import (
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/component-helpers/storage/ephemeral"
	"k8s.io/component-helpers/storage/volume"
	"k8s.io/utils/ptr"

	"berth.dev/berth/pkg/model/workload"
)

// lendClaims gives a pod that nobody has created the claims that it would have of its own, until
// what was placed since is undone. A volume that is made for a claim before its pod has a node is
// left out: it is taken to be made where the pod can use it.
func (s *Snapshot) lendClaims(pod *corev1.Pod) error {
	s.takeLeftClaims(pod)
	madeBefore := map[string]bool{}
	for _, claim := range s.VolumeClaims(pod) {
		if s.madeAtOnce(claim) {
			madeBefore[claim.Name] = true
			continue
		}
		claim.ResourceVersion = "1" // VolumeBinding compares versions when it reserves.
		if err := s.lend(claim); err != nil {
			return err
		}
	}
	if len(madeBefore) > 0 {
		pod.Spec.Volumes = slices.DeleteFunc(slices.Clone(pod.Spec.Volumes), func(v corev1.Volume) bool {
			return v.Ephemeral != nil && madeBefore[ephemeral.VolumeClaimName(pod, &v)]
		})
	}
	claims, statuses := s.DeviceClaims(pod)
	for _, claim := range claims {
		if err := s.lend(claim); err != nil {
			return err
		}
	}
	pod.Status.ResourceClaimStatuses = slices.Concat(pod.Status.ResourceClaimStatuses, statuses)
	return nil
}

// takeLeftClaims gives a copy of a pod of a StatefulSet the claims that are there for the first
// ordinal whose claims no pod on a node uses: they outlive their pods, and volumes that they are
// bound to keep the next pod of that ordinal where these are. A StatefulSet whose ordinals do not
// begin with 0 is taken to have none.
func (s *Snapshot) takeLeftClaims(pod *corev1.Pod) {
	claims := s.informers.Core().V1().PersistentVolumeClaims().Lister().PersistentVolumeClaims(pod.Namespace)
	for ordinal := 0; ; ordinal++ {
		left, used := map[string]string{}, false
		for i := range pod.Spec.Volumes {
			name := ordinalClaim(&pod.Spec.Volumes[i], ordinal)
			if _, err := claims.Get(name); name == "" || err != nil {
				continue
			}
			left[pod.Spec.Volumes[i].Name] = name
			used = used || s.nodes.IsPVCUsedByPods(pod.Namespace+"/"+name)
		}
		switch {
		case len(left) == 0:
			return
		case !used:
			useClaims(pod, left)
			return
		}
	}
}

// ordinalClaim returns the name of the claim of an ordinal that a volume of a sample stands for,
// empty if it stands for none.
func ordinalClaim(v *corev1.Volume, ordinal int) string {
	if v.Ephemeral == nil || v.Ephemeral.VolumeClaimTemplate == nil {
		return ""
	}
	middle := v.Ephemeral.VolumeClaimTemplate.Annotations[workload.OrdinalClaims]
	if middle == "" {
		return ""
	}
	return v.Name + middle + strconv.Itoa(ordinal)
}

// useClaims has volumes of a pod be claims that are there, by the names of both.
func useClaims(pod *corev1.Pod, claims map[string]string) {
	pod.Spec.Volumes = slices.Clone(pod.Spec.Volumes)
	for i := range pod.Spec.Volumes {
		if v := &pod.Spec.Volumes[i]; claims[v.Name] != "" {
			v.VolumeSource = corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claims[v.Name]}}
		}
	}
}

// lend makes a claim known. One that is there already is that of the pod itself, which waits.
func (s *Snapshot) lend(claim runtime.Object) error {
	if s.informers.has(claim) {
		return nil
	}
	if err := s.informers.put(claim); err != nil {
		return err
	}
	s.undo = append(s.undo, func() {
		if err := s.informers.drop(claim); err != nil {
			panic(err) // it was put above
		}
	})
	return nil
}

// madeAtOnce reports whether somebody makes a volume for a claim without waiting for its pod.
func (s *Snapshot) madeAtOnce(claim *corev1.PersistentVolumeClaim) bool {
	class, err := s.informers.Storage().V1().StorageClasses().Lister().Get(ptr.Deref(claim.Spec.StorageClassName, ""))
	return err == nil && class.Provisioner != volume.NotSupportedProvisioner &&
		ptr.Deref(class.VolumeBindingMode, storagev1.VolumeBindingImmediate) == storagev1.VolumeBindingImmediate
}
