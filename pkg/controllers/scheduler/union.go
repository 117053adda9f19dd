// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package scheduler

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/controllers/internal/singleton"
	"berth.dev/berth/pkg/placement/binding"
)

// unionName is the name of the UnionReconciler in logs and metrics.
const unionName = "union"

const (
	// unionPause is how long a change waits for others.
	unionPause = 300 * time.Millisecond
	// maxClusters bounds the list of clusters; the CRD allows no more.
	maxClusters = 5000
)

// UnionReconciler keeps in the status of each Scheduler what its clusters have together. It
// recomputes that from all clusters at each change and never patches it, so it equals a recount at
// all times.
type UnionReconciler struct {
	// Client reads from the cache and writes the status.
	Client client.Client
}

// SetupWithManager registers the controller.
func (r *UnionReconciler) SetupWithManager(mgr ctrl.Manager) error {
	err := builder.TypedControllerManagedBy[singleton.Key](mgr).
		Named(unionName).
		WatchesRawSource(source.TypedKind(mgr.GetCache(), &berthv1alpha1.Cluster{},
			singleton.After[*berthv1alpha1.Cluster](unionPause), singleton.Changes(clusterChanged))).
		WatchesRawSource(source.TypedKind(mgr.GetCache(), &berthv1alpha1.Scheduler{},
			singleton.After[*berthv1alpha1.Scheduler](unionPause), singleton.Changes(func(a, b *berthv1alpha1.Scheduler) bool {
				return !apiequality.Semantic.DeepEqual(unionOf(a), unionOf(b))
			}))).
		Complete(r)
	if err != nil {
		return fmt.Errorf("setting up the union controller: %w", err)
	}
	return nil
}

// clusterChanged reports whether a change of a cluster may change a union.
func clusterChanged(before, after *berthv1alpha1.Cluster) bool {
	return before.Generation != after.Generation || before.Status.HomeScheduler != after.Status.HomeScheduler
}

func unionOf(s *berthv1alpha1.Scheduler) berthv1alpha1.SchedulerStatus {
	return berthv1alpha1.SchedulerStatus{
		ClusterCount: s.Status.ClusterCount, Clusters: s.Status.Clusters, ClusterUnion: s.Status.ClusterUnion,
	}
}

// Reconcile recomputes all unions and writes those that have changed.
func (r *UnionReconciler) Reconcile(ctx context.Context, _ singleton.Key) (reconcile.Result, error) {
	var schedulers berthv1alpha1.SchedulerList
	if err := r.Client.List(ctx, &schedulers); err != nil {
		return reconcile.Result{}, fmt.Errorf("listing schedulers: %w", err)
	}
	if len(schedulers.Items) == 0 {
		return reconcile.Result{}, nil
	}
	var clusters berthv1alpha1.ClusterList
	if err := r.Client.List(ctx, &clusters, client.UnsafeDisableDeepCopy); err != nil {
		return reconcile.Result{}, fmt.Errorf("listing clusters: %w", err)
	}
	bound := map[string][]*berthv1alpha1.Cluster{}
	for i := range clusters.Items {
		c := &clusters.Items[i]
		if h := c.Status.HomeScheduler; h != "" {
			bound[h] = append(bound[h], c)
		}
	}
	var errs []error
	for i := range schedulers.Items {
		errs = append(errs, r.write(ctx, &schedulers.Items[i], bound[schedulers.Items[i].Name]))
	}
	return reconcile.Result{}, errors.Join(errs...)
}

func (r *UnionReconciler) write(ctx context.Context, before *berthv1alpha1.Scheduler, clusters []*berthv1alpha1.Cluster) error {
	after := before.DeepCopy()
	slices.SortFunc(clusters, func(a, b *berthv1alpha1.Cluster) int { return strings.Compare(a.Name, b.Name) })
	after.Status.ClusterUnion = binding.Union(clusters)
	after.Status.ClusterCount, after.Status.Clusters = int32(len(clusters)), nil
	for _, c := range clusters[:min(len(clusters), maxClusters)] {
		after.Status.Clusters = append(after.Status.Clusters, c.Name)
	}
	if apiequality.Semantic.DeepEqual(unionOf(before), unionOf(after)) {
		return nil
	}
	err := r.Client.Status().Patch(ctx, after, client.MergeFrom(before))
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("writing the union of scheduler %s: %w", before.Name, err)
	}
	return nil
}
