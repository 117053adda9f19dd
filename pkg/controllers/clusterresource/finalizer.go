// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package clusterresource

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/charges"
	"berth.dev/berth/pkg/placement/pool"
)

// livePage is how many pods are read at a time from the API server.
const livePage = 500

// addFinalizer puts the finalizer on a ClusterResource and returns it as it is then.
func (r *Reconciler) addFinalizer(ctx context.Context, object *berthv1alpha1.ClusterResource) (*berthv1alpha1.ClusterResource, error) {
	after := object.DeepCopy()
	if !controllerutil.AddFinalizer(after, berthv1alpha1.ClusterResourceFinalizer) {
		return object, nil
	}
	patch := client.MergeFromWithOptions(object, client.MergeFromWithOptimisticLock{})
	if err := r.Client.Patch(ctx, after, patch); err != nil {
		return nil, fmt.Errorf("putting the finalizer on cluster resource %s: %w", object.Name, err)
	}
	return after, nil
}

// removeFinalizer takes the finalizer off a ClusterResource of which the cache knows no holder. A
// pod may have been bound that the cache has not seen, so the API server is asked; the next pass
// comes with the event of that pod.
func (r *Reconciler) removeFinalizer(ctx context.Context, object *berthv1alpha1.ClusterResource) error {
	after := object.DeepCopy()
	if !controllerutil.RemoveFinalizer(after, berthv1alpha1.ClusterResourceFinalizer) {
		return nil
	}
	held, err := r.heldLive(ctx, object.Name)
	if err != nil || held {
		return err
	}
	patch := client.MergeFromWithOptions(object, client.MergeFromWithOptimisticLock{})
	if err := r.Client.Patch(ctx, after, patch); err != nil {
		return fmt.Errorf("taking the finalizer off cluster resource %s: %w", object.Name, err)
	}
	return nil
}

// heldLive asks the API server whether Berth has charged any pod for the ClusterResource.
func (r *Reconciler) heldLive(ctx context.Context, name string) (bool, error) {
	var page corev1.PodList
	for {
		if err := r.Live.List(ctx, &page, client.Limit(livePage), client.Continue(page.Continue)); err != nil {
			return false, fmt.Errorf("looking for pods that hold cluster resource %s: %w", name, err)
		}
		for i := range page.Items {
			if holds(&page.Items[i], name) {
				return true, nil
			}
		}
		if page.Continue == "" {
			return false, nil
		}
	}
}

func holds(pod *corev1.Pod, name string) bool {
	held, _ := charges.Stamped(pod)
	return slices.ContainsFunc(held, func(c pool.Charge) bool { return c.Resource == name })
}
