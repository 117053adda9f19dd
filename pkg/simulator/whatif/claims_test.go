// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package whatif_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
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

// TestClaimsGetTheDefaultClass has claims that say nothing of their class, where one is the
// default: they are bound to its volumes, which are in hangzhou. One that wants no class has none.
func TestClaimsGetTheDefaultClass(t *testing.T) {
	asked := corev1.PersistentVolumeClaimSpec{
		AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
		Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
	}
	classless := asked
	classless.StorageClassName = ptr.To("")
	set := func(spec corev1.PersistentVolumeClaimSpec) []runtime.Object {
		return []runtime.Object{&appsv1.StatefulSet{ObjectMeta: meta("x"), Spec: appsv1.StatefulSetSpec{
			Replicas: ptr.To[int32](3), Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "x"}},
			PodManagementPolicy: appsv1.ParallelPodManagement, Template: template("x", "1"),
			VolumeClaimTemplates: []corev1.PersistentVolumeClaim{{ObjectMeta: metav1.ObjectMeta{Name: "data"}, Spec: spec}},
		}}}
	}
	sharing := deployment("x", 3, "1")
	sharing.Spec.Template.Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{
		PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"},
	}}}
	tests := map[string]struct {
		objects []runtime.Object
		want    string
	}{
		"claims of a StatefulSet":   {set(asked), "StatefulSet/x 2 hangzhou, 1 wait"},
		"claims of no class":        {set(classless), "StatefulSet/x 3 wait"},
		"a claim that is in a file": {[]runtime.Object{sharing, &corev1.PersistentVolumeClaim{ObjectMeta: meta("data"), Spec: asked}}, "Deployment/x 3 hangzhou"},
		"a claim that wants no class": {
			[]runtime.Object{sharing, &corev1.PersistentVolumeClaim{ObjectMeta: meta("data"), Spec: classless}}, "Deployment/x 3 wait",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			there := disks()
			there[0].(*storagev1.StorageClass).Annotations = map[string]string{"storageclass.kubernetes.io/is-default-class": "true"}
			got, _, _ := strings.Cut(brief(settled(t, simulation(t, append(append(twoSites(), there...), tc.objects...)...)))[0], ":")
			if got != tc.want {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
}

// TestVolumesAreDetached has a node that takes two volumes, one of which is attached for a pod of
// old. When that has gone the volume makes way for a second one of new; a volume that is attached
// for nobody stays.
func TestVolumesAreDetached(t *testing.T) {
	for of, want := range map[string]string{"old": "Deployment/new 2 beijing", "nobody": "Deployment/new 1 beijing, 1 wait"} {
		t.Run(of, func(t *testing.T) {
			old, add := deployment("old", 1, "1"), deployment("new", 2, "1")
			old.Spec.Template.Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{
				PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "old"},
			}}}
			withDisk(&add.Spec.Template.Spec)
			s := simulation(t, append(attachedTo("beijing-0", of), plugintest.Site("beijing"), old, plugintest.MakeNode("beijing", 0).Capacity(
				map[corev1.ResourceName]string{corev1.ResourceCPU: "8", corev1.ResourcePods: "10"}).Obj())...)
			check := func(want string) {
				t.Helper()
				got, _, _ := strings.Cut(brief(settled(t, s))[0], ":")
				if got != want {
					t.Errorf("%q, want %q", got, want)
				}
			}
			check("Deployment/old 1 beijing")
			if err := s.Apply(t.Context(), add); err != nil {
				t.Fatal(err)
			}
			if of == "old" {
				check("Deployment/new 1 beijing, 1 wait")
			}
			if err := s.Scale(t.Context(), "deployment", plugintest.Namespace, "old", 0); err != nil {
				t.Fatal(err)
			}
			check(want)
		})
	}
}

// attachedTo are the volumes of the claims old and nobody, and says which of them is attached to a
// node that takes two. More are made when they are used.
func attachedTo(node, name string) []runtime.Object {
	const driver = "csi.example.com"
	objects := []runtime.Object{
		&storagev1.StorageClass{
			ObjectMeta: metav1.ObjectMeta{Name: "disk"}, Provisioner: driver, VolumeBindingMode: ptr.To(storagev1.VolumeBindingWaitForFirstConsumer),
		},
		&storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: node}, Spec: storagev1.CSINodeSpec{Drivers: []storagev1.CSINodeDriver{
			{Name: driver, NodeID: node, Allocatable: &storagev1.VolumeNodeResources{Count: ptr.To[int32](2)}},
		}}},
		&storagev1.VolumeAttachment{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: storagev1.VolumeAttachmentSpec{
			Attacher: driver, NodeName: node, Source: storagev1.VolumeAttachmentSource{PersistentVolumeName: &name},
		}},
	}
	for _, of := range []string{"old", "nobody"} {
		claim := &corev1.PersistentVolumeClaim{ObjectMeta: meta(of), Spec: corev1.PersistentVolumeClaimSpec{
			VolumeName: of, StorageClassName: ptr.To("disk"), AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
		}}
		claim.UID, claim.Status.Phase = types.UID(of), corev1.ClaimBound
		claim.Annotations = map[string]string{"pv.kubernetes.io/bind-completed": "yes"}
		objects = append(objects, claim, &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: of}, Spec: corev1.PersistentVolumeSpec{
			StorageClassName: "disk", AccessModes: claim.Spec.AccessModes, Capacity: claim.Spec.Resources.Requests,
			PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: driver, VolumeHandle: of}},
			ClaimRef:               &corev1.ObjectReference{Namespace: plugintest.Namespace, Name: of, UID: claim.UID},
		}})
	}
	return objects
}
