// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package whatif_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"

	"berth.dev/berth/pkg/plugintest"
)

// disks are two volumes in hangzhou for claims that are bound when they are used.
func disks() []runtime.Object {
	objects := []runtime.Object{&storagev1.StorageClass{
		ObjectMeta: metav1.ObjectMeta{Name: "disk"}, Provisioner: "kubernetes.io/no-provisioner",
		VolumeBindingMode: ptr.To(storagev1.VolumeBindingWaitForFirstConsumer),
	}}
	for _, name := range []string{"one", "two"} {
		objects = append(objects, &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PersistentVolumeSpec{
			StorageClassName: "disk", AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Capacity:               corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")},
			PersistentVolumeSource: corev1.PersistentVolumeSource{Local: &corev1.LocalVolumeSource{Path: "/" + name}},
			NodeAffinity: &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
				MatchExpressions: []corev1.NodeSelectorRequirement{
					{Key: plugintest.SiteLabel, Operator: corev1.NodeSelectorOpIn, Values: []string{"hangzhou"}},
				},
			}}}},
		}})
	}
	return objects
}

// withDisk gives pods an ephemeral volume.
func withDisk(spec *corev1.PodSpec) {
	spec.Volumes = []corev1.Volume{{Name: "scratch", VolumeSource: corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{
		VolumeClaimTemplate: &corev1.PersistentVolumeClaimTemplate{Spec: corev1.PersistentVolumeClaimSpec{
			StorageClassName: ptr.To("disk"), AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
		}},
	}}}}
}

// gpus are two devices of a node in hangzhou, a template of claims of one, and a claim of one.
func gpus() []runtime.Object {
	spec := resourcev1.ResourceClaimSpec{Devices: resourcev1.DeviceClaim{Requests: []resourcev1.DeviceRequest{
		{Name: "gpu", Exactly: &resourcev1.ExactDeviceRequest{DeviceClassName: "gpu"}},
	}}}
	return []runtime.Object{
		&resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: "gpu"}},
		&resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: "hangzhou-1"}, Spec: resourcev1.ResourceSliceSpec{
			Driver: "gpu.example.com", NodeName: ptr.To("hangzhou-1"), Devices: []resourcev1.Device{{Name: "gpu-0"}, {Name: "gpu-1"}},
			Pool: resourcev1.ResourcePool{Name: "hangzhou-1", ResourceSliceCount: 1},
		}},
		&resourcev1.ResourceClaimTemplate{ObjectMeta: meta("gpu"), Spec: resourcev1.ResourceClaimTemplateSpec{Spec: spec}},
		&resourcev1.ResourceClaim{ObjectMeta: meta("shared"), Spec: spec},
	}
}

// claiming has pods use a claim of devices.
func claiming(claim corev1.PodResourceClaim) func(*corev1.PodSpec) {
	claim.Name = "gpu"
	return func(spec *corev1.PodSpec) {
		spec.ResourceClaims = []corev1.PodResourceClaim{claim}
		spec.Containers[0].Resources.Claims = []corev1.ResourceClaim{{Name: "gpu"}}
	}
}

// TestClaims has three pods with claims of their own where two find what they claim, or with one
// claim for all. When they have gone and come again, the devices are there as before; volumes that
// somebody has used are not.
func TestClaims(t *testing.T) {
	own, missing, shared := ptr.To("gpu"), ptr.To("nothing"), ptr.To("shared")
	tests := map[string]struct {
		change          func(*corev1.PodSpec)
		want, wantAgain string
		wantReason      string
	}{
		"ephemeral volumes": {
			withDisk, "Deployment/x 2 hangzhou", "Deployment/x", "didn't find available persistent volumes to bind",
		},
		"templates of claims of devices": {
			claiming(corev1.PodResourceClaim{ResourceClaimTemplateName: own}), "Deployment/x 2 hangzhou", "Deployment/x 2 hangzhou", "cannot allocate all claims",
		},
		"a template that is missing": {
			claiming(corev1.PodResourceClaim{ResourceClaimTemplateName: missing}), "Deployment/x", "Deployment/x", "ResourceClaim not created yet",
		},
		"a claim of devices for all": {
			claiming(corev1.PodResourceClaim{ResourceClaimName: shared}), "Deployment/x 3 hangzhou", "Deployment/x 3 hangzhou", "",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			d := deployment("x", 3, "1")
			tc.change(&d.Spec.Template.Spec)
			s := simulation(t, append(append(append(twoSites(), disks()...), gpus()...), d)...)
			check := func(want string) {
				t.Helper()
				got := brief(settled(t, s))
				placed, waiting, _ := strings.Cut(got[0], ", ")
				if before, after, nowhere := strings.Cut(placed, " 3 wait: "); nowhere {
					placed, waiting = before, after
				}
				if len(got) != 1 || placed != want || !strings.Contains(waiting, tc.wantReason) || (waiting == "") != (tc.wantReason == "") {
					t.Errorf("%q, want %s, waiting because %q", got, want, tc.wantReason)
				}
			}
			check(tc.want)
			for _, replicas := range []int32{0, 3} {
				if err := s.Scale(t.Context(), "deployment", plugintest.Namespace, "x", replicas); err != nil {
					t.Fatal(err)
				}
				if replicas > 0 {
					check(tc.wantAgain)
				} else if diff := cmp.Diff([]string{"Deployment/x "}, brief(settled(t, s))); diff != "" {
					t.Errorf("nobody is left (-want +got):\n%s", diff)
				}
			}
		})
	}
}
