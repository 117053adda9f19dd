// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package simulator_test

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	volumehelpers "k8s.io/component-helpers/storage/volume"
	"k8s.io/utils/ptr"

	"berth.dev/berth/pkg/model/workload"
	"berth.dev/berth/pkg/plugintest"
)

// delayed is a StorageClass whose claims are bound when they are used, to volumes that are there.
func delayed(name string) *storagev1.StorageClass {
	return &storagev1.StorageClass{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Provisioner: "kubernetes.io/no-provisioner",
		VolumeBindingMode: ptr.To(storagev1.VolumeBindingWaitForFirstConsumer),
	}
}

// on selects the nodes with a label.
func on(key, value string) *corev1.NodeSelector {
	return &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{
		{Key: key, Operator: corev1.NodeSelectorOpIn, Values: []string{value}},
	}}}}
}

// volume is one that nobody has claimed, for the selected nodes.
func volume(name, class string, nodes *corev1.NodeSelector) *corev1.PersistentVolume {
	return &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name), ResourceVersion: "1"},
		Spec: corev1.PersistentVolumeSpec{
			StorageClassName: class, AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce, corev1.ReadWriteMany},
			Capacity:               corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")},
			PersistentVolumeSource: corev1.PersistentVolumeSource{Local: &corev1.LocalVolumeSource{Path: "/" + name}},
			NodeAffinity:           &corev1.VolumeNodeAffinity{Required: nodes},
		},
		Status: corev1.PersistentVolumeStatus{Phase: corev1.VolumeAvailable},
	}
}

// claimed is what claims of volumes of a class ask for.
func claimed(class string) corev1.PersistentVolumeClaimSpec {
	return corev1.PersistentVolumeClaimSpec{
		StorageClassName: &class, AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteMany},
		Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
	}
}

func volumeClaim(name, class string) *corev1.PersistentVolumeClaim {
	return &corev1.PersistentVolumeClaim{ObjectMeta: claimMeta(name), Spec: claimed(class)}
}

func claimMeta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: plugintest.Namespace, Name: name, UID: types.UID(name), ResourceVersion: "1"}
}

// withEphemeral gives a pod a volume of its own.
func withEphemeral(pod *corev1.Pod, class *string) *corev1.Pod {
	spec := claimed("")
	spec.StorageClassName = class
	pod.Spec.Volumes = []corev1.Volume{{Name: "scratch", VolumeSource: corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{
		VolumeClaimTemplate: &corev1.PersistentVolumeClaimTemplate{Spec: spec},
	}}}}
	return pod
}

// withOrdinals gives a pod a volume as samples of StatefulSets have it.
func withOrdinals(pod *corev1.Pod, set, class string) *corev1.Pod {
	withEphemeral(pod, &class)
	template := pod.Spec.Volumes[0].Ephemeral.VolumeClaimTemplate
	template.Annotations = map[string]string{workload.OrdinalClaims: "-" + set + "-"}
	return pod
}

// left is a claim that is bound, and boundTo the volume for the selected nodes to which it is.
func left(name, class string) *corev1.PersistentVolumeClaim {
	claim := volumeClaim(name, class)
	claim.Spec.VolumeName, claim.Status.Phase = name, corev1.ClaimBound
	claim.Annotations = map[string]string{volumehelpers.AnnBindCompleted: "yes"}
	return claim
}

func boundTo(name, class string, nodes *corev1.NodeSelector) *corev1.PersistentVolume {
	bound := volume(name, class, nodes)
	bound.Spec.ClaimRef = &corev1.ObjectReference{Kind: "PersistentVolumeClaim", Namespace: plugintest.Namespace, Name: name, UID: types.UID(name)}
	bound.Status.Phase = corev1.VolumeBound
	return bound
}

// withVolume lets a pod use a claim of a volume.
func withVolume(pod *corev1.Pod, name string) *corev1.Pod {
	pod.Spec.Volumes = []corev1.Volume{{Name: "scratch", VolumeSource: corev1.VolumeSource{
		PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: name},
	}}}
	return pod
}

// gpus are devices of a kind that the selected nodes can use.
func gpus(kind, pool string, nodes *corev1.NodeSelector, number int) *resourcev1.ResourceSlice {
	slice := &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: kind + "-" + pool}, Spec: resourcev1.ResourceSliceSpec{
		Driver: kind + ".example.com", NodeSelector: nodes, Pool: resourcev1.ResourcePool{Name: pool, ResourceSliceCount: 1},
	}}
	if nodes == nil {
		slice.Spec.NodeName = &pool
	}
	for i := range number {
		slice.Spec.Devices = append(slice.Spec.Devices, resourcev1.Device{Name: fmt.Sprint("gpu-", i)})
	}
	return slice
}

// deviceClass has the devices of a kind.
func deviceClass(kind string) *resourcev1.DeviceClass {
	return &resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: kind}, Spec: resourcev1.DeviceClassSpec{
		Selectors: []resourcev1.DeviceSelector{{CEL: &resourcev1.CELDeviceSelector{Expression: fmt.Sprintf("device.driver == %q", kind+".example.com")}}},
	}}
}

// oneGPU is what claims of a device of a kind ask for.
func oneGPU(kind string) resourcev1.ResourceClaimSpec {
	return resourcev1.ResourceClaimSpec{Devices: resourcev1.DeviceClaim{Requests: []resourcev1.DeviceRequest{
		{Name: "gpu", Exactly: &resourcev1.ExactDeviceRequest{
			DeviceClassName: kind, AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: 1,
		}},
	}}}
}

func deviceClaim(name, kind string) *resourcev1.ResourceClaim {
	return &resourcev1.ResourceClaim{ObjectMeta: claimMeta(name), Spec: oneGPU(kind)}
}

// claimTemplate makes claims of a device of a kind, and has its name.
func claimTemplate(kind string) runtime.Object {
	return &resourcev1.ResourceClaimTemplate{ObjectMeta: claimMeta(kind), Spec: resourcev1.ResourceClaimTemplateSpec{Spec: oneGPU(kind)}}
}

// withDevice lets a pod use a claim of devices.
func withDevice(pod *corev1.Pod, claim corev1.PodResourceClaim) *corev1.Pod {
	claim.Name = "gpu"
	pod.Spec.ResourceClaims = []corev1.PodResourceClaim{claim}
	pod.Spec.Containers[0].Resources.Claims = []corev1.ResourceClaim{{Name: "gpu"}}
	return pod
}
