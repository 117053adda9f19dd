// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package simulator

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/component-helpers/storage/ephemeral"
	"k8s.io/component-helpers/storage/volume"
	"k8s.io/utils/ptr"
)

// lendClaims gives a pod that nobody has created the claims that it would have of its own, until
// what was placed since is undone. A volume that is made for a claim before its pod has a node is
// left out: it is taken to be made where the pod can use it.
func (s *Snapshot) lendClaims(pod *corev1.Pod) error {
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
