// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package whatif

import (
	"cmp"
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/component-helpers/storage/ephemeral"
	"k8s.io/dynamic-resource-allocation/resourceclaim"
	"k8s.io/utils/ptr"

	"berth.dev/berth/pkg/simulator"
)

// runClaims makes the claims that pods have of their own, of volumes and of devices, as the
// controllers of Kubernetes do.
func (s *Simulation) runClaims(ctx context.Context) error {
	if err := each(s, s.giveClass); err != nil {
		return err
	}
	var without []*corev1.Pod
	for _, pod := range s.pods {
		if pod.Spec.NodeName == "" && simulator.OwnsClaims(pod) {
			without = append(without, pod)
		}
	}
	slices.SortFunc(without, func(a, b *corev1.Pod) int { return compareKeys(keyOf(a), keyOf(b)) })
	for _, pod := range without {
		if err := cmp.Or(s.claimVolumes(ctx, pod), s.claimDevices(ctx, pod)); err != nil {
			return err
		}
	}
	return nil
}

// giveClass gives a claim without a StorageClass the default one, while it is bound to no volume.
func (s *Simulation) giveClass(claim *corev1.PersistentVolumeClaim) error {
	classed := *claim
	if claim.Spec.VolumeName != "" || !s.snapshot.DefaultClass(&classed) {
		return nil
	}
	// The cache of the plugin takes an object without a newer version only if it knows none.
	if err := s.remove(claim); err != nil {
		return err
	}
	_, identity, err := identify(&classed)
	if err != nil {
		return err
	}
	return s.store(identity, &classed)
}

// claimVolumes makes the claims of the ephemeral volumes of a pod.
func (s *Simulation) claimVolumes(ctx context.Context, pod *corev1.Pod) error {
	for _, claim := range s.snapshot.VolumeClaims(pod) {
		if s.known(claim) {
			continue
		}
		if err := s.apply(ctx, claim); err != nil {
			return err
		}
	}
	return nil
}

// claimDevices makes the claims of the templates that a pod names, and has the status of the pod
// say which they are.
func (s *Simulation) claimDevices(ctx context.Context, pod *corev1.Pod) error {
	claims, statuses := s.snapshot.DeviceClaims(pod)
	for _, claim := range claims {
		if err := s.apply(ctx, claim); err != nil {
			return err
		}
	}
	if len(statuses) == 0 {
		return nil
	}
	after := pod.DeepCopy()
	after.Status.ResourceClaimStatuses = append(after.Status.ResourceClaimStatuses, statuses...)
	return s.putPod(after)
}

// detach takes the volumes off the node of a pod, which leaves it, that no other pod uses there.
func (s *Simulation) detach(pod *corev1.Pod) error {
	for _, attached := range s.attached[pod.Spec.NodeName] {
		claim, found := s.claimOf(attached.Spec.Source.PersistentVolumeName)
		if !found || !mounts(pod, claim) {
			continue
		}
		used := false
		for _, other := range s.pods {
			used = used || other.Spec.NodeName == pod.Spec.NodeName && mounts(other, claim)
		}
		if used {
			continue
		}
		if err := s.remove(attached); err != nil {
			return err
		}
	}
	return nil
}

// claimOf returns the name of the claim that a volume is bound to.
func (s *Simulation) claimOf(name *string) (types.NamespacedName, bool) {
	kind := corev1.SchemeGroupVersion.WithKind("PersistentVolume").GroupKind()
	volume, found := s.objects[id{kind, typesName("", ptr.Deref(name, ""))}].(*corev1.PersistentVolume)
	if !found || volume.Spec.ClaimRef == nil {
		return types.NamespacedName{}, false
	}
	return typesName(volume.Spec.ClaimRef.Namespace, volume.Spec.ClaimRef.Name), true
}

// mounts reports whether a pod uses the volume of a claim.
func mounts(pod *corev1.Pod, claim types.NamespacedName) bool {
	return pod.Namespace == claim.Namespace && slices.ContainsFunc(pod.Spec.Volumes, func(v corev1.Volume) bool {
		return v.PersistentVolumeClaim != nil && v.PersistentVolumeClaim.ClaimName == claim.Name ||
			v.Ephemeral != nil && ephemeral.VolumeClaimName(pod, &v) == claim.Name
	})
}

// releaseClaims deletes the claims that go with a pod which is gone, and takes back the devices of
// those that it was the last to use.
func (s *Simulation) releaseClaims(pod *corev1.Pod) error {
	for i := range pod.Spec.Volumes {
		volume := &pod.Spec.Volumes[i]
		if volume.Ephemeral == nil {
			continue
		}
		kind := corev1.SchemeGroupVersion.WithKind("PersistentVolumeClaim").GroupKind()
		claim := s.objects[id{kind, typesName(pod.Namespace, ephemeral.VolumeClaimName(pod, volume))}]
		if claim == nil || !metav1.IsControlledBy(claim, pod) {
			continue
		}
		if err := s.remove(claim); err != nil {
			return err
		}
	}
	for i := range pod.Spec.ResourceClaims {
		if err := s.releaseDevices(pod, &pod.Spec.ResourceClaims[i]); err != nil {
			return err
		}
	}
	return nil
}

func (s *Simulation) releaseDevices(pod *corev1.Pod, of *corev1.PodResourceClaim) error {
	name, _, err := resourceclaim.Name(pod, of)
	if err != nil || name == nil {
		return nil //nolint:nilerr // a pod without its claim holds no device
	}
	kind := resourcev1.SchemeGroupVersion.WithKind("ResourceClaim").GroupKind()
	claim, found := s.objects[id{kind, typesName(pod.Namespace, *name)}].(*resourcev1.ResourceClaim)
	switch {
	case !found || s.usesDevices(pod.Namespace, *name):
		return nil
	case metav1.IsControlledBy(claim, pod):
		return s.remove(claim)
	}
	free := claim.DeepCopy()
	free.Status = resourcev1.ResourceClaimStatus{}
	if err := s.remove(claim); err != nil {
		return err
	}
	return s.store(id{kind, keyOf(free)}, free)
}

// usesDevices reports whether a pod with a node uses a claim.
func (s *Simulation) usesDevices(namespace, claim string) bool {
	for _, pod := range s.pods {
		if pod.Namespace != namespace || pod.Spec.NodeName == "" {
			continue
		}
		for i := range pod.Spec.ResourceClaims {
			if name, _, err := resourceclaim.Name(pod, &pod.Spec.ResourceClaims[i]); err == nil && name != nil && *name == claim {
				return true
			}
		}
	}
	return false
}
