// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package simulator_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
)

// driverNode says that a node takes so many volumes of a driver, to which disks of AWS are left.
func driverNode(node, driver string, most int32) runtime.Object {
	return &storagev1.CSINode{
		ObjectMeta: metav1.ObjectMeta{Name: node, Annotations: map[string]string{"storage.alpha.kubernetes.io/migrated-plugins": "kubernetes.io/aws-ebs"}},
		Spec: storagev1.CSINodeSpec{Drivers: []storagev1.CSINodeDriver{
			{Name: driver, NodeID: node, Allocatable: &storagev1.VolumeNodeResources{Count: &most}},
		}},
	}
}

// TestAttachedVolumesCount has a volume attached to a node, of which no pod there knows: it takes
// the place of another one until it has been detached, as it does for the scheduler.
func TestAttachedVolumesCount(t *testing.T) {
	disk := sample()
	disk.Spec.Volumes = []corev1.Volume{{Name: "disk", VolumeSource: corev1.VolumeSource{
		AWSElasticBlockStore: &corev1.AWSElasticBlockStoreVolumeSource{VolumeID: "aws://a/vol-1"},
	}}}
	tests := map[string]struct {
		driver          string
		most            int32
		pod             *corev1.Pod
		want, wantAfter int
	}{
		"claims":        {"csi.example.com", 2, withEphemeral(sample(), ptr.To("network")), 3, 4},
		"a disk inline": {"ebs.csi.aws.com", 1, disk, 1, 2},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			left := volume("left", "network", on(corev1.LabelHostname, "beijing-0"))
			left.Spec.PersistentVolumeSource = corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: tc.driver, VolumeHandle: "left"}}
			attached := &storagev1.VolumeAttachment{ObjectMeta: metav1.ObjectMeta{Name: "left"}, Spec: storagev1.VolumeAttachmentSpec{
				Attacher: tc.driver, NodeName: "beijing-0", Source: storagev1.VolumeAttachmentSource{PersistentVolumeName: &left.Name},
			}}
			s := snapshot(t, append(claimable(), left, attached, driverNode("beijing-0", tc.driver, tc.most), driverNode("beijing-1", tc.driver, tc.most))...)
			check := func(want int) {
				t.Helper()
				room, err := s.Room(t.Context(), "beijing", tc.pod, 10)
				counts := strings.Contains(room.LimitedBy, "exceed max volume count")
				if err != nil || room.Copies != want || !counts && want == tc.want {
					t.Errorf("there is room for %d copies (%v), limited by %q, want %d", room.Copies, err, room.LimitedBy, want)
				}
			}
			check(tc.want)
			if err := s.Drop(attached); err != nil {
				t.Fatal(err)
			}
			check(tc.wantAfter)
			if err := s.Put(attached); err != nil {
				t.Fatal(err)
			}
			check(tc.want)
		})
	}
}
