// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package simulator_test

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"

	"berth.dev/berth/pkg/plugintest"
)

// TestRoomCountsOnNoLuck has volumes and devices of which some serve one node and others several.
// The plugins take any of those that suit alike; Room is what there is in any case.
func TestRoomCountsOnNoLuck(t *testing.T) {
	node := func(i int) *corev1.NodeSelector { return on(corev1.LabelHostname, fmt.Sprint("beijing-", i)) }
	all := on(plugintest.SiteLabel, "beijing")
	volumes := func(places ...*corev1.NodeSelector) []runtime.Object {
		objects := []runtime.Object{delayed("disk"), volumeClaim("common", "disk")}
		for i, at := range places {
			objects = append(objects, volume(fmt.Sprint("volume-", i), "disk", at))
		}
		return objects
	}
	devices := func(places ...*corev1.NodeSelector) []runtime.Object {
		objects := []runtime.Object{deviceClass("gpu"), claimTemplate("gpu"), deviceClaim("common", "gpu"), gpus("other", "other", all, 9)}
		for i, at := range places {
			objects = append(objects, gpus("gpu", fmt.Sprint("pool-", i), at, 1))
		}
		return objects
	}
	disk, gpu := withEphemeral(sample(), ptr.To("disk")), withDevice(sample(), corev1.PodResourceClaim{ResourceClaimTemplateName: ptr.To("gpu")})
	commonDisk, commonGPU := withVolume(sample(), "common"), withDevice(sample(), corev1.PodResourceClaim{ResourceClaimName: ptr.To("common")})
	tests := map[string]struct {
		objects []runtime.Object
		pod     *corev1.Pod
		pods    string // that a node takes
		limit   int
		want    int
	}{
		"a disk of a node and one of all, a copy a node":  {volumes(node(0), all), disk, "1", 9, 1},
		"the same, one copy wanted":                       {volumes(node(0), all), disk, "1", 1, 1},
		"a disk of each node and one of all":              {volumes(node(0), node(1), node(2), all), disk, "1", 9, 2},
		"a disk of each node":                             {volumes(node(0), node(1), node(2)), disk, "1", 9, 3},
		"disks of all nodes":                              {volumes(all, all), disk, "1", 9, 2},
		"many disks, few copies wanted":                   {volumes(node(0), node(1), node(2), all, all, all), disk, "9", 3, 3},
		"a device of a node and one of all":               {devices(node(0), all), gpu, "1", 9, 1},
		"devices of all nodes":                            {devices(all, all), gpu, "1", 9, 2},
		"a disk for all copies, of a node or of all":      {volumes(node(0), all), commonDisk, "2", 9, 2},
		"a disk for all copies, of all":                   {volumes(all, all), commonDisk, "2", 9, 6},
		"a disk for all copies, of this node or that one": {volumes(node(0), node(1)), commonDisk, "2", 9, 2},
		"a device for all copies, of a node or of all":    {devices(node(0), all), commonGPU, "2", 9, 2},
		"a device for all copies, of all":                 {devices(all), commonGPU, "2", 9, 6},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			objects := append([]runtime.Object{plugintest.Site("beijing")}, tc.objects...)
			for i := range 3 {
				objects = append(objects, plugintest.MakeNode("beijing", i).
					Capacity(map[corev1.ResourceName]string{corev1.ResourceCPU: "32", corev1.ResourcePods: tc.pods}).Obj())
			}
			s := snapshot(t, objects...)
			for range 5 { // The plugins draw lots.
				room, err := s.Room(t.Context(), "beijing", tc.pod, tc.limit)
				if err != nil || room.Copies != tc.want || (room.LimitedBy == "") != (room.Copies == tc.limit) {
					t.Fatalf("there is room for %d copies (%v), want %d; limited by %q", room.Copies, err, tc.want, room.LimitedBy)
				}
				s.Fork()
				filled, err := s.Fill(t.Context(), "beijing", tc.pod, tc.limit)
				s.Revert()
				if err != nil || filled.Copies != tc.want {
					t.Fatalf("%d copies are placed (%v), want %d", filled.Copies, err, tc.want)
				}
			}
		})
	}
}
