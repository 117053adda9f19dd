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

	"berth.dev/berth/pkg/plugintest"
)

// claimable are two nodes of a site with room for three pods each, two volumes of the first and
// two devices of the second.
func claimable() []runtime.Object {
	three := map[corev1.ResourceName]string{corev1.ResourcePods: "3", corev1.ResourceCPU: "32"}
	atOnce := &storagev1.StorageClass{
		ObjectMeta:  metav1.ObjectMeta{Name: "cloud", Annotations: map[string]string{"storageclass.kubernetes.io/is-default-class": "true"}},
		Provisioner: "csi.example.com",
	}
	whenUsed := delayed("network")
	whenUsed.Provisioner = "csi.example.com"
	first := on(corev1.LabelHostname, "beijing-0")
	return []runtime.Object{
		plugintest.Site("beijing"), plugintest.MakeNode("beijing", 0).Capacity(three).Obj(), plugintest.MakeNode("beijing", 1).Capacity(three).Obj(),
		atOnce, whenUsed, delayed("disk"), volume("one", "disk", first), volume("two", "disk", first),
		volumeClaim("common", "disk"), deviceClaim("common", "gpu"),
		left("scratch-here-0", "disk"), boundTo("scratch-here-0", "disk", on(corev1.LabelHostname, "beijing-1")),
		left("scratch-elsewhere-0", "network"), boundTo("scratch-elsewhere-0", "network", on(corev1.LabelHostname, "hangzhou-0")),
		deviceClass("gpu"), gpus("gpu", "beijing-1", nil, 2), claimTemplate("gpu"),
	}
}

// TestRoomOfPodsWithClaims counts copies that have claims of their own, or one for all of them. The
// claims exist only while they are counted.
func TestRoomOfPodsWithClaims(t *testing.T) {
	gpu, nothing := ptr.To("gpu"), ptr.To("nothing")
	tests := map[string]struct {
		pod           *corev1.Pod
		want          int
		wantLimitedBy string
	}{
		"ephemeral volumes that are there":          {withEphemeral(sample(), ptr.To("disk")), 2, "didn't find available persistent volumes to bind"},
		"ephemeral volumes of the default class":    {withEphemeral(sample(), nil), 6, "Too many pods"},
		"ephemeral volumes that are made when used": {withEphemeral(sample(), ptr.To("network")), 6, "Too many pods"},
		"claims of new ordinals that are there":     {withOrdinals(sample(), "new", "disk"), 2, "didn't find available persistent volumes to bind"},
		"claims of new ordinals made when used":     {withOrdinals(sample(), "new", "network"), 6, "Too many pods"},
		"a claim that is left here":                 {withOrdinals(sample(), "here", "disk"), 3, "didn't find available persistent volumes to bind"},
		"a claim that is left elsewhere":            {withOrdinals(sample(), "elsewhere", "network"), 0, "didn't match PersistentVolume's node affinity"},
		"ephemeral volumes of no class":             {withEphemeral(sample(), ptr.To("")), 0, "unbound immediate PersistentVolumeClaims"},
		"a volume for all":                          {withVolume(sample(), "common"), 3, "Too many pods"},
		"devices by a template":                     {withDevice(sample(), corev1.PodResourceClaim{ResourceClaimTemplateName: gpu}), 2, "cannot allocate all claims"},
		"devices by a template that is not there":   {withDevice(sample(), corev1.PodResourceClaim{ResourceClaimTemplateName: nothing}), 0, "not created yet"},
		"a device for all":                          {withDevice(sample(), corev1.PodResourceClaim{ResourceClaimName: ptr.To("common")}), 3, "Too many pods"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := snapshot(t, claimable()...)
			for range 2 {
				room, err := s.Room(t.Context(), "beijing", tc.pod, 10)
				if err != nil || room.Copies != tc.want || !strings.Contains(room.LimitedBy, tc.wantLimitedBy) {
					t.Errorf("there is room for %d copies (%v), want %d, limited by %q, want %q", room.Copies, err, tc.want, room.LimitedBy, tc.wantLimitedBy)
				}
			}
			s.Fork()
			filled, err := s.Fill(t.Context(), "beijing", tc.pod, 10)
			if err != nil || filled.Copies != tc.want {
				t.Errorf("%d copies are placed (%v), want %d", filled.Copies, err, tc.want)
			}
			if room, err := s.Room(t.Context(), "beijing", tc.pod, 10); err != nil || room.Copies != 0 {
				t.Errorf("beside those there is room for %d copies (%v), want none", room.Copies, err)
			}
			s.Revert()
			if room, err := s.Room(t.Context(), "beijing", tc.pod, 10); err != nil || room.Copies != tc.want {
				t.Errorf("once they are gone there is room for %d copies (%v), want %d", room.Copies, err, tc.want)
			}
		})
	}
}

// TestTakersOfPodsWithClaims asks which nodes take a pod whose claims nobody has made yet.
func TestTakersOfPodsWithClaims(t *testing.T) {
	s := snapshot(t, claimable()...)
	for want, pod := range map[string]*corev1.Pod{
		"beijing-0": withEphemeral(sample(), ptr.To("disk")),
		"beijing-1": withDevice(sample(), corev1.PodResourceClaim{ResourceClaimTemplateName: ptr.To("gpu")}),
	} {
		if takers, err := s.Takers(t.Context(), pod); err != nil || strings.Join(takers, " ") != want {
			t.Errorf("the pod is taken by %q (%v), want %s", takers, err, want)
		}
	}
}
