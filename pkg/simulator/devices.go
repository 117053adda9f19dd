// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package simulator

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/dynamic-resource-allocation/resourceclaim"
	fwk "k8s.io/kube-scheduler/framework"

	"berth.dev/berth/pkg/minor"
)

// devices are what the plugin DynamicResources asks. They remember what it has allocated.
type devices struct {
	fwk.SharedDRAManager

	claims *deviceClaims
}

func newDevices(manager fwk.SharedDRAManager) *devices {
	return &devices{manager, &deviceClaims{manager.ResourceClaims(), map[types.UID]*resourcev1.ResourceClaim{}}}
}

// ResourceClaims returns the claims.
func (d *devices) ResourceClaims() fwk.ResourceClaimTracker { return d.claims }

// deviceClaims are the claims of devices. What the plugin has allocated when it reserved is only
// written before a Binding, so that nobody else is told of it.
type deviceClaims struct {
	fwk.ResourceClaimTracker

	allocated map[types.UID]*resourcev1.ResourceClaim
}

// SignalClaimPendingAllocation notes what was allocated for a claim.
func (c *deviceClaims) SignalClaimPendingAllocation(claim types.UID, allocated *resourcev1.ResourceClaim) error {
	c.allocated[claim] = allocated
	return c.ResourceClaimTracker.SignalClaimPendingAllocation(claim, allocated)
}

// take returns what was allocated for a claim and has not been written, nil if nothing was, and has
// it count no more.
func (c *deviceClaims) take(claim types.UID) *resourcev1.AllocationResult {
	allocated := c.allocated[claim]
	delete(c.allocated, claim)
	if !minor.RemovePendingAllocation(c, claim) || allocated == nil {
		return nil
	}
	return allocated.Status.Allocation
}

// writeClaims has the claims of a pod say that it uses them, and with which devices, as the plugin
// writes it before a Binding. It is undone with what was placed.
func (s *Snapshot) writeClaims(pod *corev1.Pod) error {
	if s.devices == nil {
		return nil
	}
	for i := range pod.Spec.ResourceClaims {
		name, _, err := resourceclaim.Name(pod, &pod.Spec.ResourceClaims[i])
		if err != nil || name == nil {
			continue
		}
		claim, err := s.devices.claims.Get(pod.Namespace, *name)
		if err != nil {
			return fmt.Errorf("reading ResourceClaim %s/%s: %w", pod.Namespace, *name, err)
		}
		written := claim.DeepCopy()
		if allocation := s.devices.claims.take(claim.UID); allocation != nil {
			written.Status.Allocation = allocation
		}
		user := resourcev1.ResourceClaimConsumerReference{Resource: "pods", Name: pod.Name, UID: pod.UID}
		if !slices.Contains(written.Status.ReservedFor, user) {
			written.Status.ReservedFor = append(written.Status.ReservedFor, user)
		}
		if err := s.replaceClaim(claim, written); err != nil {
			return err
		}
		if len(s.forks) > 0 {
			s.undo = append(s.undo, func() {
				if err := s.replaceClaim(written, claim); err != nil {
					panic(err) // it was there before
				}
			})
		}
	}
	return nil
}

// replaceClaim replaces a claim of devices.
func (s *Snapshot) replaceClaim(before, after *resourcev1.ResourceClaim) error {
	// The cache of the plugin takes an object without a newer version only if it knows none.
	if err := s.informers.drop(before); err != nil {
		return err
	}
	return s.informers.put(after)
}
