// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package room

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	volumehelpers "k8s.io/component-helpers/storage/volume"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// zoneLabels are the labels by which volumes without a node affinity say where they are.
var zoneLabels = []string{
	corev1.LabelTopologyZone, corev1.LabelTopologyRegion, corev1.LabelFailureDomainBetaZone, corev1.LabelFailureDomainBetaRegion,
}

// Volumes are the persistent volumes that a pod is bound to. A claim that is not bound yet binds to no place.
type Volumes struct {
	bound []*corev1.PersistentVolume
	// lost means that a claim or volume does not exist, so the pod would start nowhere.
	lost bool
}

// VolumesOf reads the volumes that a replacement of the pod would use: the claims that the pod names, but not those that
// are made anew for each pod.
func VolumesOf(ctx context.Context, reader client.Reader, pod *corev1.Pod) (*Volumes, error) {
	volumes := &Volumes{}
	for i := range pod.Spec.Volumes {
		source := pod.Spec.Volumes[i].PersistentVolumeClaim
		if source == nil {
			continue
		}
		var claim corev1.PersistentVolumeClaim
		key := types.NamespacedName{Namespace: pod.Namespace, Name: source.ClaimName}
		if err := reader.Get(ctx, key, &claim); apierrors.IsNotFound(err) {
			volumes.lost = true
			continue
		} else if err != nil {
			return nil, fmt.Errorf("getting the volume claim %s: %w", key, err)
		}
		if claim.Spec.VolumeName == "" {
			continue
		}
		volume := &corev1.PersistentVolume{}
		if err := reader.Get(ctx, types.NamespacedName{Name: claim.Spec.VolumeName}, volume); apierrors.IsNotFound(err) {
			volumes.lost = true
		} else if err != nil {
			return nil, fmt.Errorf("getting the volume %s: %w", claim.Spec.VolumeName, err)
		} else {
			volumes.bound = append(volumes.bound, volume)
		}
	}
	return volumes, nil
}

// reach says whether all volumes can be used on the node.
func (v *Volumes) reach(node *corev1.Node) bool {
	if v == nil {
		return true
	}
	if v.lost {
		return false
	}
	for _, volume := range v.bound {
		if volumehelpers.CheckNodeAffinity(volume, node.Labels) != nil || !inZone(volume, node) {
			return false
		}
	}
	return true
}

// inZone compares the zone and region of a volume, which may list several with "__" between them, with those of the node.
func inZone(volume *corev1.PersistentVolume, node *corev1.Node) bool {
	for _, label := range zoneLabels {
		zones, set := volume.Labels[label]
		if !set {
			continue
		}
		if here, labelled := node.Labels[label]; !labelled || !slices.Contains(strings.Split(zones, "__"), here) {
			return false
		}
	}
	return true
}
