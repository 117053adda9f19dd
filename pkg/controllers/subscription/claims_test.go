// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package subscription_test

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// devices are so many devices of the node of a Cluster.
func devices(cluster string, number int) *resourcev1.ResourceSlice {
	slice := &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: cluster}, Spec: resourcev1.ResourceSliceSpec{
		Driver: "gpu.example.com", NodeName: new(cluster + "-1"), Pool: resourcev1.ResourcePool{Name: cluster, ResourceSliceCount: 1},
	}}
	for i := range number {
		slice.Spec.Devices = append(slice.Spec.Devices, resourcev1.Device{Name: fmt.Sprint("gpu-", i)})
	}
	return slice
}

// TestDevicesAreRoom divides the replicas of a Deployment whose pods claim a device each, by a
// template. There are more devices in b, and CPUs for all of them in both Clusters.
func TestDevicesAreRoom(t *testing.T) {
	for name, tc := range map[string]struct {
		// template is the ResourceClaimTemplate that there is.
		template    string
		want        string
		wantMessage string
	}{
		"a device each": {"gpu", "web a=1 b=3 -2", "no room for 2 of 6 replicas of Deployment web (" +
			"Cluster a: 0/1 nodes are available: 1 cannot allocate all claims; Cluster b: 0/1 nodes are available: 1 cannot allocate all claims)"},
		"the template is missing": {"other", "web -6", `no room for 6 of 6 replicas of Deployment web (` +
			`Cluster a: 0/1 nodes are available: pod "shop/web-1": ResourceClaim not created yet; ` +
			`Cluster b: 0/1 nodes are available: pod "shop/web-2": ResourceClaim not created yet)`},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.ownInventories = true
			w.restart()
			w.site("a", 9)
			w.site("b", 9)
			w.create(&resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: "gpu"}}, devices("a", 1), devices("b", 3))
			w.create(&resourcev1.ResourceClaimTemplate{
				ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: tc.template},
				Spec: resourcev1.ResourceClaimTemplateSpec{Spec: resourcev1.ResourceClaimSpec{Devices: resourcev1.DeviceClaim{
					Requests: []resourcev1.DeviceRequest{{Name: "gpu", Exactly: &resourcev1.ExactDeviceRequest{
						DeviceClassName: "gpu", AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: 1,
					}}},
				}}},
			})
			w.deploy("web", 6)
			w.asks("web", func(p *corev1.PodTemplateSpec) {
				p.Spec.Containers = []corev1.Container{{Name: "main", Resources: oneCPU()}}
				p.Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "gpu", ResourceClaimTemplateName: new("gpu")}}
			})
			w.subscribe("shop", []string{"web"})
			w.parsed("shop")
			w.pass()
			w.want("the status", w.told("shop"), tc.want)
			w.want("why", w.message("shop", "Scheduled"), tc.wantMessage)
		})
	}
}
