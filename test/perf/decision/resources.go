// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/kubernetes/pkg/features"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
	"k8s.io/utils/ptr"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// unit is the resource of which each pod needs one, and each chosen site has as many as it is to
// run pods.
const unit = "example.com/unit"

// addUnits gives a site's units to its nodes, one each, as extended resources want it.
func (l *layout) addUnits() {
	left := l.shares(replicas)
	for _, node := range l.nodes {
		if site := l.siteOf[node.Name]; left[site] > 0 {
			left[site]--
			node.Status.Capacity[unit] = resource.MustParse("1")
			node.Status.Allocatable[unit] = resource.MustParse("1")
		}
	}
}

// extendedResource splits the units of a site over its nodes beforehand.
var extendedResource = ofProfile(stockProfile, "extended-resource", "default-scheduler, extended resource split over the nodes beforehand",
	func(_ *layout, number int) *corev1.Pod {
		return workloadPod(number).Req(map[corev1.ResourceName]string{unit: "1"}).Obj()
	},
	byWeight)

// enableConsumableCapacity sets the feature gate that this alpha feature needs.
func enableConsumableCapacity(enabled bool) error {
	err := utilfeature.DefaultMutableFeatureGate.SetFromMap(map[string]bool{string(features.DRAConsumableCapacity): enabled})
	if err != nil {
		return fmt.Errorf("setting the feature gate of consumable capacity: %w", err)
	}
	return nil
}

const (
	driver      = "units.example.com"
	deviceClass = "units"
)

// consumableCapacity makes the units of a site the capacity of a device that all its nodes can
// reach.
var consumableCapacity = peer{
	name: "dra", title: "default-scheduler, DRA consumable capacity, one claim per pod",
	start: func(ctx context.Context, a *arena) (*contestant, error) {
		objects := make([]runtime.Object, 0, 1+len(a.chosen)+replicas)
		objects = append(objects, &resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: deviceClass}})
		for site, units := range byWeight(a.layout) {
			objects = append(objects, slice(site, int64(units)))
		}
		for number := range replicas {
			objects = append(objects, claim(number))
		}
		r, err := ownRig(ctx, a.layout, stockConfiguration, &setup{kube: objects})
		return &contestant{rig: r, shares: byWeight(a.layout), pod: func(number int) *corev1.Pod {
			pod := workloadPod(number).PodResourceClaims(corev1.PodResourceClaim{Name: "unit", ResourceClaimName: ptr.To(claimName(number))}).Obj()
			pod.Spec.Containers[0].Resources.Claims = []corev1.ResourceClaim{{Name: "unit"}}
			return pod
		}}, err
	},
}

func slice(site string, units int64) *resourcev1.ResourceSlice {
	return &resourcev1.ResourceSlice{
		ObjectMeta: metav1.ObjectMeta{Name: site},
		Spec: resourcev1.ResourceSliceSpec{
			Driver:       driver,
			Pool:         resourcev1.ResourcePool{Name: site, Generation: 1, ResourceSliceCount: 1},
			NodeSelector: st.MakeNodeSelector().In(siteLabel, []string{site}, st.NodeSelectorTypeMatchExpressions).Obj(),
			Devices: []resourcev1.Device{{
				Name: "pool", AllowMultipleAllocations: ptr.To(true),
				Capacity: map[resourcev1.QualifiedName]resourcev1.DeviceCapacity{"units": {
					Value: *resource.NewQuantity(units, resource.DecimalSI),
					RequestPolicy: &resourcev1.CapacityRequestPolicy{
						Default:    resource.NewQuantity(1, resource.DecimalSI),
						ValidRange: &resourcev1.CapacityRequestPolicyRange{Min: resource.NewQuantity(1, resource.DecimalSI)},
					},
				}},
			}},
		},
	}
}

func claimName(number int) string {
	return fmt.Sprintf("claim-%d", number)
}

func claim(number int) *resourcev1.ResourceClaim {
	return &resourcev1.ResourceClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: claimName(number), UID: types.UID(claimName(number))},
		Spec: resourcev1.ResourceClaimSpec{Devices: resourcev1.DeviceClaim{Requests: []resourcev1.DeviceRequest{{
			Name: "unit",
			Exactly: &resourcev1.ExactDeviceRequest{
				DeviceClassName: deviceClass, AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: 1,
				Capacity: &resourcev1.CapacityRequirements{
					Requests: map[resourcev1.QualifiedName]resource.Quantity{"units": resource.MustParse("1")},
				},
			},
		}}}},
	}
}

// clusterResource makes the units of a site a pool of a ClusterResource.
var clusterResource = ofProfile(shippedProfile, "berth", "Berth, shipped profile, ClusterResource with a pool for each site",
	func(_ *layout, number int) *corev1.Pod { return askingPod(number) }, byWeight)

// askingPod returns a pod that asks for a unit of the ClusterResource.
func askingPod(number int) *corev1.Pod {
	return workloadPod(number).Req(map[corev1.ResourceName]string{berthv1alpha1.ClusterResourceDomain + "/unit": "1"}).Obj()
}

// pools are the units of all chosen sites.
func pools(l *layout) *berthv1alpha1.ClusterResource {
	units := &berthv1alpha1.ClusterResource{ObjectMeta: metav1.ObjectMeta{Name: "unit", UID: "unit", Generation: 1}}
	shares := byWeight(l)
	for _, site := range l.chosen {
		units.Spec.Capacity = append(units.Spec.Capacity, berthv1alpha1.ClusterResourceQuantity{
			Name: site, Quantity: *resource.NewQuantity(int64(shares[site]), resource.DecimalSI),
			NodeSelector: map[string]string{siteLabel: site},
		})
	}
	units.Status.Capacity, units.Status.Allocatable = units.Spec.Capacity, units.Spec.Capacity
	return units
}
