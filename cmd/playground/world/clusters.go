// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package world

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/localplane"
)

// startTimeout bounds the wait for Berth's programs, which is a matter of seconds.
const startTimeout = 60 * time.Second

// nodeCapacity is that of a small machine. On a large one a pod without requests weighs so little
// that the scheduler sees no difference between an empty node and one with several pods.
func nodeCapacity() corev1.ResourceList {
	return corev1.ResourceList{
		corev1.ResourceCPU:    resource.MustParse("4"),
		corev1.ResourceMemory: resource.MustParse("16Gi"),
		corev1.ResourcePods:   resource.MustParse("110"),
	}
}

// createClusters makes the nodes, and registers a Cluster for each place that selects its nodes by
// the region they carry.
func (w *World) createClusters(ctx context.Context) error {
	return w.createPlaces(ctx, func(ctx context.Context, name string, region map[string]string) error {
		return w.Register(ctx, &berthv1alpha1.Cluster{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec: berthv1alpha1.ClusterSpec{
				MatchLabels: region, ClusterProfile: berthv1alpha1.ClusterProfile{Region: &berthv1alpha1.Region{Region: name}},
			},
		})
	})
}

// createPlaces makes the nodes of each place, and visits the place with the label of its nodes.
func (w *World) createPlaces(ctx context.Context, visit func(ctx context.Context, name string, region map[string]string) error) error {
	for _, name := range clusterNames(w.options.Clusters) {
		region := map[string]string{corev1.LabelTopologyRegion: name}
		if err := localplane.CreateNodes(ctx, w.Client, name, w.options.Nodes, region, nodeCapacity()); err != nil {
			return err
		}
		if err := visit(ctx, name, region); err != nil {
			return err
		}
	}
	return nil
}

// waitReady returns when both programs work: every Cluster is Ready, which the controller manager
// says, and the scheduler holds its lease.
func (w *World) waitReady(ctx context.Context) error {
	err := localplane.Await(ctx, startTimeout, w.Exited(), func(ctx context.Context) error {
		return errors.Join(w.schedulerLeads(ctx), w.clustersReady(ctx))
	})
	if err != nil {
		return fmt.Errorf("waiting for Berth's programs: %w", err)
	}
	return nil
}

func (w *World) clustersReady(ctx context.Context) error {
	list, err := w.Berth.BerthV1alpha1().Clusters().List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("listing Clusters: %w", err)
	}
	for i := range list.Items {
		cluster := &list.Items[i]
		if !meta.IsStatusConditionTrue(cluster.Status.Conditions, berthv1alpha1.ClusterReady) {
			return fmt.Errorf("cluster %s is not Ready, see %s.log", cluster.Name, localplane.BerthControllerManager)
		}
	}
	return nil
}

func (w *World) schedulerLeads(ctx context.Context) error {
	const scheduler = localplane.BerthScheduler
	lease, err := w.Client.CoordinationV1().Leases(localplane.BerthNamespace).Get(ctx, scheduler, metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("%s has no lease yet, see %s.log: %w", scheduler, scheduler, err)
	}
	if lease.Spec.HolderIdentity == nil || *lease.Spec.HolderIdentity == "" {
		return fmt.Errorf("%s does not lead yet, see %s.log", scheduler, scheduler)
	}
	return nil
}
