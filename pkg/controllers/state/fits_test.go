// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package state_test

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/controllers/state"
	"berth.dev/berth/pkg/plugins"
	"berth.dev/berth/pkg/plugintest"
	"berth.dev/berth/pkg/simulator"
)

// TestWhatTheCacheKeepsFitsAlike counts the room beside a pod and for its like, as the cache has it
// and as it is. The plugins of the scheduler find the same.
func TestWhatTheCacheKeepsFitsAlike(t *testing.T) {
	cpu := func(amount string) corev1.ResourceList {
		return corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(amount)}
	}
	disk := func(source corev1.VolumeSource) func(*corev1.Pod) {
		return func(pod *corev1.Pod) { pod.Spec.Volumes = []corev1.Volume{{Name: "disk", VolumeSource: source}} }
	}
	has := func(given, used string) func(*corev1.Pod) {
		return func(pod *corev1.Pod) {
			asking := slices.IndexFunc(pod.Spec.Containers, func(c corev1.Container) bool { return c.Resources.Requests != nil })
			pod.Status.ContainerStatuses = []corev1.ContainerStatus{{
				Name: pod.Spec.Containers[asking].Name, AllocatedResources: cpu(given), Resources: &corev1.ResourceRequirements{Requests: cpu(used)},
			}}
		}
	}
	tests := map[string]struct {
		change func(*corev1.Pod)
		want   int
	}{
		"nothing in particular":     {func(*corev1.Pod) {}, 7},
		"a port of the node":        {func(p *corev1.Pod) { p.Spec.Containers[0].Ports = []corev1.ContainerPort{{HostPort: 80}} }, 1},
		"overhead":                  {func(p *corev1.Pod) { p.Spec.Overhead = cpu("1") }, 3},
		"a disk of Google's":        {disk(corev1.VolumeSource{GCEPersistentDisk: &corev1.GCEPersistentDiskVolumeSource{PDName: "d"}}), 1},
		"a disk of Amazon's":        {disk(corev1.VolumeSource{AWSElasticBlockStore: &corev1.AWSElasticBlockStoreVolumeSource{VolumeID: "d"}}), 1},
		"an iSCSI target":           {disk(corev1.VolumeSource{ISCSI: &corev1.ISCSIVolumeSource{IQN: "d"}}), 1},
		"an image of Ceph":          {disk(corev1.VolumeSource{RBD: &corev1.RBDVolumeSource{CephMonitors: []string{"m"}, RBDImage: "d"}}), 1},
		"shrinking, still given":    {has("3", "1"), 5},
		"shrinking, still used":     {has("1", "2"), 6},
		"has what it has asked for": {has("1", "1"), 7},
	}
	profile, err := simulator.ParseProfile([]byte(plugintest.Configuration), plugintest.Profile)
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			for _, trim := range []bool{false, true} {
				s, err := simulator.New(profile, clock.RealClock{})
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(s.Close)
				s.SetObjects(&plugins.Objects{Clusters: []*berthv1alpha1.Cluster{plugintest.Site("beijing")}})
				for i := range 2 {
					four := map[corev1.ResourceName]string{corev1.ResourceCPU: "4", corev1.ResourcePods: "9"}
					if err := s.Put(plugintest.MakeNode("beijing", i).Capacity(four).Obj()); err != nil {
						t.Fatal(err)
					}
				}
				running := plugintest.MakePod("running").Req(map[corev1.ResourceName]string{corev1.ResourceCPU: "1"}).Node("beijing-0").Obj()
				tc.change(running)
				sample := running.DeepCopy()
				sample.Name, sample.UID, sample.Spec.NodeName, sample.Status = "sample", types.UID("sample"), "", corev1.PodStatus{}
				if trim {
					state.Pod(running)
					state.Pod(sample)
				}
				if err := s.Put(running); err != nil {
					t.Fatal(err)
				}
				if room, err := s.Room(t.Context(), "beijing", sample, 20); err != nil || room.Copies != tc.want {
					t.Errorf("trimmed %t: there is room for %d copies (%v), want %d: %s", trim, room.Copies, err, tc.want, room.LimitedBy)
				}
			}
		})
	}
}
